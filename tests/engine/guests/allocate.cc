// SPDX-License-Identifier: GPL-2.0-or-later
//
// operator new and delete in all their forms; failing ones, which throw; a handler that frees for a new that fails.
#include "log.h"

#include <malloc.h>
#include <new>
#include <string>

static volatile std::size_t huge = std::size_t(-1) / 4;
struct alignas(128) Wide { char bytes[300]; };
struct Node { Node *next; int value; ~Node() { value = 0; } };

#define DELETE(expression, p) do { log_free((uint64_t)(uintptr_t)(p)); expression; } while (0)

static void plain()
{
    int *a = new int; log_new(A_NEW, a, 4, __func__, __LINE__);
    char *b = new char[1000]; log_new(A_NEW, b, 1000, __func__, __LINE__);
    int *c = new (std::nothrow) int[5]; log_new(A_NEW, c, 20, __func__, __LINE__);
    Wide *d = new Wide; log_new(A_NEW, d, 384, __func__, __LINE__);
    Wide *e = new (std::nothrow) Wide[2]; log_new(A_NEW, e, 768, __func__, __LINE__);
    void *f = operator new(33, std::align_val_t(64)); log_new(A_NEW, f, 33, __func__, __LINE__);
    void *g = ::operator new(44, std::nothrow); log_new(A_NEW, g, 44, __func__, __LINE__);
    DELETE(delete a, a);
    DELETE(delete[] b, b);
    DELETE(delete[] c, c);
    DELETE(delete d, d);
    DELETE(delete[] e, e);
    DELETE(operator delete(f, std::align_val_t(64)), f);
    DELETE(operator delete(g, std::nothrow), g);
    int *none = nullptr;
    delete none;
}

static void failing()
{
    for (int i = 0; i < 3; i++) {
        try {
            char *never = new char[huge];
            log_new(A_NEW, never, huge, __func__, __LINE__);
        } catch (const std::bad_alloc &) {
            char *again = new char[24]; log_new(A_NEW, again, 24, __func__, __LINE__);
            DELETE(delete[] again, again);
        }
        if (new (std::nothrow) char[huge])
            abort();
    }
    void *after = NEW(A_MALLOC, malloc(10), 10);
    FREE(after);
}

/* The exception leaves some functions more; the calls that follow are deeper on the stack than the one that failed. */
static void deep(int depth)
{
    volatile char room[2000];
    room[0] = (char)depth;
    if (depth) {
        deep(depth - 1);
    } else {
        void *a = NEW(A_MALLOC, malloc(11), 11);
        FREE(a);
    }
}
static void thrower(int depth)
{
    volatile char room[8];
    room[0] = (char)depth;
    if (depth)
        return thrower(depth - 1);
    char *never = new char[huge]; log_new(A_NEW, never, huge, __func__, __LINE__);
}
static void thrown_through()
{
    try {
        thrower(2);
    } catch (...) {
        deep(3);
    }
    deep(0);
}

static char *reserve;
static void give_reserve()
{
    char *was = reserve;
    reserve = nullptr;
    std::set_new_handler(nullptr);
    DELETE(delete[] was, was);
}
static void handler()
{
    reserve = new char[5000]; log_new(A_NEW, reserve, 5000, __func__, __LINE__);
    std::set_new_handler(give_reserve);
    try {
        char *never = new char[huge];
        log_new(A_NEW, never, huge, __func__, __LINE__);
    } catch (const std::bad_alloc &) {
    }
    char *again = new char[5000]; log_new(A_NEW, again, 5000, __func__, __LINE__);
    DELETE(delete[] again, again);
}

static void library()
{
    std::string text(100, 'x');
    log_new(A_NEW, text.data(), 101, nullptr, 0);
    log_free((uint64_t)(uintptr_t)text.data());
}

int main()
{
    log_begin();
    plain();
    failing();
    thrown_through();
    handler();
    library();
    log_end();
}

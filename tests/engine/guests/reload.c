/* SPDX-License-Identifier: GPL-2.0-or-later
 *
 * reload LIBRARY LIBRARY: allocators that come and go. Each library (pool.c) has a malloc and a free of its own, and where
 * the first has its malloc the second has a function that allocates nothing. Both are loaded in turn, at the same
 * address. Then a part of the program's own code changes its rights.
 */
#include "own_malloc.h"
#include "log.h"

#include <dlfcn.h>
#include <sys/mman.h>

/* Returns where the first library has its malloc and the second its decoy. */
static void *use(const char *path)
{
    void *library = dlopen(path, RTLD_NOW | RTLD_LOCAL);
    void *(*pool_malloc)(size_t) = dlsym(library, "malloc");
    void (*pool_free)(void *) = dlsym(library, "free");
    void *(*decoy)(size_t) = dlsym(library, "decoy");
    for (int i = 0; i < 3; i++) {
        void *block = NEW(A_MALLOC, pool_malloc(40), 40);
        decoy(50);
        uint64_t was = (uint64_t)(uintptr_t)block;
        pool_free(block);
        log_free(was);
    }
    void *place = pool_malloc < decoy ? (void *)pool_malloc : (void *)decoy;
    dlclose(library);
    return place;
}

static __attribute__((aligned(4096), noinline)) int somewhere(int n) { return n + 1; } /* alone in its page */

/* Without relearn no code is executed that was not executed before. */
static __attribute__((aligned(4096))) void turn(int relearn)
{
    void *page = (void *)((uintptr_t)somewhere & ~4095ul);
    void *a = NEW(A_MALLOC, malloc(60), 60);
    if (mprotect(page, 4096, PROT_READ | PROT_WRITE | PROT_EXEC) != 0 || mprotect(page, 4096, PROT_READ | PROT_EXEC) != 0)
        abort();
    if (relearn)
        somewhere(1);
    void *b = NEW(A_MALLOC, malloc(61), 61);
    FREE(a);
    FREE(b);
}

int main(int argc, char **argv)
{
    if (argc != 3)
        return 2;
    log_begin();
    turn(1);
    turn(0);
    void *first = use(argv[1]);
    void *second = use(argv[2]);
    turn(0);
    log_end();
    return first == second ? 0 : 3; /* else the test shows nothing */
}

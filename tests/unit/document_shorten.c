/* SPDX-License-Identifier: GPL-2.0-or-later
 *
 * Names in fewer characters: what goes first, what stays, to the letter.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>
#include <cmocka.h>

#include "document/shorten.h"

static void assert_shortens(const char *name, size_t width, const char *expected)
{
    char text[512];
    snprintf(text, sizeof text, "%s", name);
    assert_ptr_equal(text, doc_shorten(text, width));
    assert_string_equal(expected, text);
    assert_true(strlen(text) <= width);
}

#define VIA "b at matmul.c:44 via new_matrix (matmul.c:15)"

static void what_fits_is_not_changed(void **state)
{
    (void)state;
    assert_shortens(VIA, strlen(VIA), VIA);
    assert_shortens("", 8, "");
}

/* A function goes before the place behind it, that before the place of the object itself. */
static void places_stay(void **state)
{
    (void)state;
    assert_shortens(VIA, 44, "b at matmul.c:44 via ... (matmul.c:15)");
    assert_shortens(VIA, 38, "b at matmul.c:44 via ... (matmul.c:15)");
    assert_shortens(VIA, 37, "b at matmul.c:44...");
    assert_shortens("malloc#3 at doitgen.c:41 via alloc_data (polybench.c:568), xmalloc (polybench.c:90)", 80,
                    "malloc#3 at doitgen.c:41 via ... (polybench.c:568), xmalloc (polybench.c:90)");
    assert_shortens("malloc#3 at doitgen.c:41 via alloc_data (polybench.c:568), xmalloc (polybench.c:90)", 60,
                    "malloc#3 at doitgen.c:41 via ... (polybench.c:568)...");
    assert_shortens("transpose_in_blocks (transpose.c:30)", 30, "trans...locks (transpose.c:30)");
    assert_shortens("transpose_in_blocks (transpose.c:30)", 24, "tra...s (transpose.c:30)");
    assert_shortens("main (stlmap.cpp:16) < std::map<int, int>::find < stl_tree.h:780", 48,
                    "main (stlmap.cpp:16) < ...find < stl_tree.h:780");
    assert_shortens("main (stlmap.cpp:16) < std::map<int, int>::find < stl_tree.h:780", 45,
                    "main (stlmap.cpp:16) < ... < stl_tree.h:780");
}

#define MUL "mul(std::vector<double, std::allocator<double> > const&, std::vector<double> const&) (matmul.cpp:30)"

static void template_arguments_go_before_arguments(void **state)
{
    (void)state;
    assert_shortens(MUL, 95, "mul(std::vector<...> const&, std::vector<double> const&) (matmul.cpp:30)");
    assert_shortens(MUL, 70, "mul(std::vector<...> const&, std::vector<...> const&) (matmul.cpp:30)");
    assert_shortens(MUL, 68, "mul(std::vector<...> const&, ...) (matmul.cpp:30)");
    assert_shortens(MUL, 48, "mul(...) (matmul.cpp:30)");
}

static void scopes_go_from_the_left(void **state)
{
    (void)state;
    assert_shortens("std::map<int, int>::find(int&) (a.h:7)", 34, "std::map<...>::find(int&) (a.h:7)");
    assert_shortens("std::map<int, int>::find(int&) (a.h:7)", 31, "...map<...>::find(...) (a.h:7)");
    assert_shortens("std::map<int, int>::find(int&) (a.h:7)", 28, "...find(...) (a.h:7)");
    assert_shortens("(anonymous namespace)::solve(int) (s.cpp:7)", 40, "...solve(int) (s.cpp:7)");
    assert_shortens("code of /usr/lib/x86_64/libfoo.so.6", 28, "code of ...libfoo.so.6");
}

/* Of Rust a name may begin with a bracket. */
static void brackets_of_other_kinds_are_told_apart(void **state)
{
    (void)state;
    assert_shortens("<alloc::vec::Vec<T> as core::iter::Extend<u8>>::extend (main.rs:10)", 60,
                    "<...>::extend (main.rs:10)");
    assert_shortens("std::ostream& operator<< <char>(std::ostream&, char) (x.h:3)", 50,
                    "std::ostream& operator<< <...>(...) (x.h:3)");
    assert_shortens("f(int, void (*)(int), char) (f.c:1)", 34, "f(int, void (*)(int), ...) (f.c:1)");
    assert_shortens("f(int, void (*)(int), char) (f.c:1)", 31, "f(int, ...) (f.c:1)");
    assert_shortens("operator new(unsigned long, std::nothrow_t const&) in libstdc++.so.6", 50,
                    "operator new(unsigned long, ...) in libstdc++.so.6");
}

static void what_the_compiler_adds_goes_first(void **state)
{
    (void)state;
    assert_shortens("f(int) [clone .isra.0] (f.c:1)", 20, "f(int) (f.c:1)");
    assert_shortens("f(int) [clone .isra.0] (f.c:1)", 30, "f(int) [clone .isra.0] (f.c:1)");
}

static void bare_names(void **state)
{
    static const char *const names[][2] = {
        {"main", "main"},
        {"std::map<int, int, std::less<int> >::find(int const&)", "map::find"},
        {"std::map<int, int>::operator[](int const&)", "map::operator[]"},
        {"std::function<int (int)>::operator()(int) const", "function::operator()"},
        {"void std::swap<int>(int&, int&)", "std::swap"},
        {"std::ostream& std::operator<< <char>(std::ostream&, char)", "std::operator<<"},
        {"operator new(unsigned long)", "operator new"},
        {"A::(anonymous namespace)::f(int)", "A::f"},
        {"std::_Rb_tree<int>::_M_erase(x) [clone .isra.0]", "_Rb_tree::_M_erase"},
        {"main::{lambda(int)#1}::operator()(int) const", "{lambda(int)#1}::operator()"},
        {"std::mem::align_of::<f64>", "mem::align_of"},
        {"<alloc::vec::Vec<T> as core::ops::Index<usize>>::index", "index"},
        {"core::slice::<impl [T]>::get", "slice::get"},
        {"mycrate::main::{closure#0}", "main::{closure#0}"},
        {"", ""},
    };
    (void)state;
    for (size_t i = 0; i < sizeof names / sizeof names[0]; i++) {
        char text[128];
        snprintf(text, sizeof text, "%s", names[i][0]);
        assert_string_equal(names[i][1], doc_bare_name(text));
    }
}

static void characters_stay_whole(void **state)
{
    (void)state;
    assert_shortens("Gr\xc3\xbc\xc3\x9f"
                    "e_aus_dem_\xc3\xa4u\xc3\x9f"
                    "ersten_Norden",
                    15,
                    "Gr\xc3\xbc\xc3\x9f"
                    "...Norden");
}

/* Whatever it is, it fits; and a place that fits with the dots around it is not cut. */
static void everything_fits(void **state)
{
    static const char *const pieces[] = {"std::",  "<int, ", "<",        ">",     "(",  ")",  " ",
                                         "f.c:12", ", ",     "operator", "name_", "::", "<< "};
    (void)state;
    struct c2_rng rng;
    c2_rng_init(&rng, 1, "names");
    for (unsigned round = 0; round < 20000; round++) {
        char text[512] = "";
        for (unsigned i = 0; i < 24; i++)
            strcat(text, pieces[c2_rng_below(&rng, sizeof pieces / sizeof pieces[0])]);
        const size_t width = DOC_SHORTEST + round % 80, before = strlen(text);
        char bare[512];
        memcpy(bare, text, sizeof bare);
        assert_true(strlen(doc_bare_name(bare)) <= before);
        doc_shorten(text, width);
        assert_true(strlen(text) <= width && (before <= width) == (before == strlen(text)));
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(what_fits_is_not_changed),
        cmocka_unit_test(places_stay),
        cmocka_unit_test(template_arguments_go_before_arguments),
        cmocka_unit_test(scopes_go_from_the_left),
        cmocka_unit_test(brackets_of_other_kinds_are_told_apart),
        cmocka_unit_test(what_the_compiler_adds_goes_first),
        cmocka_unit_test(bare_names),
        cmocka_unit_test(characters_stay_whole),
        cmocka_unit_test(everything_fits),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}

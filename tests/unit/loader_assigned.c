/* SPDX-License-Identifier: GPL-2.0-or-later
 *
 * What a statement of the source assigns the result of a call to.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>

#include <cmocka.h>

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "loader/symbols_priv.h"

static const struct {
    const char *source;
    int line;
    const char *name; /* NULL: it does not say */
} cases[] = {
    {"beta = malloc(8);\n", 1, "beta"},
    {"    double *beta = (double *) malloc(n * sizeof *beta);\n", 1, "beta"},
    {"double (*A)[N][M] = (double (*)[N][M])malloc(sizeof *A);\n", 1, NULL}, /* not a name, then `=` */
    {"double (*A)[N][M];\nA = (double (*)[N][M])malloc(sizeof *A);\n", 2, "A"},
    {"x = 1;\nbeta =\n  (double *)\n  malloc(8);\ny = 2;\n", 4, "beta"},
    {"x = 1;\nbeta = malloc(\n  8);\n", 2, "beta"},
    {"s->data = malloc(8);", 1, "s->data"},
    {"s.rows[p->next[i]].data = malloc(8);", 1, "s.rows[p->next[i]].data"},
    {"*out = malloc(8);", 1, "*out"},
    {"if (!(p = malloc(8))) { return; }", 1, "p"},
    {"if (ready) { p = malloc(8); q = malloc(9); }", 1, NULL}, /* two calls on the line of one */
    {"p = q = malloc(8);", 1, "q"},
    {"p = malloc(8), q = malloc(8);", 1, NULL},
    {"p = f(malloc(8));", 1, NULL},
    {"return malloc(8);", 1, NULL},
    {"if (p == malloc(8)) x();", 1, NULL},
    {"p += malloc(8);", 1, NULL},
    {"/* q = */ p = /* ; */ malloc(8); // r = malloc(1)", 1, "p"},
    {"log(\"q = malloc(8);\"), p = malloc(8);", 1, "p"},
    {"p = my_malloc(8);", 1, NULL},
    {"#define GET p = \\\n  malloc(8)\n", 2, "p"},
    {"auto *p = static_cast<double *>(malloc(8));", 1, "p"},
    {"double *p = new double[8];", 1, "p"},
    {"p = newer(8);", 1, NULL},
    {"int failed = posix_memalign(&ret, 4096, 8);", 1, "ret"},
    {"int failed = posix_memalign((void **)&s->ret, 4096, 8);", 1, "s->ret"},
    {"failed = posix_memalign(where, 4096, 8);", 1, NULL},
    {"p = malloc(8);\n", 2, NULL}, /* there is no such line */
};

static const struct {
    const char *source;
    int line;
    const char *name;
} fortran[] = {
    {"  allocate(m(512, 128))\n", 1, "m"},
    {"  ALLOCATE ( grid%cells (0:n-1) , stat = code )\n", 1, "grid%cells"},
    {"  if (.not. allocated(a)) allocate(a(size(b)), source=0.0d0) ! as large as b\n", 1, NULL}, /* `allocated` */
    {"  allocate(a(n), b(n))\n", 1, NULL},
    {"  call f(a)\n  allocate(a(n))\n", 2, "a"},
    {"  call f(a)\n  allocate(a(n))\n", 1, NULL},
    {"  deallocate(a)\n", 1, NULL},
    {"  ! allocate(a(n))\n", 1, NULL},
    {"  allocate(integer :: a(n))\n", 1, NULL},
    {"  allocate(a(n)\n", 1, NULL},
};

static void expect(const char *source, const char *name, const char *expected)
{
    if (!name != !expected || (name && strcmp(name, expected) != 0))
        fail_msg("%s: %s, expected %s", source, name ? name : "none", expected ? expected : "none");
}

/* Made at this path, whose ending says the language. */
static const char *assigned_in(struct loader_names *names, const char *path, const char *source, int line)
{
    static const struct loader_callees callees = {{"malloc", "new", "posix_memalign"}, 3};
    FILE *file = fopen(path, "w");
    assert_non_null(file);
    assert_true(fputs(source, file) >= 0);
    assert_int_equal(0, fclose(file));
    return loader_assigned(names, path, line, &callees);
}

static void statements(void **state)
{
    (void)state;
    struct loader_names *names;
    char directory[] = "/tmp/c2-assigned-XXXXXX", c[64], f[64];
    assert_non_null(mkdtemp(directory));
    assert_int_equal(C2_OK, loader_names_create(&names, NULL));
    snprintf(c, sizeof c, "%s/a.c", directory);
    snprintf(f, sizeof f, "%s/a.F90", directory);
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++)
        expect(cases[i].source, assigned_in(names, c, cases[i].source, cases[i].line), cases[i].name);
    for (size_t i = 0; i < sizeof fortran / sizeof *fortran; i++)
        expect(fortran[i].source, assigned_in(names, f, fortran[i].source, fortran[i].line), fortran[i].name);
    unlink(c);
    unlink(f);
    assert_null(loader_assigned(names, c, 1, &(struct loader_callees){{"malloc"}, 1})); /* it cannot be read */
    rmdir(directory);
    loader_names_destroy(names);
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(statements)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}

/* SPDX-License-Identifier: GPL-2.0-or-later
 *
 * What a statement of the source assigns the result of a call to.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>

#include <cmocka.h>

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

static void statements(void **state)
{
    (void)state;
    static const struct loader_callees callees = {{"malloc", "new", "posix_memalign"}, 3};
    struct loader_names *names;
    char path[] = "/tmp/c2-assigned-XXXXXX";
    const int fd = mkstemp(path);
    assert_true(fd >= 0);
    assert_int_equal(C2_OK, loader_names_create(&names, NULL));
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        assert_int_equal(0, ftruncate(fd, 0));
        assert_int_equal(strlen(cases[i].source), pwrite(fd, cases[i].source, strlen(cases[i].source), 0));
        const char *name = loader_assigned(names, path, cases[i].line, &callees);
        if (!name != !cases[i].name || (name && strcmp(name, cases[i].name) != 0))
            fail_msg("%s: %s, expected %s", cases[i].source, name ? name : "none",
                     cases[i].name ? cases[i].name : "none");
    }
    close(fd);
    unlink(path);
    assert_null(loader_assigned(names, path, 1, &callees)); /* it cannot be read */
    loader_names_destroy(names);
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(statements)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}

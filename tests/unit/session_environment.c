/* SPDX-License-Identifier: GPL-2.0-or-later
 *
 * The guest's environment.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>
#include <cmocka.h>

#include "session/session_priv.h"

static char *host[] = {"HOME=/home/u", "TERM=xterm", "LANGUAGE=de", "EMPTY=", NULL};

/* The variables joined with spaces, or the message. */
static const char *made(const char **env, size_t env_count, bool inherit)
{
    static char text[1024];
    struct session_options options = {.env = env, .env_count = env_count, .inherit_env = inherit};
    struct c2_error err;
    char **environment;
    if (session_environment(&environment, &options, host, &err) != C2_OK) {
        assert_null(environment);
        assert_int_equal(C2_ERR_INVALID, err.status);
        snprintf(text, sizeof text, "%s", err.text);
        return text;
    }
    text[0] = '\0';
    for (size_t i = 0; environment[i]; i++) {
        strcat(text, i == 0 ? "" : " ");
        strcat(text, environment[i]);
    }
    session_environment_release(environment);
    return text;
}

static void what_the_guest_finds(void **state)
{
    (void)state;
    static const struct {
        const char *env[3];
        bool inherit;
        const char *want;
    } rows[] = {
        {{NULL}, false, "PATH=/usr/local/bin:/usr/bin:/bin HOME=/ LANG=C"},
        {{NULL}, true, "HOME=/home/u TERM=xterm LANGUAGE=de EMPTY="},
        {{"A=b", "LANG=de"}, false, "PATH=/usr/local/bin:/usr/bin:/bin HOME=/ LANG=de A=b"},
        {{"A=b", "A=c=d", "HOM=x"}, false, "PATH=/usr/local/bin:/usr/bin:/bin HOME=/ LANG=C A=c=d HOM=x"},
        {{"TERM", "EMPTY"}, false, "PATH=/usr/local/bin:/usr/bin:/bin HOME=/ LANG=C TERM=xterm EMPTY="},
        {{"HOME=", "LANG"}, false, "--env LANG: not set here; give LANG=VALUE"},
        {{"HOME="}, true, "HOME= TERM=xterm LANGUAGE=de EMPTY="},
        {{"=x"}, false, "--env =x: the name is empty; give NAME=VALUE"},
        {{""}, false, "--env : the name is empty; give NAME=VALUE"},
    };
    for (size_t i = 0; i < sizeof rows / sizeof rows[0]; i++) {
        const char *env[3] = {rows[i].env[0], rows[i].env[1], rows[i].env[2]};
        size_t count = 0;
        while (count < 3 && env[count])
            count++;
        assert_string_equal(rows[i].want, made(env, count, rows[i].inherit));
    }
}

static void every_allocation_may_fail(void **state)
{
    (void)state;
    const char *env[] = {"A=b", "HOME=/x"};
    struct session_options options = {.env = env, .env_count = 2};
    enum c2_status status = C2_ERR_NO_MEMORY;
    for (uint64_t n = 1; status != C2_OK; n++) {
        struct c2_error err;
        char **environment;
        c2_alloc_fail_from(n);
        status = session_environment(&environment, &options, host, &err);
        c2_alloc_fail_from(0);
        assert_true(status == C2_OK ? n == 7 : status == C2_ERR_NO_MEMORY && !environment);
        session_environment_release(environment);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(what_the_guest_finds),
        cmocka_unit_test(every_allocation_may_fail),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}

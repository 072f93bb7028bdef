/* SPDX-License-Identifier: GPL-2.0-or-later
 *
 * environment: what the guest finds in envp.
 *
 * Model
 *   Three fixed variables, so that a report does not depend on the shell it was made in; --inherit-env takes the
 *   host's instead, in its order. --env replaces a variable where it stands or appends it.
 *   A program with a leak sanitizer gets one more, unless it has options for it already: that one looks for leaks at
 *   the program's end, by ptrace, which the guest's kernel has not, and would end every program as a failure.
 */
#include <string.h>

#include "session/session_priv.h"
#include "loader/loader.h"

#define NO_LEAKS "LSAN_OPTIONS=detect_leaks=0"

static const char *const fixed[] = {"PATH=/usr/local/bin:/usr/bin:/bin", "HOME=/", "LANG=C", NULL};

/* Where the variable that `entry` (NAME=... or NAME) names stands; the end if it is not there. */
static size_t position(char *const *environment, const char *entry)
{
    const size_t length = strcspn(entry, "=");
    size_t i = 0;
    while (environment[i] && (strncmp(environment[i], entry, length) != 0 || environment[i][length] != '='))
        i++;
    return i;
}

/* Takes over `entry`, also when it is NULL for want of memory. */
static enum c2_status environment_put(char **environment, size_t at, char *entry, struct c2_error *err)
{
    if (!entry)
        return c2_fail_memory(err, "the guest's environment");
    c2_free(environment[at]);
    environment[at] = entry;
    return C2_OK;
}

static enum c2_status environment_put_option(char **environment, const char *entry, char *const *host_env,
                                             struct c2_error *err)
{
    const char *equals = strchr(entry, '=');
    if (equals == entry || entry[0] == '\0')
        return c2_fail(err, C2_ERR_INVALID, "--env %s: the name is empty; give NAME=VALUE", entry);
    if (!equals) {
        const char *host_entry = host_env[position(host_env, entry)];
        if (!host_entry)
            return c2_fail(err, C2_ERR_INVALID, "--env %s: not set here; give %s=VALUE", entry, entry);
        entry = host_entry;
    }
    return environment_put(environment, position(environment, entry), c2_strdup(entry), err);
}

enum c2_status session_environment(char ***out, const struct session_options *options, char *const *host_env,
                                   struct c2_error *err)
{
    char *const *base = options->inherit_env ? host_env : (char *const *)fixed;
    size_t count = 0;
    while (base[count])
        count++;
    *out = NULL;
    char **environment = c2_calloc(count + options->env_count + 1, sizeof *environment);
    if (!environment)
        return c2_fail_memory(err, "the guest's environment");
    enum c2_status status = C2_OK;
    for (size_t i = 0; i < count && status == C2_OK; i++)
        status = environment_put(environment, i, c2_strdup(base[i]), err);
    for (size_t i = 0; i < options->env_count && status == C2_OK; i++)
        status = environment_put_option(environment, options->env[i], host_env, err);
    if (status != C2_OK) {
        session_environment_release(environment);
        return status;
    }
    *out = environment;
    return C2_OK;
}

static bool has_options(char *const *environment)
{
    const char *options = environment[position(environment, "ASAN_OPTIONS")];
    return environment[position(environment, "LSAN_OPTIONS")] || (options && strstr(options, "detect_leaks"));
}

static enum c2_status environment_append(char ***environment, const char *entry, struct c2_error *err)
{
    size_t count = 0;
    while ((*environment)[count])
        count++;
    char **longer = c2_realloc(*environment, (count + 2) * sizeof *longer);
    if (!longer)
        return c2_fail_memory(err, "the guest's environment");
    *environment = longer;
    longer[count + 1] = NULL;
    longer[count] = c2_strdup(entry);
    return longer[count] ? C2_OK : c2_fail_memory(err, "the guest's environment");
}

enum c2_status session_environment_suit(bool *added, char ***environment, const char *program, struct c2_error *err)
{
    struct loader_libraries *libraries;
    *added = false;
    enum c2_status status = loader_libraries_find(&libraries, program, (const char *const *)*environment, LOADER_LEAKS,
                                                  err);
    if (status != C2_OK)
        return status;
    *added = loader_libraries_look_for_leaks(libraries) && !has_options(*environment);
    loader_libraries_release(libraries);
    return *added ? environment_append(environment, NO_LEAKS, err) : C2_OK;
}

void session_environment_release(char **environment)
{
    if (!environment)
        return;
    for (size_t i = 0; environment[i]; i++)
        c2_free(environment[i]);
    c2_free(environment);
}

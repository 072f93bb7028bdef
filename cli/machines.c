/* SPDX-License-Identifier: GPL-2.0-or-later
 *
 * machines: where the included machine files lie, and a list of them.
 */
#include <limits.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "cli/cli_priv.h"
#include "machine/machine.h"

const char *cli_machines_directory(char *buffer, size_t bytes)
{
    const char *named = getenv("C2EMU_MACHINES");
    if (named && named[0] != '\0')
        return named;
    ssize_t length = readlink("/proc/self/exe", buffer, bytes - 1);
    buffer[length < 0 ? 0 : length] = '\0';
    char *slash = strrchr(buffer, '/');
    if (slash && snprintf(slash, bytes - (size_t)(slash - buffer), "/%s", C2_MACHINES_FROM_BIN) > 0 &&
        access(buffer, R_OK) == 0)
        return buffer;
    return C2_MACHINES_SOURCE;
}

static enum c2_status list(FILE *to, char *const *names, size_t count, const char *directory, struct c2_error *err)
{
    struct caches_machine machine;
    size_t width = 0;
    for (size_t i = 0; i < count; i++)
        width = strlen(names[i]) > width ? strlen(names[i]) : width;
    for (size_t i = 0; i < count; i++) {
        enum c2_status status = machine_read(&machine, names[i], directory, NULL, 0, err);
        if (status != C2_OK)
            return status;
        fprintf(to, "%-*s  %s%s\n", (int)width, names[i], machine.description,
                strcmp(names[i], CLI_DEFAULT_MACHINE) == 0 ? " (the default)" : "");
    }
    return C2_OK;
}

enum c2_status cli_machines_list(FILE *to, struct c2_error *err)
{
    char buffer[PATH_MAX], **names;
    const char *directory = cli_machines_directory(buffer, sizeof buffer);
    size_t count;
    enum c2_status status = machine_names(&names, &count, directory, err);
    if (status == C2_OK) {
        status = list(to, names, count, directory, err);
        machine_names_free(names, count);
    }
    return status;
}

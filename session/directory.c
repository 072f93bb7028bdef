/* SPDX-License-Identifier: GPL-2.0-or-later
 *
 * directory: where files lie that are installed with c2emu.
 */
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "session/session.h"

const char *session_shared_directory(char *buffer, size_t bytes, const char *from_bin, const char *source)
{
    ssize_t length = readlink("/proc/self/exe", buffer, bytes - 1);
    buffer[length < 0 ? 0 : length] = '\0';
    char *slash = strrchr(buffer, '/');
    if (slash && snprintf(slash, bytes - (size_t)(slash - buffer), "/%s", from_bin) > 0 && access(buffer, R_OK) == 0)
        return buffer;
    return source;
}

const char *session_machines_directory(char *buffer, size_t bytes)
{
    const char *named = getenv("C2EMU_MACHINES");
    return named && named[0] != '\0'
               ? named
               : session_shared_directory(buffer, bytes, C2_MACHINES_FROM_BIN, C2_MACHINES_SOURCE);
}

/* SPDX-License-Identifier: GPL-2.0-or-later
 *
 * behind: an option of ours that stands behind the program, which it is handed to.
 *
 * Model
 *   Options end at PROGRAM, and every word behind it is the program's: that stays so. One of ours written there
 *   by mistake is told, once. A word counts if it is exactly a long option with its whole name, with or without a
 *   value; not --help and --version, which nearly every program has, and nothing behind `--`.
 *   A program that takes such an option itself has its name among its texts. So there is a note only where the name is
 *   in no file of the command line: the program, and what it is to run or to read (`python3 script.py --json`). A file
 *   that cannot be read, or is large, may have it. A program that may start others, or load them, may hand on what
 *   does not stand first (`env A=1 app --json`).
 */
#include <ctype.h>
#include <fcntl.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/root.h"
#include "cli/cli.h"
#include "loader/loader.h"

#define SEARCHED_BYTES (256u << 20) /* of a file; a larger one is not searched */

static const struct argp_option *option_of(const char *word)
{
    if (strncmp(word, "--", 2) != 0 || word[2] == '\0')
        return NULL;
    const size_t length = strcspn(word + 2, "=");
    for (const struct argp_option *row = cli_run_options; row->name || row->doc; row++)
        if (row->name && strlen(row->name) == length && strncmp(row->name, word + 2, length) == 0)
            return row->key == CLI_KEY_HELP || strcmp(row->name, "version") == 0 || (row->flags & OPTION_HIDDEN) ? NULL
                                                                                                                 : row;
    return NULL;
}

static bool is_part_of_name(char c) { return isalnum((unsigned char)c) || c == '-' || c == '_'; }

/* By itself, or behind dashes; not as a part of another name. */
static bool behind_holds(const char *bytes, size_t count, const char *name)
{
    const size_t length = strlen(name);
    const char *end = bytes + count;
    for (const char *at = bytes; (at = memmem(at, (size_t)(end - at), name, length)); at++) {
        const bool begins = at == bytes || at[-1] == '-' || !is_part_of_name(at[-1]);
        if (begins && (at + length == end || !is_part_of_name(at[length])))
            return true;
    }
    return false;
}

/* false only where all of the file was searched. */
static bool may_take(const char *path, const char *name)
{
    struct stat st;
    bool found = true;
    const int fd = open(path, O_RDONLY | O_CLOEXEC | O_NONBLOCK | O_NOCTTY);
    if (fd < 0)
        return true;
    const bool searched = fstat(fd, &st) == 0 && S_ISREG(st.st_mode) && st.st_size <= SEARCHED_BYTES;
    if (searched && st.st_size == 0)
        found = false;
    else if (searched) {
        char *bytes = mmap(NULL, (size_t)st.st_size, PROT_READ, MAP_PRIVATE, fd, 0);
        if (bytes != MAP_FAILED) {
            found = behind_holds(bytes, (size_t)st.st_size, name);
            munmap(bytes, (size_t)st.st_size);
        }
    }
    close(fd);
    return found;
}

static bool may_hand_on(const char *program)
{
    struct loader_libraries *libraries;
    if (loader_libraries_find(&libraries, program, NULL, LOADER_CALLS, NULL) != C2_OK)
        return true;
    const bool closed = loader_libraries_closed(libraries);
    loader_libraries_release(libraries);
    return !closed;
}

static bool program_may_take(const char *const *command, const char *name, bool first)
{
    char *path, host[PATH_MAX];
    struct stat st;
    if (loader_find(&path, command[0], NULL) != C2_OK)
        return true; /* another message says so */
    bool may = c2_root_find(path, host) != 0 || may_take(host, name) || (!first && may_hand_on(host));
    c2_free(path);
    for (size_t i = 1; command[i] && !may; i++)
        may = c2_root_find(command[i], host) == 0 && stat(host, &st) == 0 && S_ISREG(st.st_mode) &&
              may_take(host, name);
    return may;
}

bool cli_option_behind(char *buffer, size_t bytes, const char *const *command)
{
    for (size_t i = 1; command && command[0] && command[i] && strcmp(command[i], "--") != 0; i++) {
        const struct argp_option *row = option_of(command[i]);
        if (!row || program_may_take(command, row->name, i == 1))
            continue;
        snprintf(buffer, bytes, "--%s behind %s is handed to it; an option of c2emu's goes in front: c2emu --%s%s%s %s",
                 row->name, command[0], row->name, row->arg ? "=" : "", row->arg ? row->arg : "", command[0]);
        return true;
    }
    return false;
}

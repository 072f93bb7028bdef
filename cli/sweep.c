/* SPDX-License-Identifier: GPL-2.0-or-later
 *
 * sweep: `c2emu sweep [OPTION]... STUDY`: many runs. The work is that of sweep/sweep.py, which hands the runs to
 * Snakemake; here is where it lies, and how it gets to know which c2emu to run.
 */
#include <errno.h>
#include <limits.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "cli/cli_priv.h"

#define SWEEP_PYTHON "python3"

enum c2_status cli_sweep(int argc, char **argv, struct c2_error *err)
{
    char script[PATH_MAX + 16], directory[PATH_MAX], self[PATH_MAX];
    const ssize_t length = readlink("/proc/self/exe", self, sizeof self - 1);
    if (length < 0)
        return c2_fail(err, C2_ERR_IO, "sweep: cannot find out where c2emu itself lies: %m");
    self[length] = '\0';
    snprintf(script, sizeof script, "%s/sweep.py",
             session_shared_directory(directory, sizeof directory, C2_SWEEP_FROM_BIN, C2_SWEEP_SOURCE));
    char **words = c2_calloc((size_t)argc + 3, sizeof *words);
    if (!words)
        return c2_fail_memory(err, "the words of sweep");
    words[0] = (char[]){SWEEP_PYTHON};
    words[1] = (char[]){"-B"}; /* nothing is written beside the scripts */
    words[2] = script;
    for (int i = 1; i < argc; i++)
        words[i + 2] = argv[i];
    setenv("C2EMU_PROGRAM", self, true);
    execvp(SWEEP_PYTHON, words);
    const int error = errno;
    c2_free(words);
    return c2_fail(err, C2_ERR_NOT_FOUND, "sweep: cannot execute %s (%s): apt-get install python3 snakemake",
                   SWEEP_PYTHON, strerror(error));
}

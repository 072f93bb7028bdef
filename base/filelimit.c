/* SPDX-License-Identifier: GPL-2.0-or-later
 *
 * Writes beyond the limit on the size of files (RLIMIT_FSIZE).
 *
 * Model
 *   Linux sends SIGXFSZ to the thread that writes, which ends the process, and the call fails with EFBIG. Here the
 *   signal only leaves a note for its thread, so that a failed write of c2emu's own is an error like a full disk, and
 *   one on the guest's behalf can be passed on. Where the parent of c2emu ignores the signal there are no notes: the
 *   guest would have been started so as well.
 * Not modelled
 *   A guest that is started so and has a handler: it is not called.
 */
#include "base/base.h"

#include <signal.h>

static _Thread_local volatile sig_atomic_t hit;

static void filelimit_note(int signal_number)
{
    (void)signal_number;
    hit = 1;
}

void c2_file_limit_catch(void)
{
    struct sigaction old, action = {.sa_handler = filelimit_note, .sa_flags = SA_RESTART};
    if (sigaction(SIGXFSZ, NULL, &old) == 0 && old.sa_handler == SIG_DFL)
        sigaction(SIGXFSZ, &action, NULL);
}

bool c2_file_limit_hit(void)
{
    const bool was = hit;
    hit = 0;
    return was;
}

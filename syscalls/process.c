/* SPDX-License-Identifier: GPL-2.0-or-later
 *
 * The end of the program, and what it does not have.
 */
#include "syscalls/kernel_priv.h"

int64_t process_exit(struct call *c)
{
    c->result->action = SYSCALLS_EXIT;
    c->result->status = (int)c->arg[0] & 0xff;
    return 0;
}

int64_t process_absent(struct call *c)
{
    (void)c;
    return -ENOSYS;
}

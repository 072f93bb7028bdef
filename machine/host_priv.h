/* SPDX-License-Identifier: GPL-2.0-or-later
 *
 * host: a machine file of the processor that c2emu runs on.
 */
#ifndef C2_MACHINE_HOST_PRIV_H
#define C2_MACHINE_HOST_PRIV_H

#include <stdarg.h>

#include "machine/machine.h"

/* What is asked of a processor; another one than this for tests. */
struct machine_processor {
    void *self;
    /* EAX, EBX, ECX, EDX, which are zeroed before. */
    void (*cpuid)(void *self, uint32_t leaf, uint32_t sub, uint32_t out[4]);
    const char *sysfs; /* the directory of cpu0's caches */
};
enum c2_status machine_host_write(FILE *to, const struct machine_processor *processor, const char *machines_dir,
                                  struct c2_error *err);

#endif

/* SPDX-License-Identifier: GPL-2.0-or-later
 *
 * A file whose note of properties says that it needs x86-64-v3, which it does. engines.py runs it.
 */
#include "guest.h"
    BEGIN
    vpaddd  %ymm0, %ymm0, %ymm1
    END

    .section .note.gnu.property, "a", @note
    .balign 8
    .long   4, 16, 5            /* bytes of the name and of the value; NT_GNU_PROPERTY_TYPE_0 */
    .asciz  "GNU"
    .long   0xc0008002, 4, 5, 0 /* x86 ISA needed: baseline, v3; padded */

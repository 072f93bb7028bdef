/* SPDX-License-Identifier: GPL-2.0-or-later
 *
 * A program without libc whose functions all have sizes.
 */
static __attribute__((noinline)) long finish(long status)
{
    long result;
    __asm__ volatile("syscall" : "=a"(result) : "a"(60L), "D"(status) : "rcx", "r11", "memory");
    return result;
}

void _start(void)
{
    finish(0);
}

/* SPDX-License-Identifier: GPL-2.0-or-later
 *
 * Lesson: of a program that does next to nothing, the start-up of its libraries is all there is.
 * Truth: one line of output. Cured, it is linked statically (by the flag of its row in truth.tsv): nothing to be found,
 * mapped and relocated.
 */
#include <stdio.h>

int main(void)
{
    puts("hello");
    return 0;
}

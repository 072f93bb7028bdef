/* SPDX-License-Identifier: GPL-2.0-or-later
 *
 * A sweep over an array of structures that wants three fields of six: bodies [TIMES]
 *
 * The lesson: a line of 64 bytes is one body, of which the sweep uses 24: 20,000 lines each time, 37.5 % used. Split,
 * the 24 bytes lie one behind the other, 8 bodies in 3 lines: 7,500 lines each time, all used. `c2emu --line-use` says
 * so before, and proposes the split.
 */
#include "sample.h"

#define BODIES 20000

#ifdef SPLIT
struct body {
    double x, y, z;
};
struct body_cold {
    double mass;
    long id;
    char name[24];
};
#else
struct body {
    double x, y, z;
    double mass;
    long id;
    char name[24];
};
#endif

KERNEL double sum_of_squares(const struct body *bodies)
{
    double sum = 0;
    for (int i = 0; i < BODIES; i++)
        sum += bodies[i].x * bodies[i].x + bodies[i].y * bodies[i].y + bodies[i].z * bodies[i].z;
    return sum;
}

int main(int argc, char **argv)
{
    const int times = times_of(argc, argv);
    double sum = 0;
    struct body *bodies = aligned_alloc(64, BODIES * sizeof *bodies);
    if (!bodies)
        return 1;
#ifdef SPLIT
    struct body_cold *cold = aligned_alloc(64, BODIES * sizeof *cold);
    if (!cold)
        return 1;
#else
    struct body *cold = bodies;
#endif
    for (int i = 0; i < BODIES; i++) {
        bodies[i].x = i;
        bodies[i].y = bodies[i].z = 1;
        cold[i].mass = 2;
    }
    for (int i = 0; i < times; i++) {
        sum += sum_of_squares(bodies);
        KEEP();
    }
    print_checksum("bodies", sum);
#ifdef SPLIT
    free(cold);
#endif
    free(bodies);
    return 0;
}

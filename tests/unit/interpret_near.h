/* SPDX-License-Identifier: GPL-2.0-or-later
 *
 * The transcendental instructions of the x87 unit: CPUs approximate what c2emu rounds exactly, so the two may differ in
 * the last bit, and where FSIN and kin reduce their angle by a pi of 66 bits, in more. How far they may be apart is
 * from Intel SDM volume 1, 8.3.8 and 8.3.10.
 */
#ifndef C2_TEST_INTERPRET_NEAR_H
#define C2_TEST_INTERPRET_NEAR_H

#include <stdbool.h>
#include <stdint.h>

#include <Zydis/Zydis.h>

/* Where the CPU's result is as near to ours as it must be, ours takes its place in the CPU's FXSAVE image: the number,
 * C1, and if the numbers differ, the flags of overflow and underflow. All else is left to be compared. */
void near_settle(ZydisMnemonic mnemonic, const uint8_t before[512], uint8_t cpu[512], const uint8_t ours[512]);

#endif

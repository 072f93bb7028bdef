/* SPDX-License-Identifier: GPL-2.0-or-later
 *
 * Lesson: a channel of interleaved pixels brings the other three along.
 * Truth: the mean of the alpha channel of 400,000 pixels reads one byte in four, line after line: 1.6 MB for 400 KB. As
 * a plane of its own the channel is a quarter of the lines.
 */
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>

#ifndef PIXELS
#define PIXELS 400000
#endif
#ifdef CURED
static uint8_t colours[PIXELS][3], alphas[PIXELS];
#define ALPHA(i) alphas[i]
#define RED(i) colours[i][0]
#else
static struct {
    uint8_t red, green, blue, alpha;
} pixels[PIXELS];
#define ALPHA(i) pixels[i].alpha
#define RED(i) pixels[i].red
#endif

__attribute__((noinline)) static uint32_t opacity(uint32_t level)
{
    uint32_t sum = 0;
    for (int i = 0; i < PIXELS; i++)
        sum += ALPHA(i) ^ level; /* here */
    return sum;
}

int main(int argc, char **argv)
{
    const uint32_t rounds = argc > 1 ? (uint32_t)atoi(argv[1]) : 12;
    uint32_t sum = 0;
    for (int i = 0; i < PIXELS; i++) {
        ALPHA(i) = (uint8_t)(i * 7);
        RED(i) = (uint8_t)i;
    }
    for (uint32_t round = 1; round <= rounds; round++)
        sum += opacity(round) + RED(round);
    printf("%u\n", sum);
    return 0;
}

/* SPDX-License-Identifier: GPL-2.0-or-later
 *
 * Text of made-up words, some frequent and most rare, the same in each run: something to compress, count and sort.
 */
#ifndef GALLERY_TEXT_H
#define GALLERY_TEXT_H

#include <stddef.h>
#include <stdint.h>

static uint32_t gallery_state = 12345;

static inline uint32_t gallery_random(void)
{
    gallery_state ^= gallery_state << 13;
    gallery_state ^= gallery_state >> 17;
    gallery_state ^= gallery_state << 5;
    return gallery_state;
}

/* One of `words` words: the product of three numbers makes small ones frequent. */
static inline size_t gallery_word(char *out, uint32_t words)
{
    const uint32_t a = gallery_random() % words, b = gallery_random() % words, c = gallery_random() % words;
    uint32_t rest = (uint32_t)((uint64_t)a * b / words * c / words) * 2654435761u;
    const size_t length = 3 + rest % 7;
    for (size_t i = 0; i < length; i++) {
        out[i] = (char)('a' + rest % 26);
        rest = rest / 26 + (rest << 7);
    }
    return length;
}

static inline void gallery_text(char *out, size_t bytes, uint32_t words)
{
    size_t at = 0;
    while (at + 12 < bytes) {
        at += gallery_word(out + at, words);
        out[at++] = gallery_random() % 12 == 0 ? '\n' : ' ';
    }
    while (at < bytes)
        out[at++] = '\n';
}

#endif

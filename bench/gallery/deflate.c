/* SPDX-License-Identifier: GPL-2.0-or-later
 *
 * deflate KIB: compresses so many KiB of text with zlib, level 6, in one call.
 */
#include <stdio.h>
#include <stdlib.h>

#include <zlib.h>

#include "text.h"

int main(int argc, char **argv)
{
    const uLong bytes = (uLong)(argc > 1 ? atoi(argv[1]) : 1024) << 10;
    uLongf room = compressBound(bytes);
    Bytef *text = malloc(bytes), *packed = malloc(room);
    if (!text || !packed)
        return 1;
    gallery_text((char *)text, bytes, 2000);
    const int error = compress2(packed, &room, text, bytes, 6);
    printf("%lu -> %lu\n", bytes, room);
    free(text);
    free(packed);
    return error != Z_OK;
}

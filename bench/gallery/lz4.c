/* SPDX-License-Identifier: GPL-2.0-or-later
 *
 * lz4 MIB: compresses so many MiB of text with liblz4, in one call.
 */
#include <stdio.h>
#include <stdlib.h>

#include <lz4.h>

#include "text.h"

int main(int argc, char **argv)
{
    const int bytes = (argc > 1 ? atoi(argv[1]) : 4) << 20, room = LZ4_compressBound(bytes);
    char *text = malloc((size_t)bytes), *packed = malloc((size_t)room);
    if (!text || !packed)
        return 1;
    gallery_text(text, (size_t)bytes, 2000);
    printf("%d -> %d\n", bytes, LZ4_compress_default(text, packed, bytes, room));
    free(text);
    free(packed);
    return 0;
}

/* SPDX-License-Identifier: GPL-2.0-or-later
 *
 * make_text KIB: writes so much text.
 */
#include <stdio.h>
#include <stdlib.h>

#include "text.h"

int main(int argc, char **argv)
{
    const size_t bytes = (size_t)(argc > 1 ? atoi(argv[1]) : 1024) << 10;
    char *text = malloc(bytes);
    if (!text)
        return 1;
    gallery_text(text, bytes, 2000);
    fwrite(text, 1, bytes, stdout);
    free(text);
    return 0;
}

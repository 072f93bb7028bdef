/* SPDX-License-Identifier: GPL-2.0-or-later
 *
 * Text put together piece by piece in a buffer of fixed size.
 */
#include "base/base.h"

void c2_say(struct c2_words *words, const char *format, ...)
{
    va_list arguments;
    va_start(arguments, format);
    const int length = vsnprintf(words->buffer + words->used, words->bytes - words->used, format, arguments);
    va_end(arguments);
    words->used += length < 0 ? 0 : (size_t)length;
    if (words->used >= words->bytes)
        words->used = words->bytes - 1;
}

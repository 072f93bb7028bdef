/* SPDX-License-Identifier: GPL-2.0-or-later
 *
 * Near-miss suggestions for misspelt names.
 *
 * Model
 *   Edit distance with insertion, deletion, replacement and swap of two neighbours, each costing 1, upper and lower
 *   case alike. A candidate is near when its distance is at most a third of the longer of both names, rounded up:
 *   one slip in a short name, three in a long one. The first of equally near candidates wins.
 * Not modelled
 *   Names longer than 63 characters suggest nothing.
 * Source
 *   The "optimal string alignment" form of F. Damerau, CACM 7(3), 1964.
 */
#include "base/base.h"

#include <ctype.h>
#include <string.h>

#define LONGEST_NAME 63

static unsigned min3(unsigned a, unsigned b, unsigned c)
{
    unsigned least = a < b ? a : b;
    return least < c ? least : c;
}

static bool same_letter(char a, char b) { return tolower((unsigned char)a) == tolower((unsigned char)b); }

/* Three rows of the table are enough: this one, the one above, and for swaps the one above that. */
static unsigned edit_distance(const char *a, size_t a_length, const char *b, size_t b_length)
{
    unsigned rows[3][LONGEST_NAME + 1];
    for (unsigned j = 0; j <= b_length; j++)
        rows[0][j] = j;
    for (unsigned i = 1; i <= a_length; i++) {
        unsigned *row = rows[i % 3], *above = rows[(i + 2) % 3], *above2 = rows[(i + 1) % 3];
        row[0] = i;
        for (unsigned j = 1; j <= b_length; j++) {
            unsigned replaced = above[j - 1] + !same_letter(a[i - 1], b[j - 1]);
            row[j] = min3(replaced, above[j] + 1, row[j - 1] + 1);
            bool swapped = i > 1 && j > 1 && same_letter(a[i - 1], b[j - 2]) && same_letter(a[i - 2], b[j - 1]);
            if (swapped && above2[j - 2] + 1 < row[j])
                row[j] = above2[j - 2] + 1;
        }
    }
    return rows[a_length % 3][b_length];
}

const char *c2_nearest(const char *name, const char *const *candidates, size_t count)
{
    const char *nearest = NULL;
    unsigned least = UINT32_MAX;
    size_t length = strlen(name);
    for (size_t i = 0; i < count; i++) {
        size_t other = strlen(candidates[i]);
        if (length > LONGEST_NAME || other > LONGEST_NAME)
            continue;
        unsigned distance = edit_distance(name, length, candidates[i], other);
        size_t longer = length > other ? length : other;
        if (distance <= (longer + 2) / 3 && distance < longer && distance < least) {
            least = distance;
            nearest = candidates[i];
        }
    }
    return nearest;
}

/* ` (known: a, b, c)`, or as much of it as fits, then `...)`. */
static void list_known(char *buffer, size_t bytes, const char *const *candidates, size_t count)
{
    static const char cut[] = ", ...)";
    size_t used = (size_t)snprintf(buffer, bytes, " (known: %s", candidates[0]);
    for (size_t i = 1; i < count && used < bytes; i++) {
        size_t room_needed = i + 1 < count ? sizeof cut : sizeof ")";
        if (used + 2 + strlen(candidates[i]) + room_needed > bytes) {
            snprintf(buffer + used, bytes - used, "%s", cut);
            return;
        }
        used += (size_t)snprintf(buffer + used, bytes - used, ", %s", candidates[i]);
    }
    if (used < bytes)
        snprintf(buffer + used, bytes - used, ")");
}

char *c2_suggest(char *buffer, size_t bytes, const char *name, const char *const *candidates, size_t count)
{
    if (bytes == 0)
        return buffer;
    buffer[0] = '\0';
    const char *nearest = c2_nearest(name, candidates, count);
    if (nearest)
        snprintf(buffer, bytes, " (did you mean \"%s\"?)", nearest);
    else if (count > 0)
        list_known(buffer, bytes, candidates, count);
    return buffer;
}

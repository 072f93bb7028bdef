/* SPDX-License-Identifier: GPL-2.0-or-later
 *
 * Values in a checkpoint: numbers are short ones (seven bits a byte, lowest first; in every byte but the last bit 7 is
 * set); of texts, blocks and maps the number of their elements comes first.
 */
#include <string.h>

#include "checkpoint/checkpoint_priv.h"

static void values_put_number(struct checkpoint *c, uint64_t n)
{
    uint8_t bytes[10];
    size_t count = 0;
    for (; n >= 0x80; n >>= 7)
        bytes[count++] = (uint8_t)(n | 0x80);
    bytes[count++] = (uint8_t)n;
    checkpoint_bytes(c, bytes, count);
}

static uint64_t get_number(struct checkpoint *c)
{
    uint64_t n = 0;
    uint8_t byte = 0x80;
    for (unsigned shift = 0; byte & 0x80 && checkpoint_good(c); shift += 7) {
        checkpoint_bytes(c, &byte, 1);
        if (shift > 63 || (shift == 63 && byte > 1))
            checkpoint_damaged(c, "a number of more than 64 bits");
        else
            n |= (uint64_t)(byte & 0x7f) << shift;
    }
    return n;
}

void checkpoint_number(struct checkpoint *c, uint64_t *value, uint64_t most)
{
    if (c->writes) {
        C2_ASSERT(!checkpoint_good(c) || *value <= most);
        values_put_number(c, *value);
        return;
    }
    *value = get_number(c);
    if (*value > most)
        checkpoint_damaged(c, "a number that is too large");
    if (!checkpoint_good(c))
        *value = 0;
}

void checkpoint_part(struct checkpoint *c, const char *name)
{
    const size_t bytes = strlen(name);
    char there[CHECKPOINT_PART_BYTES + 1] = "";
    uint64_t count = bytes;
    C2_ASSERT(bytes <= CHECKPOINT_PART_BYTES);
    memcpy(c->part, name, bytes + 1);
    memcpy(there, name, bytes);
    checkpoint_number(c, &count, CHECKPOINT_PART_BYTES);
    checkpoint_bytes(c, there, count);
    if (count != bytes || memcmp(there, name, bytes) != 0)
        checkpoint_damaged(c, "another part is there");
}

/* Memory for what is read comes piece by piece, so that no count requests more than is there. */
#define PIECE ((size_t)64 << 10)

static uint8_t *values_get_block(struct checkpoint *c, size_t count, size_t extra)
{
    uint8_t *bytes = NULL;
    for (size_t done = 0; done < count || !bytes;) {
        const size_t part = count - done < PIECE ? count - done : PIECE;
        uint8_t *more = c2_realloc(bytes, done + part + extra + 1);
        if (!more) {
            struct c2_error why;
            c2_fail_memory(&why, "a checkpoint");
            checkpoint_fail(c, &why);
            break;
        }
        bytes = more;
        checkpoint_bytes(c, bytes + done, part);
        if (!checkpoint_good(c))
            break;
        done += part;
    }
    if (checkpoint_good(c))
        return bytes;
    c2_free(bytes);
    return NULL;
}

void checkpoint_block(struct checkpoint *c, uint8_t **bytes, size_t *count, size_t most)
{
    CHECKPOINT_NUMBER(c, *count, most);
    if (c->writes) {
        checkpoint_bytes(c, *bytes, *count);
        return;
    }
    *bytes = *count ? values_get_block(c, *count, 0) : NULL;
    *count = *bytes ? *count : 0;
}

void checkpoint_text(struct checkpoint *c, char **text, size_t most)
{
    uint64_t bytes = c->writes && *text ? strlen(*text) + 1 : 0; /* 0: NULL */
    checkpoint_number(c, &bytes, most + 1);
    if (c->writes) {
        checkpoint_bytes(c, *text, bytes ? bytes - 1 : 0);
        return;
    }
    *text = bytes ? (char *)values_get_block(c, bytes - 1, 1) : NULL;
    if (!*text)
        return;
    (*text)[bytes - 1] = '\0';
    if (strlen(*text) == bytes - 1)
        return;
    checkpoint_damaged(c, "a text with a NUL in it");
    c2_free(*text);
    *text = NULL;
}

bool checkpoint_room(struct checkpoint *c, void **array, uint32_t *room, uint32_t count, size_t bytes)
{
    struct c2_error why;
    if (checkpoint_good(c) && !c2_grow(array, room, count, bytes)) {
        c2_fail_memory(&why, "a checkpoint");
        checkpoint_fail(c, &why);
    }
    return checkpoint_good(c);
}

/* ------------------------------------------------------------------ maps */

static void put_map(struct checkpoint *c, const struct c2_map *map)
{
    struct c2_pair *pairs;
    struct c2_error why;
    if (c2_map_list(&pairs, map, &why) != C2_OK) {
        checkpoint_fail(c, &why);
        return;
    }
    const uint64_t count = c2_map_count(map);
    values_put_number(c, count);
    for (uint64_t i = 0; i < count; i++) {
        values_put_number(c, pairs[i].key - (i ? pairs[i - 1].key : 0));
        values_put_number(c, pairs[i].value);
    }
    c2_free(pairs);
}

static void get_map(struct checkpoint *c, struct c2_map *map)
{
    struct c2_error why;
    const uint64_t count = get_number(c);
    uint64_t key = 0;
    for (uint64_t i = 0; i < count && checkpoint_good(c); i++) {
        const uint64_t step = get_number(c), value = get_number(c);
        if (i > 0 && key + step <= key)
            checkpoint_damaged(c, "a map that is not in order");
        key += step;
        if (checkpoint_good(c) && c2_map_put(map, key, value, &why) != C2_OK)
            checkpoint_fail(c, &why);
    }
}

void checkpoint_map(struct checkpoint *c, struct c2_map *map)
{
    if (c->writes)
        put_map(c, map);
    else
        get_map(c, map);
}

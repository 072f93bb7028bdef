/* SPDX-License-Identifier: GPL-2.0-or-later
 *
 * Compares two recordings, word for word: streams A B. Blocks may have other numbers in one than in the other, as these
 * count what an engine has decoded; each stands for what it is made of here. Inodes are those of the files of each run,
 * and are left out. Prints how many words and instructions
 * there are, or the first record that differs, of both.
 */
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "stream/stream.h"

#define PIECE_WORDS (1u << 20) /* a hash each */
enum { MOST_PIECES = 1 << 16, MOST_BLOCKS = 1 << 20, SHOWN_WORDS = 12 };

struct side {
    const char *name;
    struct stream_recording *recording;
    uint64_t words, instructions;
    uint64_t piece[MOST_PIECES];
    uint64_t block[MOST_BLOCKS]; /* what each is made of; 0: not known yet */
    /* The second time: all words of one piece, and where records begin. */
    uint64_t wanted; /* UINT64_MAX: none */
    uint64_t *kept;
    uint32_t *number; /* of the block of each word's record; the first word's has bit 31 clear */
    size_t kept_count;
};

static void die(const char *what, const struct c2_error *err)
{
    fprintf(stderr, "streams: %s%s%s\n", what, err ? ": " : "", err ? err->text : "");
    exit(2);
}

static uint64_t mix(uint64_t hash, uint64_t word)
{
    hash = (hash ^ word) * 0x9e3779b97f4a7c15u;
    return hash ^ hash >> 29;
}

static uint64_t made_of(const struct stream_block *block)
{
    uint64_t hash = mix(mix(mix(1, block->pc.v), block->bytes), (uint64_t)block->insn_count << 32 | block->slot_count);
    hash = mix(hash, block->ending);
    for (unsigned i = 0; i < block->insn_count; i++)
        hash = mix(mix(hash, block->insns[i].offset),
                   (uint64_t)block->insns[i].first_slot << 16 | block->insns[i].length << 8 | block->insns[i].flops);
    for (unsigned i = 0; i < block->slot_count; i++)
        hash = mix(hash, (uint64_t)block->slots[i].insn << 32 | (uint64_t)block->slots[i].size << 16 |
                             (uint64_t)block->slots[i].kind << 8 | block->slots[i].how);
    return hash | 1;
}

static uint64_t block_of(struct side *side, uint32_t number)
{
    if (number >= MOST_BLOCKS)
        die("too many blocks", NULL);
    if (side->block[number] == 0)
        side->block[number] = made_of(stream_blocks_at(stream_recording_blocks(side->recording), number));
    return side->block[number];
}

static void take_word(struct side *side, uint64_t word, uint32_t number)
{
    const uint64_t piece = side->words++ / PIECE_WORDS;
    if (piece >= MOST_PIECES)
        die("too long", NULL);
    if (side->wanted == UINT64_MAX) {
        side->piece[piece] = mix(side->piece[piece], word);
    } else if (side->wanted == piece) {
        side->kept[side->kept_count] = word;
        side->number[side->kept_count++] = number;
    }
}

/* Whether word i of the record is the inode of a file that is mapped. */
static bool is_inode(uint64_t header, uint32_t i)
{
    enum { INODE = 5 };
    return stream_header_block(header) == STREAM_MARK && stream_header_insns(header) == STREAM_MAPPED && i == INODE;
}

static enum c2_status consume(void *self, const struct stream_batch *batch, struct c2_error *err)
{
    struct side *side = self;
    (void)err;
    for (uint32_t at = 0; at < batch->used;) {
        const uint64_t header = batch->words[at];
        const uint32_t number = stream_header_block(header), slots = stream_header_slots(header);
        const bool mark = number == STREAM_MARK;
        take_word(side, mix(mark ? STREAM_MARK : block_of(side, number), (uint64_t)batch->tid << 32 | (uint32_t)header),
                  number);
        side->instructions += mark ? 0 : stream_header_insns(header);
        for (uint32_t i = 1; i <= slots; i++)
            take_word(side, is_inode(header, i) ? 0 : batch->words[at + i], number);
        at += 1 + slots;
    }
    return C2_OK;
}

static void play(struct side *side)
{
    struct c2_error err;
    FILE *file = fopen(side->name, "rb");
    if (!file)
        die(side->name, NULL);
    if (stream_recording_open(&side->recording, file, side->name, &err) != C2_OK)
        die("open", &err);
    side->words = side->instructions = 0;
    memset(side->block, 0, sizeof side->block);
    if (stream_recording_play(side->recording, (struct stream_sink){.self = side, .consume = consume}, &err) != C2_OK)
        die("play", &err);
}

static void stop(struct side *side)
{
    stream_recording_close(side->recording);
    side->recording = NULL;
}

static void keep(struct side *side, uint64_t piece)
{
    side->wanted = piece;
    side->kept = calloc(PIECE_WORDS, sizeof *side->kept);
    side->number = calloc(PIECE_WORDS, sizeof *side->number);
    if (!side->kept || !side->number)
        die("no memory", NULL);
    play(side);
}

static void show(const struct side *side, size_t at)
{
    const uint32_t number = at < side->kept_count ? side->number[at] : STREAM_MARK;
    printf("  %s: ", side->name);
    if (at >= side->kept_count)
        printf("it ends");
    else if (number == STREAM_MARK)
        printf("a mark");
    else
        printf("the block at 0x%" PRIx64, stream_blocks_at(stream_recording_blocks(side->recording), number)->pc.v);
    for (size_t i = at; i < side->kept_count && i < at + SHOWN_WORDS; i++)
        printf(" %" PRIx64, side->kept[i]);
    printf("\n");
}

static int differ(struct side *a, struct side *b, uint64_t piece)
{
    size_t at = 0;
    keep(a, piece);
    keep(b, piece);
    while (at < a->kept_count && at < b->kept_count && a->kept[at] == b->kept[at])
        at++;
    printf("the streams differ at word %" PRIu64 ":\n", piece * PIECE_WORDS + at);
    show(a, at);
    show(b, at);
    return 1;
}

int main(int argc, char **argv)
{
    static struct side a = {.wanted = UINT64_MAX}, b = {.wanted = UINT64_MAX};
    if (argc != 3)
        die("two recordings", NULL);
    a.name = argv[1];
    b.name = argv[2];
    play(&a);
    stop(&a);
    play(&b);
    stop(&b);
    for (uint64_t piece = 0; piece <= (a.words > b.words ? a.words : b.words) / PIECE_WORDS; piece++)
        if (a.piece[piece] != b.piece[piece])
            return differ(&a, &b, piece);
    if (a.words != b.words)
        return differ(&a, &b, (a.words < b.words ? a.words : b.words) / PIECE_WORDS);
    printf("%" PRIu64 " words, %" PRIu64 " instructions\n", a.words, a.instructions);
    return 0;
}

/* SPDX-License-Identifier: GPL-2.0-or-later
 *
 * base: what every other room stands on - status and errors, allocation, pools, seeded generators, a hash map, an
 * ordered tree, number parsing, near-miss suggestions, files that appear only when whole, the limit on their size,
 * files in chunks, hashes, libraries that are loaded when they are needed.
 *
 * The one API contract of the project: a function that can fail returns enum c2_status, gives its result
 * through its first parameter and the reason through its last; a getter lends and states until when; a destroy
 * function takes NULL. Nothing below cli/ ends the process.
 */
#ifndef C2_BASE_H
#define C2_BASE_H

#include <stdarg.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>

/* ------------------------------------------------------------------ status and errors */

enum c2_status {
    C2_OK = 0,
    C2_ERR_NO_MEMORY,   /* the host has no memory left */
    C2_ERR_INVALID,     /* a value the user gave is not allowed */
    C2_ERR_NOT_FOUND,   /* a named thing does not exist */
    C2_ERR_DENIED,      /* it exists, and may not be used (permission, not executable) */
    C2_ERR_FORMAT,      /* a file is not what it should be */
    C2_ERR_IO,          /* reading or writing failed */
    C2_ERR_UNSUPPORTED, /* understood, and not modelled */
    C2_ERR_EXHAUSTED,   /* a simulated resource ran out (physical memory) */
    C2_ERR_INTERNAL,    /* c2emu contradicts itself: a bug of ours */
};

/* The reason of a failure, one line without a trailing newline: it names the thing and the remedy. */
struct c2_error {
    enum c2_status status;
    char text[1024];
};

/* Fills *err (which may be NULL) and returns status, so that a caller can write `return c2_fail(...)`. */
enum c2_status c2_fail(struct c2_error *err, enum c2_status status, const char *format, ...)
    __attribute__((format(printf, 3, 4)));

/* The failure of an allocation, without allocating. */
enum c2_status c2_fail_memory(struct c2_error *err, const char *what);

/* Cheap checks stay on in release builds: a simulator must not lie fast. On failure prints the guest first
 * (see c2_assert_context), then the condition, and aborts. */
#define C2_ASSERT(cond) ((cond) ? (void)0 : c2_assert_failed(#cond, __FILE__, __LINE__))
_Noreturn void c2_assert_failed(const char *cond, const char *file, int line);

/* The same for a library's allocation that fails, when the library cannot be told: `what` names what it was for. */
_Noreturn void c2_out_of_memory(const char *what);

/* The code that runs a guest registers a function that prints where the guest stands; NULL removes it. */
void c2_assert_context(void (*print)(void *self, FILE *to), void *self);

/* What a comment promises, where looking at it each time is too dear for a release: in stress and sanitizer builds. */
#if defined(C2_STRESS) || defined(__SANITIZE_ADDRESS__)
#define C2_PROMISE(cond) C2_ASSERT(cond)
#else
#define C2_PROMISE(cond) ((void)(0 && (cond)))
#endif

/* A fast path that may be taken or not without changing any result; -DC2_NO_SHORTCUTS takes none. */
#ifdef C2_NO_SHORTCUTS
#define SHORTCUT(cond) (0 && (cond))
#else
#define SHORTCUT(cond) (cond)
#endif

/* A host-side size (batch, hash table, log ...) that -DC2_STRESS shrinks; no report may depend on it. */
#ifdef C2_STRESS
#define C2_HOST_SIZE(normal, stress) (stress)
#else
#define C2_HOST_SIZE(normal, stress) (normal)
#endif

#define C2_LIKELY(cond) __builtin_expect(!!(cond), 1)
#define C2_UNLIKELY(cond) __builtin_expect(!!(cond), 0)

/* ------------------------------------------------------------------ addresses have types */

struct guest_va {
    uint64_t v;
}; /* a guest virtual address, bytes */
struct guest_pa {
    uint64_t v;
}; /* a simulated physical address, bytes */
struct line_no {
    uint64_t v;
}; /* an address divided by the machine's line size */

#define C2_PAGE_SHIFT 12
#define C2_PAGE_BYTES ((uint64_t)1 << C2_PAGE_SHIFT)

/* bits low..high inclusive set; 0 <= low <= high <= 63 */
static inline uint64_t c2_mask(unsigned low, unsigned high)
{
    return (~(uint64_t)0 >> (63 - high)) & (~(uint64_t)0 << low);
}
static inline bool c2_is_power_of_two(uint64_t n) { return n != 0 && (n & (n - 1)) == 0; }
static inline unsigned c2_log2(uint64_t n) { return 63u - (unsigned)__builtin_clzll(n); } /* n > 0, floor */
static inline uint64_t c2_divisor(uint64_t a, uint64_t b) /* the greatest of both; of 0 and n: n */
{
    while (b != 0) {
        const uint64_t rest = a % b;
        a = b;
        b = rest;
    }
    return a;
}
static inline uint64_t c2_align_down(uint64_t v, uint64_t to) { return v & ~(to - 1); } /* to: power of two */
static inline uint64_t c2_align_up(uint64_t v, uint64_t to) { return (v + to - 1) & ~(to - 1); }

/* ------------------------------------------------------------------ allocation
 * All host memory of c2emu comes from here, so that a test can make the n-th allocation fail.
 * Sizes are bytes. c2_calloc zeroes. A NULL return means failure. c2_free takes NULL. */
void *c2_alloc(size_t bytes);
void *c2_calloc(size_t count, size_t bytes);
void *c2_realloc(void *old, size_t bytes);
char *c2_strdup(const char *text);
char *c2_format(const char *format, ...) __attribute__((format(printf, 1, 2))); /* caller frees with c2_free */
void c2_free(void *memory);
/* Room for one more element in an array of `count` elements of `bytes` each, of which *room fit; it grows by half.
 * false: no memory, and nothing has changed. */
bool c2_grow(void **array, uint32_t *room, uint32_t count, size_t bytes);
/* Lets a table of *room items of so many bytes reach the index, which it does not yet: to more than twice its room,
 * `least` items more. The new ones, from the old room on, are the caller's to fill. False: no memory, all is as it
 * was. */
bool c2_reach(void **table, uint32_t *room, uint32_t index, size_t bytes, uint32_t least);

/* Of the host, in bytes, with its swap space: what there is, and what is left. Both UINT64_MAX: Linux does not say. */
struct c2_host_memory {
    uint64_t all, left;
};
struct c2_host_memory c2_host_memory(void);

/* Test only: the n-th allocation from now (1 = the next) and every later one fails; 0 switches it off.
 * c2_alloc_count: allocations since the last call of c2_alloc_fail_from. */
void c2_alloc_fail_from(uint64_t n);
uint64_t c2_alloc_count(void);

/* From now on the heap lies in large pages, where the host has them (heap.c). For what touches megabytes of it. */
void c2_heap_large_pages(void);

/* ------------------------------------------------------------------ memory that is freed together
 * Begin with a zeroed struct c2_pool. What it gives fits any type and lives until the release; NULL: no memory. */
struct c2_pool {
    struct c2_pool_block *last;
};
void *c2_pool_get(struct c2_pool *pool, size_t bytes); /* zeroed */
char *c2_pool_format(struct c2_pool *pool, const char *format, ...) __attribute__((format(printf, 2, 3)));
char *c2_pool_format_list(struct c2_pool *pool, const char *format, va_list values);
void c2_pool_release(struct c2_pool *pool);

/* ------------------------------------------------------------------ seeded generators
 * xoshiro256** (Blackman & Vigna 2018), seeded by SplitMix64 from the master seed and the consumer's name:
 * each consumer has its own stream, so that adding one does not shift the others. */
struct c2_rng {
    uint64_t s[4];
};
void c2_rng_init(struct c2_rng *rng, uint64_t master_seed, const char *consumer);
uint64_t c2_rng_next(struct c2_rng *rng);
uint64_t c2_rng_below(struct c2_rng *rng, uint64_t limit); /* uniform in [0, limit), limit > 0, no modulo bias */
void c2_rng_fill(struct c2_rng *rng, void *out, size_t bytes);

/* FNV-1a, 64 bits (Fowler, Noll, Vo). Other bytes can have the same number. */
uint64_t c2_hash(const void *bytes, size_t count);

/* ------------------------------------------------------------------ hash map: uint64_t -> uint64_t
 * Open addressing; a list of it is by key (so no order of the table's own can leak into a report). */
struct c2_map;
enum c2_status c2_map_create(struct c2_map **out, struct c2_error *err);
void c2_map_destroy(struct c2_map *map);
bool c2_map_get(const struct c2_map *map, uint64_t key, uint64_t *value);
enum c2_status c2_map_put(struct c2_map *map, uint64_t key, uint64_t value, struct c2_error *err);
bool c2_map_remove(struct c2_map *map, uint64_t key); /* false: it was not there */
uint64_t c2_map_count(const struct c2_map *map);
/* All of it, ascending by key, for the caller to free. */
struct c2_pair {
    uint64_t key, value;
};
enum c2_status c2_map_list(struct c2_pair **out, const struct c2_map *map, struct c2_error *err);
void c2_map_check(const struct c2_map *map);          /* asserts its invariants, in time linear in its capacity */
void c2_map_dump(const struct c2_map *map, FILE *to); /* for debugging: the table in its own order */

/* ------------------------------------------------------------------ ordered trees
 * For things that lie at a key: struct c2_node is their first member. The tree owns nothing. Begin with a zeroed
 * struct c2_tree; lookups, insertions and removals cost time logarithmic in the number of nodes. */
struct c2_node {
    struct c2_node *left, *right;
    uint64_t key; /* set before insertion, then constant */
    uint64_t weight;
};
struct c2_tree {
    struct c2_node *root;
    size_t count;
    void (*summarize)(struct c2_node *node); /* or NULL: the node itself or what is below it changed */
    uint64_t draws;
    uint64_t *visits; /* or NULL: counts the nodes looked at, so that tests can hold the cost to its promise */
};
void c2_tree_insert(struct c2_tree *tree, struct c2_node *node);  /* no node has its key */
void c2_tree_remove(struct c2_tree *tree, struct c2_node *node);  /* it is in the tree */
void c2_tree_changed(struct c2_tree *tree, struct c2_node *node); /* what is summarized of it has changed */
struct c2_node *c2_tree_at_or_below(const struct c2_tree *tree, uint64_t key); /* the greatest key <= key, or NULL */
struct c2_node *c2_tree_above(const struct c2_tree *tree, uint64_t key);       /* the least key > key, or NULL */
struct c2_node *c2_tree_first(const struct c2_tree *tree);
void c2_tree_visit(const struct c2_tree *tree); /* for searches by the summaries: a node was looked at */
void c2_tree_check(const struct c2_tree *tree); /* asserts its invariants, in time linear in the number of nodes */

/* ------------------------------------------------------------------ numbers and names in text */

/* "64", "32K", "20M", "0x1000": sizes in bytes, K M G T = powers of 1024. */
enum c2_status c2_parse_size(uint64_t *out, const char *text, const char *what, struct c2_error *err);
/* Plain decimal or 0x number, no suffix. */
enum c2_status c2_parse_number(uint64_t *out, const char *text, const char *what, struct c2_error *err);

/* The same with k, M or G for powers of 1000, from least to 10^18: sums of a few do not overflow. */
enum c2_status c2_parse_count(uint64_t *out, const char *text, const char *what, uint64_t least, struct c2_error *err);

/* "1,234,567" into buffer (at least 32 bytes); returns buffer. */
char *c2_group_digits(char *buffer, uint64_t n);
/* "32 KiB", "1.25 MiB", "640 B" (exact: a fraction only when it has at most 3 digits, else bytes). */
char *c2_size_text(char *buffer, uint64_t bytes);

/* Text that grows in a buffer; what does not fit is cut. Begin with {buffer, its size, 0}. */
struct c2_words {
    char *buffer;
    size_t bytes, used;
};
void c2_say(struct c2_words *words, const char *format, ...) __attribute__((format(printf, 2, 3)));

/* The candidate nearest to name by edit distance, or NULL when none is near enough to suggest. */
const char *c2_nearest(const char *name, const char *const *candidates, size_t count);
/* Writes ` (did you mean "x"?)` or ` (known: a, b, c)` into buffer; returns buffer. */
char *c2_suggest(char *buffer, size_t bytes, const char *name, const char *const *candidates, size_t count);

/* ------------------------------------------------------------------ files that appear whole
 * Written to a file of the target's folder that has no name, and named by commit: a reader never sees half a file, a
 * full disk leaves the old file, and a killed process nothing. The path "-" is standard output. */
struct c2_outfile;
enum c2_status c2_outfile_open(struct c2_outfile **out, const char *path, struct c2_error *err);
/* The run reads the file of this name, if there is one: no output may replace it, by whatever name. C2_ERR_INVALID when
 * one that is open would; later ones are refused when they are opened or renamed. For the thread that opens files. */
enum c2_status c2_outfile_spare(const char *path, struct c2_error *err);
const char *c2_outfile_path(const struct c2_outfile *file); /* as it was opened, or renamed; lent like the stream */
FILE *c2_outfile_stream(struct c2_outfile *file);           /* lent until commit or abandon */
enum c2_status c2_outfile_commit(struct c2_outfile *file, struct c2_error *err); /* frees file either way */
/* Calls each for the folders of all that are open and have not got their name yet. */
/* In the child of a fork, while nothing is written: each file that is open becomes one of its own, empty and under
 * another name; name() states which, in memory that lives until the call is over, or NULL: then what is written to it
 * is lost. Before the fork every stream is flushed. */
enum c2_status c2_outfiles_rename(const char *(*name)(void *self, const char *path), void *self, struct c2_error *err);
void c2_outfile_folders(void (*each)(void *self, const char *folder), void *self);
void c2_outfile_abandon(struct c2_outfile *file); /* removes it; takes NULL */

/* ------------------------------------------------------------------ files in chunks: chunks.c has their bytes
 * The writer puts what a chunk is to have into content, behind its first C2_CHUNK_CHAIN bytes; the reader finds it
 * there. Bytes come from the file and go to it by the caller. */
static inline void c2_put_u32(uint8_t *to, uint32_t n) /* lowest byte first */
{
    for (int i = 0; i < 4; i++)
        to[i] = (uint8_t)(n >> 8 * i);
}
static inline uint32_t c2_get_u32(const uint8_t *from)
{
    return from[0] | (uint32_t)from[1] << 8 | (uint32_t)from[2] << 16 | (uint32_t)from[3] << 24;
}
#define C2_CHUNK_LENGTH 4u /* bytes in front of a frame */
#define C2_CHUNK_CHAIN 4u
struct c2_chunks {
    uint8_t *content; /* `most` bytes */
    uint8_t *packed;  /* writing: a whole chunk; reading: a frame */
    size_t most, room;
    uint32_t check; /* what the next chunk's content begins with */
    void *zstd;
    bool writes;
};
/* first: what the first content begins with. level: writing, of zstd. To be released in any case. */
enum c2_status c2_chunks_create(struct c2_chunks *out, bool writes, size_t most, uint32_t first, int level,
                                struct c2_error *err);
void c2_chunks_release(struct c2_chunks *chunks);
/* Writing: the first `count` bytes of content as a chunk, which is the first *out bytes of packed. */
enum c2_status c2_chunks_pack(size_t *out, struct c2_chunks *chunks, size_t count, struct c2_error *err);
/* Reading: how long the frame is that these bytes stand in front of, for packed; false: longer than any can be. */
bool c2_chunks_length(size_t *out, const struct c2_chunks *chunks, const uint8_t length[C2_CHUNK_LENGTH]);
/* The frame in packed has so many bytes: *out bytes of content, `least` or more, are there. Not NULL: why they are not,
 * as a part of a sentence. */
const char *c2_chunks_unpack(size_t *out, struct c2_chunks *chunks, size_t bytes, size_t least);

/* ------------------------------------------------------------------ files compressed by zstd, gzip or xz: packed.c */
enum c2_packing { C2_PLAIN, C2_ZSTD, C2_GZIP, C2_XZ };
enum c2_packing c2_packing_of(const char *path); /* by how the name ends: .zst, .gz, .xz */
size_t c2_unpacked_length(const char *path);     /* of the name without that ending */

struct c2_packer;
enum c2_status c2_packer_create(struct c2_packer **out, enum c2_packing packing, struct c2_error *err);
enum c2_status c2_packer_restart(struct c2_packer *packer, struct c2_error *err); /* what was packed is forgotten */
void c2_packer_destroy(struct c2_packer *packer);                                 /* takes NULL */
/* Packs more, and with `end` the last; goes to the file when there is enough of it. C2_ERR_IO: it could not be written,
 * the text is the reason. */
enum c2_status c2_pack(struct c2_packer *packer, FILE *to, const void *bytes, size_t count, bool end,
                       struct c2_error *err);

/* *out reads what the file has from where it is, uncompressed where its first bytes say that it is compressed. It is
 * the caller's to close, before the file, which is read ahead. c2_unpack_reason: why reading it failed, by errno. */
enum c2_status c2_unpack(FILE **out, FILE *from, struct c2_error *err);
const char *c2_unpack_reason(int error);

/* ------------------------------------------------------------------ libraries that are loaded when they are needed */
struct c2_library_function {
    const char *name;
    void **to;
};
struct c2_library {
    const char *what, *soname; /* what: of a message, "the engine's library" */
    void **handle;             /* NULL: not loaded yet */
    const struct c2_library_function *functions;
    size_t count;
};
/* Does nothing the second time; from any thread. The library stays loaded. Fails with C2_ERR_UNSUPPORTED where the host
 * has no such library, or one without these functions, whose name *err has. */
enum c2_status c2_library_load(const struct c2_library *library, struct c2_error *err);

/* ------------------------------------------------------------------ SHA-256, in hexadecimal as sha256sum prints it */
#define C2_SHA256_TEXT 65 /* characters of a hash, and a NUL */
struct c2_sha256;
enum c2_status c2_sha256_create(struct c2_sha256 **out, struct c2_error *err);
void c2_sha256_destroy(struct c2_sha256 *sum); /* takes NULL */
void c2_sha256_add(struct c2_sha256 *sum, const void *bytes, size_t count);
/* Of all that was added; more may be. */
enum c2_status c2_sha256_text(char out[C2_SHA256_TEXT], const struct c2_sha256 *sum, struct c2_error *err);
enum c2_status c2_sha256_bytes(char out[C2_SHA256_TEXT], const void *bytes, size_t count, struct c2_error *err);
/* The names in a directory, "." and ".." too, a line each in the host's order, as `ls -1Ua` prints them; *bytes: of
 * these lines. Errors as below. */
enum c2_status c2_sha256_names(char out[C2_SHA256_TEXT], uint64_t *bytes, int directory, struct c2_error *err);
/* All of a file that is open for reading, whatever its position, which stays. A file that cannot be read is C2_ERR_IO,
 * and the text is the reason. */
enum c2_status c2_sha256_file(char out[C2_SHA256_TEXT], uint64_t *bytes, int fd, struct c2_error *err);

/* ------------------------------------------------------------------ the limit on the size of files
 * From c2_file_limit_catch on, a write beyond RLIMIT_FSIZE fails with EFBIG and does not end the process.
 * c2_file_limit_hit: whether a call of this thread has met the limit since it last asked. */
void c2_file_limit_catch(void);
bool c2_file_limit_hit(void);

#endif

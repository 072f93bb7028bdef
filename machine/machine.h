/* SPDX-License-Identifier: GPL-2.0-or-later
 *
 * Machine files: an INI file becomes a checked struct caches_machine, and such a struct a file again. What may stand
 * in one is described by one table (keys.c), which docs/machine-files.md is held to.
 */
#ifndef C2_MACHINE_H
#define C2_MACHINE_H

#include "caches/caches_machine.h"

/* name_or_path: a preset's name (looked up as machines_dir/NAME.ini) or a path to an INI file (has a '/' or ends
 * in .ini). overrides: "L2.ways=4" ..., applied after the file, the last one of a key wins. Every rule is checked;
 * a failure names the file and line or the override, section, key and value, and the nearest valid name. On failure
 * *out is undefined. The keys are described in keys.c, the rules in rules.c and tlbs.c. */
enum c2_status machine_read(struct caches_machine *out, const char *name_or_path, const char *machines_dir,
                            const char *const *overrides, size_t override_count, struct c2_error *err);

/* A machine of one level, as courses write it down: 2^s sets of E lines of 2^b bytes, in a memory of 2^47 bytes. Lines
 * may be shorter than those of machine files, down to a byte: what simulates pages cannot have them, caches/ can.
 * C2_ERR_UNSUPPORTED names the number that is too large. */
struct machine_geometry {
    uint32_t set_bits, ways, block_bits;
    enum caches_policy policy; /* one of levels that works with any number of ways */
};
enum c2_status machine_of_geometry(struct caches_machine *out, const struct machine_geometry *geometry,
                                   struct c2_error *err);

/* The name of the processor that this runs on, as a machine. */
#define MACHINE_HOST "host"
/* From now on it is the machine of this file, whose path is copied; for all of the process. */
void machine_host_is(const char *path);
/* Its file, with where each number is from, for the caller to free(). */
enum c2_status machine_host_text(char **out, const char *machines_dir, struct c2_error *err);

/* The presets of a directory: NAME of every NAME.ini in it, sorted. The caller ends them with machine_names_free(),
 * which takes NULL. A directory that cannot be read is C2_ERR_NOT_FOUND. */
enum c2_status machine_names(char ***out, size_t *count, const char *machines_dir, struct c2_error *err);
void machine_names_free(char **names, size_t count);

/* The machine as a file that machine_read() makes the same machine of, with the values of all keys; a base-sequence
 * file is named by its absolute path. Errors of the stream are for the caller to look at. */
void machine_write(FILE *to, const struct caches_machine *machine);

/* The table of keys in Markdown, kind of section by kind of section: key, values, what is taken when it is left out. */
void machine_write_keys(FILE *to);

#endif

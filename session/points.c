/* SPDX-License-Identifier: GPL-2.0-or-later
 *
 * points: `c2emu points`.
 *
 * Model
 *   The run is cut into intervals of equal length, the last one shorter. Of each it is counted how many instructions of
 *   each block were executed; blocks are known by their first address and numbered as they are met. So come the
 *   intervals of another run, from a file. When all are there the points are chosen.
 * Counting
 *   Lengths are instructions of the guest, exact: a block that an interval's end cuts is counted on both sides, and
 *   its rest is a block that starts there.
 * Invariants
 *   The instructions of an interval's blocks are those of the interval.
 */
#include <errno.h>
#include <inttypes.h>
#include <string.h>

#include "session/session_priv.h"
#include "points/points.h"

struct session_points {
    const struct session_options *options;
    char *name; /* of the files, without their endings */
    struct c2_outfile *points, *weights, *vectors_to;
    struct points_vectors *vectors;
    struct session_progress *progress;
    struct emu *emu;
    struct c2_map *id_of; /* first address of a block -> its number - 1 */
    uint64_t *executed;   /* [id - 1]: instructions in this interval */
    struct points_entry *entries;
    uint32_t blocks, executed_room, entries_room;
    uint64_t start;        /* of the interval */
    uint64_t counted;      /* instructions of it */
    enum c2_status status; /* a failure amid the run is told at its end */
    struct c2_error error;
};

/* ------------------------------------------------------------------ life */

/* That of the file, without its directory and what of the ending says only that there are vectors in it. */
static char *points_name_of(const char *path)
{
    const char *slash = strrchr(path, '/'), *name = slash ? slash + 1 : path, *dot = strrchr(name, '.');
    const bool vectors = dot && dot != name && (strcmp(dot, ".bb") == 0 || strcmp(dot, ".bbv") == 0);
    return c2_format("%.*s", (int)(vectors ? (size_t)(dot - name) : strlen(name)), name);
}

/* Of two files with one name the one that is finished last would take the other's place. */
static enum c2_status check_vectors_elsewhere(const struct session_points *points, const char *name,
                                              struct c2_error *err)
{
    const char *directory = points->options->output_dir, *vectors_to = points->options->points.vectors_to;
    char *path = directory ? c2_format("%s/%s", directory, name) : c2_strdup(name);
    if (!path)
        return c2_fail_memory(err, "a name of a file");
    const bool same = vectors_to && strcmp(path, vectors_to) == 0;
    c2_free(path);
    return same ? c2_fail(err, C2_ERR_INVALID, "--bbv %s: points writes that file itself; give the vectors another",
                          vectors_to)
                : C2_OK;
}

static enum c2_status points_open_file(struct c2_outfile **out, const struct session_points *points, const char *ending,
                                       struct c2_error *err)
{
    char *name = c2_format("%s%s", points->name, ending);
    enum c2_status status = name ? check_vectors_elsewhere(points, name, err) : c2_fail_memory(err, "a name of a file");
    if (status == C2_OK)
        status = session_outputs_open_in(out, points->options->output_dir, name, err);
    c2_free(name);
    return status;
}

static enum c2_status open_files(struct session_points *points, struct c2_error *err)
{
    const char *vectors_to = points->options->points.vectors_to;
    enum c2_status status = points_open_file(&points->points, points, ".simpoints", err);
    if (status == C2_OK)
        status = points_open_file(&points->weights, points, ".weights", err);
    if (status == C2_OK && vectors_to)
        status = c2_outfile_open(&points->vectors_to, vectors_to, err);
    return status;
}

enum c2_status session_points_create(struct session_points **out, const struct session_options *options,
                                     struct session_progress *progress, struct c2_error *err)
{
    const struct session_points_asked *asked = &options->points;
    struct session_points *points = *out = c2_calloc(1, sizeof *points);
    if (!points)
        return c2_fail_memory(err, "the intervals");
    points->options = options;
    points->progress = progress;
    points->name = points_name_of(asked->vectors_from ? asked->vectors_from : options->command[0]);
    enum c2_status status = points->name ? C2_OK : c2_fail_memory(err, "a name of a file");
    if (status == C2_OK)
        status = points_vectors_create(&points->vectors, (uint32_t)asked->dimensions, options->seed, err);
    if (status == C2_OK)
        status = c2_map_create(&points->id_of, err);
    return status == C2_OK ? open_files(points, err) : status;
}

void session_points_destroy(struct session_points *points)
{
    if (!points)
        return;
    c2_outfile_abandon(points->points);
    c2_outfile_abandon(points->weights);
    c2_outfile_abandon(points->vectors_to);
    points_vectors_destroy(points->vectors);
    c2_map_destroy(points->id_of);
    c2_free(points->executed);
    c2_free(points->entries);
    c2_free(points->name);
    c2_free(points);
}

/* ------------------------------------------------------------------ intervals of the run */

void session_points_count(struct session_points *points, struct emu *emu) { points->emu = emu; }

static enum c2_status points_new_block(struct session_points *points, uint64_t pc, struct c2_error *err)
{
    if (!c2_grow((void **)&points->executed, &points->executed_room, points->blocks, sizeof *points->executed) ||
        !c2_grow((void **)&points->entries, &points->entries_room, points->blocks, sizeof *points->entries))
        return c2_fail_memory(err, "the blocks of the program");
    points->executed[points->blocks] = 0;
    return c2_map_put(points->id_of, pc, points->blocks++, err);
}

static void take_executed(void *self, struct guest_va pc, uint64_t instructions)
{
    struct session_points *points = self;
    uint64_t id = points->blocks;
    if (points->status == C2_OK && !c2_map_get(points->id_of, pc.v, &id))
        points->status = points_new_block(points, pc.v, &points->error);
    points->counted += instructions;
    if (points->status == C2_OK)
        points->executed[id] += instructions;
}

/* The blocks that were executed, by their numbers. Returns how many. */
static size_t list_entries(struct session_points *points)
{
    size_t count = 0;
    for (uint32_t i = 0; i < points->blocks; i++) {
        if (points->executed[i] != 0)
            points->entries[count++] = (struct points_entry){.id = i + 1, .instructions = points->executed[i]};
        points->executed[i] = 0;
    }
    return count;
}

static void end_interval(struct session_points *points, uint64_t now)
{
    points->counted = 0;
    emu_take_executed(points->emu, take_executed, points);
    C2_ASSERT(points->counted == now - points->start);
    points->start = now;
    if (points->status != C2_OK)
        return;
    const size_t count = list_entries(points);
    if (points->vectors_to)
        points_write_vector(c2_outfile_stream(points->vectors_to), points->entries, count);
    points->status = points_vectors_add(points->vectors, points->entries, count, &points->error);
}

struct emu_phase session_points_next(void *self, uint64_t now, const struct watch_part *part)
{
    (void)part;
    struct session_points *points = self;
    if (now != points->start)
        end_interval(points, now);
    if (points->progress)
        session_progress_tick(points->progress, now);
    return (struct emu_phase){.phase = STREAM_SKIP, .instructions = points->options->points.interval};
}

/* ------------------------------------------------------------------ the points */

/* length: of an interval, instructions; 0: not known. */
static void points_write_point(FILE *to, const struct points_point *point, uint64_t length)
{
    char first[32];
    fprintf(to, "  %8" PRIu64, point->interval);
    if (length != 0)
        fprintf(to, "  %17s", c2_group_digits(first, point->interval * length));
    fprintf(to, "  %8.6f  %" PRIu64 " interval%s\n", point->weight, point->intervals, point->intervals == 1 ? "" : "s");
}

static void points_write_text(FILE *to, const struct session_points *points, const struct points_list *list)
{
    char digits[32];
    const struct session_options *options = points->options;
    const uint64_t length = options->points.vectors_from ? 0 : options->points.interval;
    fprintf(to, "points      %" PRIu32 " of %" PRIu32 " intervals", list->count, points_vectors_count(points->vectors));
    if (length != 0)
        fprintf(to, " of %s instructions", c2_group_digits(digits, length));
    fprintf(to, "\n\n  interval  %s  weight  stands for\n", length != 0 ? "first instruction  " : "");
    for (uint32_t i = 0; i < list->count; i++)
        points_write_point(to, &list->points[i], length);
    if (length != 0)
        fprintf(to, "\nto measure them: --points %s%s%s.simpoints --interval %" PRIu64 "\n",
                options->output_dir ? options->output_dir : "", options->output_dir ? "/" : "", points->name, length);
}

static enum c2_status points_commit(struct c2_outfile **file, struct c2_error *err)
{
    struct c2_outfile *whole = *file;
    *file = NULL; /* gone either way */
    return whole ? c2_outfile_commit(whole, err) : C2_OK;
}

static enum c2_status write_files(struct session_points *points, const struct points_list *list, struct c2_error *err)
{
    points_write_points(c2_outfile_stream(points->points), list);
    points_write_weights(c2_outfile_stream(points->weights), list);
    enum c2_status status = points_commit(&points->vectors_to, err);
    if (status == C2_OK)
        status = points_commit(&points->weights, err);
    return status == C2_OK ? points_commit(&points->points, err) : status;
}

static enum c2_status cli_points_choose(struct session_points *points, struct c2_error *err)
{
    const struct session_options *options = points->options;
    struct points_list list;
    if (points_vectors_count(points->vectors) == 0)
        return c2_fail(err, C2_ERR_INVALID, "there is no interval: nothing was executed");
    enum c2_status status = points_choose(&list, points->vectors, (uint32_t)options->points.max_k, options->seed, err);
    if (status != C2_OK)
        return status;
    status = write_files(points, &list, err);
    if (status == C2_OK && !options->quiet)
        points_write_text(stderr, points, &list);
    points_list_release(&list);
    return status;
}

enum c2_status session_points_finish(struct session_points *points, struct c2_error *err)
{
    const uint64_t now = emu_instructions(points->emu);
    if (now != points->start)
        end_interval(points, now);
    if (points->status == C2_OK)
        return cli_points_choose(points, err);
    *err = points->error;
    return points->status;
}

/* ------------------------------------------------------------------ intervals of a file */

static enum c2_status take_vector(void *self, const struct points_entry *entries, size_t count, struct c2_error *err)
{
    struct session_points *points = self;
    return points_vectors_add(points->vectors, entries, count, err);
}

static enum c2_status points_read_file(struct session_points *points, const char *path, struct c2_error *err)
{
    FILE *from = fopen(path, "re");
    if (!from)
        return c2_fail(err, C2_ERR_IO, "cannot read %s: %m", path);
    enum c2_status status = c2_outfile_spare(path, err);
    if (status == C2_OK)
        status = points_read_vectors(from, path, take_vector, points, err);
    fclose(from);
    if (status == C2_OK && points_vectors_count(points->vectors) == 0)
        return c2_fail(err, C2_ERR_FORMAT, "%s has no frequency vector, a line such as T:5:30 :7:12", path);
    return status;
}

int session_points_from_file(const struct session_options *options)
{
    struct c2_error err;
    struct session_points *points;
    enum c2_status status = session_points_create(&points, options, NULL, &err);
    if (status == C2_OK)
        status = points_read_file(points, options->points.vectors_from, &err);
    if (status == C2_OK)
        status = cli_points_choose(points, &err);
    session_points_destroy(points);
    if (status == C2_OK)
        return 0;
    fprintf(stderr, "c2emu: %s\n", err.text);
    return SESSION_EXIT_FAILED;
}

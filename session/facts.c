/* SPDX-License-Identifier: GPL-2.0-or-later
 *
 * facts: what a recording says of its run, beside the stream: its writers and readers.
 *
 * Model
 *   At the start: the c2emu that wrote it, the program, its command, the seed, the clock where one was given, the
 *   length of samples and of a thread's turn, the functions whose arguments are marked, and what of a machine the guest
 *   could see (struct mmu_guest_config). At the end: how the run
 *   ended and how long it was, its phases, and the files with code that were mapped, by their content. A list has a
 *   fact for each element, "command.0" and so on.
 *   Names in a report come from those files when it is played. One that is another by then would give wrong names, so
 *   it is refused; one that is gone gives none.
 */
#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "session/session_priv.h"

/* ------------------------------------------------------------------ writing */

static void facts_add(struct session_facts *facts, const char *name, const char *format, ...)
    __attribute__((format(printf, 3, 4)));

/* name: a text that outlives the facts; what is added without memory shows in facts->lost. */
static void facts_add(struct session_facts *facts, const char *name, const char *format, ...)
{
    va_list values;
    va_start(values, format);
    const char *value = c2_pool_format_list(&facts->texts, format, values);
    va_end(values);
    if (!name || !value || !c2_grow((void **)&facts->list, &facts->room, facts->count, sizeof *facts->list))
        facts->lost = true;
    else
        facts->list[facts->count++] = (struct stream_fact){name, value};
}

static const char *numbered(struct session_facts *facts, const char *name, size_t number)
{
    return c2_pool_format(&facts->texts, "%s.%zu", name, number);
}

static enum c2_status added(const struct session_facts *facts, struct c2_error *err)
{
    return facts->lost ? c2_fail_memory(err, "what a recording says of its run") : C2_OK;
}

/* Instructions of one; 0: there are none that are told by themselves. */
static uint64_t sample_of(const struct session_options *options)
{
    const uint64_t length = options->sampling.points ? options->points.interval : options->sampling.measure;
    return session_regions_asked(&options->regions) ? 0 : length;
}

enum c2_status session_facts_start(struct session_facts *facts, const struct session_options *options,
                                   const char *program, const struct mmu_guest_config *guest,
                                   const struct session_plan *plan, struct c2_error *err)
{
    char clock[SESSION_CLOCK_BYTES];
    facts_add(facts, "c2emu", "%s", C2_VERSION);
    facts_add(facts, "program", "%s", program);
    for (size_t i = 0; options->command[i]; i++)
        facts_add(facts, numbered(facts, "command", i), "%s", options->command[i]);
    facts_add(facts, "seed", "%" PRIu64, options->seed);
    session_clock_text(clock, options->clock_start);
    if (options->clock_set)
        facts_add(facts, "clock", "%s", clock);
    facts_add(facts, "measure", "%" PRIu64, sample_of(options));
    facts_add(facts, "quantum", "%" PRIu64, session_turn(options, plan->processors));
    for (size_t i = 0; i < plan->contexts.function_count; i++)
        facts_add(facts, numbered(facts, "arguments", i), "%s", plan->contexts.functions[i].name);
    facts_add(facts, "guest.memory", "%" PRIu64, guest->guest_bytes);
    facts_add(facts, "guest.heap_pages", "%u", (unsigned)guest->heap_page);
    facts_add(facts, "guest.tells_writes", "%u", (unsigned)guest->tells_writes);
    return added(facts, err);
}

/* "HASH PATH" of each; a file is mapped in several areas. One that cannot be read now is not said. */
static void facts_add_files(struct session_facts *facts, const struct mmu_areas *areas)
{
    const struct mmu_area *area = mmu_area_at(areas, (struct guest_va){0}, true);
    size_t count = 0;
    for (; area; area = mmu_area_at(areas, (struct guest_va){area->start.v + area->bytes}, true)) {
        char hash[C2_SHA256_TEXT];
        if (area->path && area->prot & MMU_EXEC && session_facts_hash(hash, area->path))
            facts_add(facts, numbered(facts, "file", count++), "%s %s", hash, area->path);
    }
}

static void facts_add_phases(struct session_facts *facts, const struct report_run *run)
{
    for (size_t i = 0; i < run->phase_count; i++)
        facts_add(facts, numbered(facts, "phase", i), "%u %" PRIu64 " %u", (unsigned)run->phases[i].kind,
                  run->phases[i].instructions, run->phases[i].region);
}

static void facts_add_start(struct session_facts *facts, const struct report_run *run)
{
    if (run->start)
        facts_add(facts, "start", "1");
}

/* One for each phase that was measured. */
static void add_weights(struct session_facts *facts, const struct report_run *run)
{
    size_t count = 0;
    for (size_t i = 0; i < run->phase_count && run->weights; i++) {
        if (run->phases[i].kind != STREAM_MEASURE)
            continue;
        facts_add(facts, numbered(facts, "weight", count), "%a", run->weights[count]);
        count++;
    }
}

static void facts_add_regions(struct session_facts *facts, const struct report_run *run)
{
    for (size_t i = 0; i < run->region_count; i++) {
        const struct report_region *region = &run->regions[i];
        facts_add(facts, numbered(facts, "region", i), "%" PRIu64 " %" PRIu64 " %" PRIu64, region->begun,
                  region->instructions, region->measured);
        facts_add(facts, numbered(facts, "region_asked", i), "%s", region->asked);
        facts_add(facts, numbered(facts, "region_name", i), "%s", region->name);
    }
}

enum c2_status session_facts_end(struct session_facts *facts, const struct report_run *run,
                                 const struct mmu_areas *areas, struct c2_error *err)
{
    facts->count = 0; /* those of the start are written */
    facts_add(facts, "exit_status", "%d", run->exit_status);
    if (run->ending)
        facts_add(facts, "ending", "%s", run->ending);
    facts_add(facts, "instructions", "%" PRIu64, run->instructions);
    facts_add(facts, "lost_pages", "%" PRIu64, run->lost_pages);
    facts_add_phases(facts, run);
    facts_add_start(facts, run);
    add_weights(facts, run);
    facts_add_regions(facts, run);
    facts_add_files(facts, areas);
    return added(facts, err);
}

void session_facts_release(struct session_facts *facts)
{
    c2_free(facts->list);
    c2_pool_release(&facts->texts);
    *facts = (struct session_facts){.list = NULL};
}

bool session_facts_hash(char out[C2_SHA256_TEXT], const char *path)
{
    uint64_t bytes;
    const int fd = open(path, O_RDONLY | O_CLOEXEC);
    if (fd < 0)
        return false;
    const bool known = c2_sha256_file(out, &bytes, fd, NULL) == C2_OK;
    close(fd);
    return known;
}

/* ------------------------------------------------------------------ reading */

static enum c2_status fail_fact(const char *name, struct c2_error *err)
{
    return c2_fail(err, C2_ERR_FORMAT,
                   "the recording does not say \"%s\" of its run, or not as c2emu does: record the run again with "
                   "--record",
                   name);
}

static enum c2_status facts_take_number(uint64_t *out, struct stream_recording *recording, const char *name,
                                        uint64_t limit, struct c2_error *err)
{
    const char *text = stream_recording_fact(recording, name);
    if (!text || c2_parse_number(out, text, name, NULL) != C2_OK || *out > limit)
        return fail_fact(name, err);
    return C2_OK;
}

static const char *element(struct stream_recording *recording, const char *name, size_t number)
{
    char numbered_name[40];
    snprintf(numbered_name, sizeof numbered_name, "%s.%zu", name, number);
    return stream_recording_fact(recording, numbered_name);
}

static size_t elements(struct stream_recording *recording, const char *name)
{
    size_t count = 0;
    while (element(recording, name, count))
        count++;
    return count;
}

static enum c2_status take_command(struct session_told *told, struct stream_recording *recording, struct c2_error *err)
{
    const size_t count = elements(recording, "command");
    told->program = stream_recording_fact(recording, "program");
    if (!told->program || count == 0)
        return fail_fact(!told->program ? "program" : "command", err);
    told->command = c2_calloc(count + 1, sizeof *told->command);
    if (!told->command)
        return c2_fail_memory(err, "the command of a recorded run");
    for (size_t i = 0; i < count; i++)
        told->command[i] = element(recording, "command", i);
    return C2_OK;
}

enum c2_status session_told_start(struct session_told *told, struct stream_recording *recording, struct c2_error *err)
{
    uint64_t pages, writes;
    enum c2_status status = take_command(told, recording, err);
    if (status == C2_OK)
        status = facts_take_number(&told->seed, recording, "seed", UINT64_MAX, err);
    if (status == C2_OK)
        status = facts_take_number(&told->measure, recording, "measure", UINT64_MAX, err);
    if (status == C2_OK)
        status = facts_take_number(&told->guest.guest_bytes, recording, "guest.memory", UINT64_MAX, err);
    if (status == C2_OK)
        status = facts_take_number(&pages, recording, "guest.heap_pages", MMU_PAGE_SIZES - 1, err);
    if (status == C2_OK)
        status = facts_take_number(&writes, recording, "guest.tells_writes", 1, err);
    if (status != C2_OK)
        return status;
    told->clock = stream_recording_fact(recording, "clock");
    if (stream_recording_fact(recording, "quantum"))
        status = facts_take_number(&told->quantum, recording, "quantum", UINT64_MAX, err);
    told->guest.heap_page = (enum mmu_page_size)pages;
    told->guest.tells_writes = writes;
    return status;
}

/* So many numbers in decimal, a space between two. */
static bool take_row(uint64_t *out, size_t count, const char *text)
{
    int used = 0;
    for (size_t i = 0; i < count; i++, text += used)
        if ((i != 0 && *text++ != ' ') || text[0] < '0' || text[0] > '9' ||
            sscanf(text, "%" SCNu64 "%n", &out[i], &used) != 1)
            return false;
    return *text == '\0';
}

static enum c2_status take_phases(struct session_told *told, struct stream_recording *recording, struct c2_error *err)
{
    const size_t count = elements(recording, "phase");
    told->phases = count == 0 ? NULL : c2_calloc(count, sizeof *told->phases);
    if (count != 0 && !told->phases)
        return c2_fail_memory(err, "the phases of a recorded run");
    for (; told->phase_count < count; told->phase_count++) {
        uint64_t row[3];
        if (!take_row(row, 3, element(recording, "phase", told->phase_count)) || row[0] > STREAM_SKIP ||
            row[2] > told->region_count)
            return fail_fact("phase", err);
        told->phases[told->phase_count] = (struct report_phase){
            .kind = (enum stream_phase)row[0], .instructions = row[1], .region = (uint32_t)row[2]};
    }
    return C2_OK;
}

static enum c2_status take_regions(struct session_told *told, struct stream_recording *recording, struct c2_error *err)
{
    const size_t count = elements(recording, "region");
    told->regions = count == 0 ? NULL : c2_calloc(count, sizeof *told->regions);
    if (count != 0 && !told->regions)
        return c2_fail_memory(err, "the regions of a recorded run");
    for (; told->region_count < count; told->region_count++) {
        uint64_t row[3];
        const size_t i = told->region_count;
        const char *asked = element(recording, "region_asked", i), *name = element(recording, "region_name", i);
        if (!take_row(row, 3, element(recording, "region", i)) || !asked || !name)
            return fail_fact("region", err);
        told->regions[i] = (struct report_region){asked, name, row[0], row[1], row[2]};
    }
    return C2_OK;
}

/* Not said: there is none. It is the first phase. */
static enum c2_status facts_take_start(struct session_told *told, struct stream_recording *recording,
                                       struct c2_error *err)
{
    uint64_t start = 0;
    if (stream_recording_fact(recording, "start") && facts_take_number(&start, recording, "start", 1, err) != C2_OK)
        return C2_ERR_FORMAT;
    told->start = start;
    return start && (told->phase_count == 0 || told->phases[0].kind != STREAM_MEASURE) ? fail_fact("start", err)
                                                                                       : C2_OK;
}

/* None, or one for each phase that was measured. */
static enum c2_status take_weights(struct session_told *told, struct stream_recording *recording, struct c2_error *err)
{
    const size_t count = elements(recording, "weight");
    size_t measured = 0;
    for (size_t i = 0; i < told->phase_count; i++)
        measured += told->phases[i].kind == STREAM_MEASURE;
    if (count == 0)
        return C2_OK;
    told->weights = c2_calloc(count, sizeof *told->weights);
    if (!told->weights)
        return c2_fail_memory(err, "the weights of a recorded run");
    for (size_t i = 0; i < count; i++) {
        char *end;
        const char *text = element(recording, "weight", i);
        told->weights[i] = strtod(text, &end);
        if (*end != '\0' || !(told->weights[i] > 0 && told->weights[i] <= 2) || count != measured)
            return fail_fact("weight", err);
    }
    return C2_OK;
}

enum c2_status session_told_end(struct session_told *told, struct stream_recording *recording, struct c2_error *err)
{
    enum c2_status status = facts_take_number(&told->exit_status, recording, "exit_status", 255, err);
    if (status == C2_OK)
        status = facts_take_number(&told->instructions, recording, "instructions", UINT64_MAX, err);
    if (status == C2_OK)
        status = facts_take_number(&told->lost_pages, recording, "lost_pages", UINT64_MAX, err);
    told->ending = stream_recording_fact(recording, "ending");
    if (status == C2_OK)
        status = take_regions(told, recording, err);
    if (status == C2_OK)
        status = take_phases(told, recording, err);
    if (status == C2_OK)
        status = facts_take_start(told, recording, err);
    return status == C2_OK ? take_weights(told, recording, err) : status;
}

enum c2_status session_told_check_files(struct stream_recording *recording, FILE *to, struct c2_error *err)
{
    const char *text;
    for (size_t i = 0; (text = element(recording, "file", i)); i++) {
        char hash[C2_SHA256_TEXT];
        const size_t length = C2_SHA256_TEXT - 1;
        if (strlen(text) <= length + 1 || text[length] != ' ')
            return fail_fact("file", err);
        const char *path = text + length + 1;
        if (!session_facts_hash(hash, path))
            fprintf(to, "c2emu: %s cannot be read (%s): the report has no names and no variables of it\n", path,
                    strerror(errno));
        else if (strncmp(hash, text, length) != 0)
            return c2_fail(err, C2_ERR_FORMAT,
                           "%s is another file than the one that was recorded, and its names would be wrong: put the "
                           "old one back, record the run again, or leave names out with --no-attribution",
                           path);
    }
    return C2_OK;
}

static uint32_t recorded_number(struct stream_recording *recording, const char *function)
{
    const char *text;
    for (uint32_t i = 0; (text = element(recording, "arguments", i)); i++)
        if (strcmp(text, function) == 0)
            return i;
    return UINT32_MAX;
}

enum c2_status session_told_contexts(struct session_contexts *contexts, struct stream_recording *recording,
                                     const char *name, struct c2_error *err)
{
    for (uint32_t i = 0; i < contexts->separation.parameter_count; i++) {
        struct analyses_parameter *parameter = &contexts->parameters[i];
        const char *function = contexts->functions[parameter->function].name;
        parameter->function = recorded_number(recording, function);
        if (parameter->function >= ANALYSES_ARGUED)
            return c2_fail(err, C2_ERR_INVALID,
                           "--separate-par %s: %s does not say what %s was called with: record the run with it, c2emu "
                           "--record FILE --separate-par %s ...",
                           parameter->asked, name, function, parameter->asked);
    }
    return C2_OK;
}

void session_told_release(struct session_told *told)
{
    c2_free(told->command);
    c2_free(told->phases);
    c2_free(told->weights);
    c2_free(told->regions);
}

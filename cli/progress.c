/* SPDX-License-Identifier: GPL-2.0-or-later
 *
 * progress: what depends on the host's clock - the progress line and --stats. None of it is in a report.
 */
#include <inttypes.h>
#include <sys/resource.h>
#include <time.h>
#include <unistd.h>

#include "cli/cli_priv.h"

#define QUIET_NS 2000000000ull /* a program that ends sooner shows no progress on a terminal */
#define STEP_NS 500000000ull

static uint64_t now_ns(void)
{
    struct timespec now;
    clock_gettime(CLOCK_MONOTONIC, &now);
    return (uint64_t)now.tv_sec * 1000000000u + (uint64_t)now.tv_nsec;
}

/* Instructions a microsecond = millions a second. */
static uint64_t mips(const struct cli_progress *progress, uint64_t instructions, uint64_t now)
{
    uint64_t elapsed_us = (now - progress->start_ns) / 1000;
    return elapsed_us == 0 ? 0 : instructions / elapsed_us;
}

void cli_progress_start(struct cli_progress *progress, const char *phase)
{
    uint64_t now = now_ns();
    *progress = (struct cli_progress){
        .terminal = isatty(STDERR_FILENO), .phase = phase, .start_ns = now, .last_ns = now};
    if (progress->terminal)
        progress->last_ns += QUIET_NS - STEP_NS;
}

/* ", 40 s left", if the rest goes as fast as what is done. */
static void say_rest(struct c2_words *words, const struct cli_progress *progress, uint64_t instructions, uint64_t now)
{
    if (instructions == 0 || instructions >= progress->whole)
        return;
    const double per_second = 1e9 * (double)instructions / (double)(now - progress->start_ns);
    const double left = (double)(progress->whole - instructions) / per_second;
    if (left < 100)
        c2_say(words, ", %.0f s left", left);
    else if (left < 100 * 60)
        c2_say(words, ", %.0f min left", left / 60);
    else
        c2_say(words, ", %.0f h left", left / 3600);
}

void cli_progress_tick(void *self, uint64_t instructions)
{
    struct cli_progress *progress = self;
    uint64_t now = now_ns();
    if (now < progress->last_ns + STEP_NS)
        return;
    progress->last_ns = now;
    progress->shown = true;
    char count[32], text[256];
    struct c2_words words = {text, sizeof text, 0};
    c2_say(&words, "c2emu: %s: %s", progress->phase, c2_group_digits(count, instructions));
    if (instructions < progress->whole)
        c2_say(&words, " of %s", c2_group_digits(count, progress->whole));
    c2_say(&words, " instructions, %" PRIu64 " M/s", mips(progress, instructions, now));
    say_rest(&words, progress, instructions, now);
    fprintf(stderr, "%s%s%s", progress->terminal ? "\r\033[K" : "", text, progress->terminal ? "" : "\n");
}

void cli_progress_clear(struct cli_progress *progress)
{
    if (progress->shown && progress->terminal)
        fputs("\r\033[K", stderr);
    progress->shown = false;
}

void cli_stats(const struct cli_progress *progress, uint64_t instructions)
{
    uint64_t now = now_ns(), elapsed_ms = (now - progress->start_ns) / 1000000;
    struct rusage usage = {0};
    getrusage(RUSAGE_SELF, &usage);
    char count[32];
    fprintf(stderr, "c2emu: %" PRIu64 ".%03u s, %s instructions, %" PRIu64 " M/s, peak memory %ld MiB\n",
            elapsed_ms / 1000, (unsigned)(elapsed_ms % 1000), c2_group_digits(count, instructions),
            mips(progress, instructions, now), usage.ru_maxrss / 1024);
}

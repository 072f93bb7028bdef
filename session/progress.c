/* SPDX-License-Identifier: GPL-2.0-or-later
 *
 * progress: what depends on the host's clock - the progress line and --stats. None of it is in a report.
 */
#include <inttypes.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

#include "session/session_priv.h"

#define QUIET_NS 2000000000ull /* a program that ends sooner shows no progress on a terminal */
#define STEP_NS 500000000ull
#define LEAST_BYTES (8 << 20) /* of a file, so that what is read ahead of it is little */

static uint64_t now_ns(void)
{
    struct timespec now;
    clock_gettime(CLOCK_MONOTONIC, &now);
    return (uint64_t)now.tv_sec * 1000000000u + (uint64_t)now.tv_nsec;
}

/* Instructions a microsecond = millions a second. */
static uint64_t mips(const struct session_progress *progress, uint64_t instructions, uint64_t now)
{
    uint64_t elapsed_us = (now - progress->start_ns) / 1000;
    return elapsed_us == 0 ? 0 : (instructions - progress->base) / elapsed_us;
}

void session_progress_start(struct session_progress *progress, const char *phase)
{
    uint64_t now = now_ns();
    *progress = (struct session_progress){
        .terminal = isatty(STDERR_FILENO), .phase = phase, .start_ns = now, .last_ns = now};
    if (progress->terminal)
        progress->last_ns += QUIET_NS - STEP_NS;
}

/* What is done of all that is to be; 0: not known. */
static double progress_share_of(const struct session_progress *progress, uint64_t instructions)
{
    if (progress->whole <= progress->base)
        return progress->share;
    return (double)(instructions - progress->base) / (double)(progress->whole - progress->base);
}

/* ", 40 s left", if the rest goes as fast as what is done. */
static void say_rest(struct c2_words *words, const struct session_progress *progress, uint64_t instructions,
                     uint64_t now)
{
    const double seconds = (double)(now - progress->start_ns) / 1e9, done = progress_share_of(progress, instructions);
    if (done <= 0 || done >= 1)
        return;
    const double left = seconds * (1 - done) / done;
    if (left < 100)
        c2_say(words, ", %.0f s left", left);
    else if (left < 100 * 60)
        c2_say(words, ", %.0f min left", left / 60);
    else
        c2_say(words, ", %.0f h left", left / 3600);
}

void session_progress_tick(void *self, uint64_t instructions)
{
    struct session_progress *progress = self;
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

void session_progress_tick_file(struct session_progress *progress, uint64_t instructions, FILE *file)
{
    struct stat st;
    if (now_ns() < progress->last_ns + STEP_NS)
        return;
    const off_t at = ftello(file);
    const bool known = at > 0 && fstat(fileno(file), &st) == 0 && S_ISREG(st.st_mode) && st.st_size >= LEAST_BYTES;
    progress->share = known ? (double)at / (double)st.st_size : 0;
    session_progress_tick(progress, instructions);
}

bool session_progress_wanted(const struct session_options *options)
{
    return options->progress || (isatty(STDERR_FILENO) && !options->quiet);
}

void session_progress_clear(void *self)
{
    struct session_progress *progress = self;
    if (progress->shown && progress->terminal)
        fputs("\r\033[K", stderr);
    progress->shown = false;
}

void session_stats(const struct session_progress *progress, uint64_t instructions)
{
    uint64_t now = now_ns(), elapsed_ms = (now - progress->start_ns) / 1000000;
    struct rusage usage = {0};
    getrusage(RUSAGE_SELF, &usage);
    char count[32];
    fprintf(stderr, "c2emu: %" PRIu64 ".%03u s, %s instructions, %" PRIu64 " M/s, peak memory %ld MiB\n",
            elapsed_ms / 1000, (unsigned)(elapsed_ms % 1000), c2_group_digits(count, instructions),
            mips(progress, instructions, now), usage.ru_maxrss / 1024);
}

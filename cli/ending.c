/* SPDX-License-Identifier: GPL-2.0-or-later
 *
 * ending: how a guest ended, as an exit status and in words.
 */
#include <inttypes.h>
#include <signal.h>
#include <stdarg.h>
#include <string.h>

#include "cli/cli_priv.h"

int cli_exit_status(const struct emu_end *end, int interrupting_signal)
{
    switch (end->kind) {
    case EMU_EXITED: return end->status;
    case EMU_KILLED: return CLI_EXIT_SIGNAL + end->signal;
    case EMU_INTERRUPTED: return CLI_EXIT_SIGNAL + interrupting_signal;
    case EMU_REFUSED:
    case EMU_FAILED: break;
    }
    return CLI_EXIT_FAILED;
}

int cli_load_status(enum c2_status status)
{
    switch (status) {
    case C2_ERR_NOT_FOUND: return CLI_EXIT_NOT_FOUND;
    case C2_ERR_DENIED:
    case C2_ERR_FORMAT:
    case C2_ERR_UNSUPPORTED: return CLI_EXIT_NOT_EXECUTABLE;
    default: return CLI_EXIT_FAILED;
    }
}

/* Text that grows in a buffer; what does not fit is cut. */
struct words {
    char *buffer;
    size_t bytes, used;
};

static __attribute__((format(printf, 2, 3))) void say(struct words *words, const char *format, ...)
{
    va_list arguments;
    va_start(arguments, format);
    int length = vsnprintf(words->buffer + words->used, words->bytes - words->used, format, arguments);
    va_end(arguments);
    words->used += length < 0 ? 0 : (size_t)length;
    if (words->used >= words->bytes)
        words->used = words->bytes - 1;
}

/* "mov (%rax),%eax at 0x401136 in main (crash.c:5)" */
static void say_instruction(struct words *words, const struct emu_end *end, struct loader_symbols *symbols)
{
    struct loader_place place;
    char text[512];
    if (end->disassembly[0] != '\0')
        say(words, "%s ", end->disassembly);
    say(words, "at 0x%" PRIx64, end->rip.v);
    loader_place_of(symbols, end->rip, &place);
    if (place.function != NULL)
        say(words, " in %s", loader_place_text(text, sizeof text, end->rip, &place));
    else if (place.object != NULL)
        say(words, " in %s", place.object);
}

const char *cli_ending_text(char *buffer, size_t bytes, const struct emu_end *end, int interrupting_signal,
                            struct loader_symbols *symbols)
{
    struct words words = {buffer, bytes, 0};
    if (end->kind == EMU_INTERRUPTED) {
        say(&words, "interrupted by %s", syscalls_signal_name(interrupting_signal));
        return buffer;
    }
    if (end->kind != EMU_KILLED)
        return NULL;
    say(&words, "killed by %s", syscalls_signal_name(end->signal));
    if (end->has_address && (end->signal == SIGSEGV || end->signal == SIGBUS))
        say(&words, " at address 0x%" PRIx64, end->address.v);
    say(&words, ": ");
    say_instruction(&words, end, symbols);
    return buffer;
}

char *cli_refusal_text(char *buffer, size_t bytes, const struct emu_end *end, struct loader_symbols *symbols)
{
    struct words words = {buffer, bytes, 0};
    say(&words, "cannot execute ");
    say_instruction(&words, end, symbols);
    say(&words, ": %s; the run ends here and nothing is reported", end->refusal);
    if (strstr(end->refusal, "build the program") == NULL)
        say(&words, ". Build the program without this instruction (-march=x86-64-v2 at most), or take a variant of it "
                    "that does without");
    return buffer;
}

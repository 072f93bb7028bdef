/* SPDX-License-Identifier: GPL-2.0-or-later
 *
 * ending: how a guest ended, as an exit status and in words.
 */
#include <inttypes.h>
#include <signal.h>
#include <string.h>

#include "session/session_priv.h"

int session_exit_status(const struct emu_end *end, int interrupting_signal)
{
    switch (end->kind) {
    case EMU_EXITED:
        return end->status;
    case EMU_KILLED:
        return SESSION_EXIT_SIGNAL + end->signal;
    case EMU_INTERRUPTED:
        return interrupting_signal == SIGXCPU ? SESSION_EXIT_FAILED : SESSION_EXIT_SIGNAL + interrupting_signal;
    case EMU_STOPPED:
    case EMU_EXECUTED:
        return 0;
    case EMU_REFUSED:
    case EMU_EXHAUSTED:
    case EMU_FAILED:
    case EMU_ABANDONED:
        break;
    }
    return SESSION_EXIT_FAILED;
}

bool session_is_cut(const struct emu_end *end) { return end->kind == EMU_REFUSED || end->kind == EMU_EXHAUSTED; }

int session_load_status(enum c2_status status)
{
    switch (status) {
    case C2_ERR_NOT_FOUND:
        return SESSION_EXIT_NOT_FOUND;
    case C2_ERR_DENIED:
    case C2_ERR_FORMAT:
    case C2_ERR_UNSUPPORTED:
        return SESSION_EXIT_NOT_EXECUTABLE;
    default:
        return SESSION_EXIT_FAILED;
    }
}

/* "mov (%rax),%eax at 0x401136 in main (crash.c:5)" */
static void say_instruction(struct c2_words *words, const struct emu_end *end, struct loader_symbols *symbols)
{
    struct loader_place place;
    char text[512];
    if (end->disassembly[0] != '\0')
        c2_say(words, "%s ", end->disassembly);
    c2_say(words, "at 0x%" PRIx64, end->rip.v);
    loader_place_of(symbols, end->rip, &place);
    if (place.function)
        c2_say(words, " in %s", loader_place_text(text, sizeof text, end->rip, &place));
    else if (place.object)
        c2_say(words, " in %s", place.object);
}

static const char *refusal_text(struct c2_words *words, const struct emu_end *end, struct loader_symbols *symbols)
{
    c2_say(words, "cannot execute ");
    say_instruction(words, end, symbols);
    c2_say(words, ": %s; the run ends here", end->refusal);
    if (!strstr(end->refusal, "build ") && !strstr(end->refusal, "--engine"))
        c2_say(words,
               ". Build the program without this instruction (-march=x86-64-v2 at most), or take a variant of it "
               "that does without");
    return words->buffer;
}

const char *session_ending_text(char *buffer, size_t bytes, const struct emu_end *end, int interrupting_signal,
                                struct loader_symbols *symbols, const struct syscalls_program *next)
{
    struct c2_words words = {buffer, bytes, 0};
    if (end->kind == EMU_INTERRUPTED) {
        if (interrupting_signal == SIGXCPU)
            c2_say(&words, SESSION_TIME_LIMIT);
        else
            c2_say(&words, "interrupted by %s", syscalls_signal_name(interrupting_signal));
        return buffer;
    }
    if (end->kind == EMU_STOPPED) {
        c2_say(&words, "ended at its checkpoint");
        return buffer;
    }
    if (end->kind == EMU_EXECUTED) {
        c2_say(&words, "became %s (execve)", next->name);
        return buffer;
    }
    if (end->kind == EMU_REFUSED)
        return refusal_text(&words, end, symbols);
    if (end->kind == EMU_EXHAUSTED)
        return end->refusal;
    if (end->kind != EMU_KILLED)
        return NULL;
    c2_say(&words, "killed by %s", syscalls_signal_name(end->signal));
    if (end->has_address && (end->signal == SIGSEGV || end->signal == SIGBUS))
        c2_say(&words, " at address 0x%" PRIx64, end->address.v);
    c2_say(&words, ": ");
    say_instruction(&words, end, symbols);
    return buffer;
}

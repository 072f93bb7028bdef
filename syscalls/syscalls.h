/* SPDX-License-Identifier: GPL-2.0-or-later
 *
 * syscalls: the guest's kernel. One table (table.h) holds a row for each call: number, name, argument kinds, handler;
 * dispatch, tracer, documentation and tests all expand it. Knows no engine: registers come and go as plain data.
 */
#ifndef C2_SYSCALLS_H
#define C2_SYSCALLS_H

#include "base/base.h"
#include "checkpoint/checkpoint.h"
#include "cpu/cpu.h"
#include "mmu/mmu.h"

/* The registers of a guest thread, as data. gpr in the order of x86-64 register numbers: rax rcx rdx rbx rsp rbp rsi
 * rdi r8 .. r15. fxsave: the 512-byte image of FXSAVE64 (x87, MXCSR, XMM0-15). xcr0: the components that XSAVE knows on
 * the processor, 0 where it has no XSAVE; what it does not name of `wide` means nothing. */
struct syscalls_cpu {
    uint64_t gpr[16];
    uint64_t rip, rflags, fs_base, gs_base;
    uint8_t fxsave[CPU_FXSAVE_BYTES] __attribute__((aligned(16)));
    uint64_t xcr0;
    struct cpu_wide wide;
};

#define SYSCALLS_PROCESSORS 64u            /* at most: a word of bits */
#define SYSCALLS_START_SECONDS 1577836800u /* 2020-01-01T00:00:00Z */
/* Programs take a clock that shows 0 for one that fails, and look back from now by minutes. */
#define SYSCALLS_UPTIME_SECONDS 3600u

/* A program that the guest wants to be, by execve. */
struct syscalls_program {
    const char *name;                      /* as it is called: AT_EXECFN, what the interpreter of a script gets */
    const char *file;                      /* the host's path of it */
    const char *directory;                 /* the guest's working directory, as it calls it */
    const char *const *argv, *const *envp; /* NULL-terminated; at least one argument */
    uint32_t personality;                  /* as personality(2) has it */
};

/* A level of the machine's caches, as /sys shows it. */
#define SYSCALLS_CACHES 8u /* at most */
enum syscalls_cache_type { SYSCALLS_DATA, SYSCALLS_CODE, SYSCALLS_UNIFIED };
struct syscalls_cache {
    enum syscalls_cache_type type;
    uint32_t level; /* 1 is nearest the core */
    uint32_t line_bytes, ways;
    uint64_t sets;
    bool shared; /* by all processors; else each has one */
};

struct syscalls_config {
    const char *program_path; /* absolute; /proc/self/exe */
    const char *called;       /* how it is called: the first thread has the name; NULL: as program_path */
    const char *const *argv;  /* /proc/self/cmdline */
    const char *const *envp;  /* /proc/self/environ */
    uint64_t seed;
    uint64_t instructions_per_second; /* the guest's clock: 0 = 1e9 */
    uint64_t start_seconds;           /* CLOCK_REALTIME at the start: SYSCALLS_START_SECONDS, or what the user says */
    uint64_t uptime_seconds;          /* since boot, at the start; 1970 is the earliest boot */
    uint64_t physical_bytes;          /* sysinfo, /proc/meminfo */
    const struct cpu_model *cpu;      /* /proc/cpuinfo, and what frames of signals hold; NULL: x86-64-v2 */
    uint32_t processors;              /* that the guest finds: 1 .. SYSCALLS_PROCESSORS; 0 is 1 */
    const struct syscalls_cache *caches; /* of a processor, first levels first */
    uint32_t cache_count;
    bool keep_inputs;             /* for syscalls_inputs */
    bool confined;                /* the guest changes nothing of the host but (sandbox.c) */
    bool no_network;              /* no sockets but those of AF_UNIX */
    const char *const *writable;  /* below its first directory and these; NULL-terminated; NULL: none */
    FILE *trace;                  /* -v: one line a call in strace's style; NULL = off */
    FILE *complaints;             /* unknown calls, once each; usually stderr; NULL = off */
    const char *complaint_prefix; /* "c2emu: " */
    /* NULL, or a number that a signal handler makes nonzero when the run is to end: a call that blocks in the host then
     * comes back with EINTR. Not touched here. */
    const volatile int *interrupted;
    /* Whether this can be run: 0, or -errno, and the guest goes on as it is. NULL: execve is refused. */
    int64_t (*may_run)(void *self, const struct syscalls_program *program);
    void *may_run_self;
    bool may_fork; /* else fork and the like are refused */
    /* Before a call that writes; NULL: no notice. */
    void (*before_output)(void *self);
    void *before_output_self;
};

/* From syscalls_create on, SIGPIPE is ignored in the whole process (the guest gets its own) and the soft limit of open
 * descriptors is the hard one. */
struct syscalls;
enum c2_status syscalls_create(struct syscalls **out, struct mmu *mmu, const struct syscalls_config *config,
                               struct c2_error *err);
void syscalls_destroy(struct syscalls *kernel);

enum syscalls_action {
    SYSCALLS_RETURN,  /* value goes to RAX */
    SYSCALLS_EXIT,    /* the guest ended: status */
    SYSCALLS_SIGNAL,  /* value goes to RAX, then signal (with info) is to be raised in the guest */
    SYSCALLS_RESTORE, /* rt_sigreturn: the whole cpu was replaced */
    SYSCALLS_EXECUTE, /* execve: the program ends here, and the process goes on as the one of syscalls_take_program */
    SYSCALLS_STARTED, /* value goes to RAX, and `thread` is there: it begins behind the call with RAX 0 */
    SYSCALLS_FORK,    /* `thread` is the first of a process that is to be made (below); value goes to RAX then */
    SYSCALLS_ENDED,   /* the thread has ended, others are left */
    SYSCALLS_YIELD,   /* value goes to RAX, and it is the turn of another thread */
    SYSCALLS_BLOCKED, /* nothing: the thread waits. The same call is to be made again when syscalls_ready says so */
    SYSCALLS_FAILED,  /* c2emu cannot go on; *err; or the only thread waits for ever: deadlock */
};
struct syscalls_result {
    enum syscalls_action action;
    int64_t value;
    int status;    /* EXIT: exit status 0..255 */
    int signal;    /* SIGNAL; RESTORE: 0, or that of the fault at once where the selectors are none a program has */
    bool deadlock; /* FAILED */
    struct {
        uint32_t tid;
        uint64_t stack, fs_base; /* stack 0: that of the caller */
    } thread;                    /* STARTED */
};
/* Performs the call in cpu (number in rax, arguments rdi rsi rdx r10 r8 r9) at guest time `instructions`. Only fs_base
 * and gs_base of *cpu may be changed (arch_prctl), and everything by RESTORE. */
void syscalls_call(struct syscalls *kernel, struct syscalls_cpu *cpu, uint64_t instructions,
                   struct syscalls_result *result, struct c2_error *err);

/* After SYSCALLS_EXECUTE, once: to be destroyed. */
struct syscalls_program *syscalls_take_program(struct syscalls *kernel);
void syscalls_program_destroy(struct syscalls_program *program); /* takes NULL */
/* The next open of /etc/ld.so.cache by this program fails as if it were not there: its dynamic linker is to do without.
 * How large the file is, and what else is in it, is of the host, and decides which pages and lines a look touches. */
void syscalls_hide_library_cache(struct syscalls *kernel);
/* It is in a memory of its own, as loaded, and has not run. path: that of /proc/self/exe. */
enum c2_status syscalls_execute(struct syscalls *kernel, struct mmu *mmu, const struct syscalls_program *program,
                                const char *path, struct c2_error *err);

/* Threads. Calls, signals and what is pending are those of the running one: the first, or that of the last switch; it
 * does not wait, or goes on with its call next. After SYSCALLS_ENDED another one is to be switched to. */
uint32_t syscalls_thread(const struct syscalls *kernel); /* its number for the guest; 0: it has ended */
/* Whether these are all the threads that there are; each is named once. */
bool syscalls_has_threads(const struct syscalls *kernel, const uint32_t *tids, uint32_t count);
void syscalls_switch(struct syscalls *kernel, uint32_t tid, uint64_t instructions);
enum syscalls_readiness {
    SYSCALLS_RUNS,        /* it does not wait */
    SYSCALLS_WAITS,       /* what it waits for has not come */
    SYSCALLS_AGAIN,       /* it may have: the call is to be made again */
    SYSCALLS_INTERRUPTED, /* a signal has: syscalls_interrupt, then what is pending */
};
enum syscalls_readiness syscalls_ready(struct syscalls *kernel, uint32_t tid, uint64_t instructions);
/* The instruction count before which no other thread than the running one can go on without anything that this one
 * does: `instructions`, where one can, or where descriptors from outside may become ready by themselves; a later one,
 * where one waits for a moment, at that moment or a little before it; UINT64_MAX, where none can. */
uint64_t syscalls_contended(struct syscalls *kernel, uint64_t instructions);
/* The instruction count until which that guest time has not come, or a little less; UINT64_MAX for UINT64_MAX. */
uint64_t syscalls_count_at(const struct syscalls *kernel, uint64_t moment, uint64_t instructions);
/* All threads wait: guest time goes on to when one of them may not, or the host waits for what comes from outside.
 * False: none ever will. */
bool syscalls_pass_time(struct syscalls *kernel, uint64_t instructions);
/* The running thread's wait is over by a signal: true, *value is the result of its call; false: the call is to be made
 * anew behind the handler (SA_RESTART). */
bool syscalls_interrupt(struct syscalls *kernel, uint64_t instructions, int64_t *value);
/* "waits in futex for the word at 0x404060, which holds 0x2" */
void syscalls_describe_wait(const struct syscalls *kernel, uint32_t tid, char *out, size_t bytes);

/* ------------------------------------------------------------------ processes (processes.c)
 * After SYSCALLS_FORK the host's process is forked. In the parent the child may hold it (vfork): true, then the thread
 * waits as behind SYSCALLS_BLOCKED. */
void syscalls_fork_failed(struct syscalls *kernel, uint32_t child);
bool syscalls_fork_waits(struct syscalls *kernel, uint32_t child);
/* In the child, which begins where its parent was. */
void syscalls_become_child(struct syscalls *kernel, uint32_t child, uint64_t instructions);
/* Then, when its stream has begun: memory that it is not to have as its parent has it goes, and others get what they
 * have asked it for. */
void syscalls_child_inherits(struct syscalls *kernel);
/* The memory is about to go: a parent that a child of vfork holds gets what that has written, and goes on. */
void syscalls_leave_memory(struct syscalls *kernel);
/* All programs of the process have ended. status: as wait4 tells it. Returns guest time. */
uint64_t syscalls_end(struct syscalls *kernel, int status, uint64_t instructions);
bool syscalls_has_company(const struct syscalls *kernel); /* other processes run */
/* Before another process goes on, and when the turn has come back, at guest time `now`. C2_ERR_EXHAUSTED:
 * memory that it has in common with others is not to be had. */
void syscalls_give_turn(struct syscalls *kernel, uint64_t instructions);
enum c2_status syscalls_take_turn(struct syscalls *kernel, uint64_t instructions, uint64_t now, struct c2_error *err);
/* What the threads wait for, all together: the first moment (UINT64_MAX: none), and whether others than the guest can
 * let one go on; for those the host waits a little, and ns at most. */
uint64_t syscalls_next_time(const struct syscalls *kernel);
bool syscalls_waits_outside(const struct syscalls *kernel);
void syscalls_look_outside(struct syscalls *kernel, uint64_t ns);
/* Whether only another process can let one go on, but for a moment; and how often any has done what may: it ended, sent
 * a signal, let go of its parent, woke a word. */
bool syscalls_is_asleep(const struct syscalls *kernel);
uint64_t syscalls_events(const struct syscalls *kernel);
/* Whether one that is asleep waits for descriptors or locks, which another process's system call may let it have; and
 * how many all processes have made. */
bool syscalls_polls(const struct syscalls *kernel);
uint64_t syscalls_calls(const struct syscalls *kernel);
bool syscalls_is_stopped(const struct syscalls *kernel);     /* the process, by SIGSTOP or the like */
bool syscalls_is_interrupted(const struct syscalls *kernel); /* as config.interrupted says */

/* A signal for the running thread: one of those pending, or from a SYSCALLS_SIGNAL.
 * HANDLED: the frame is built and *cpu changed, go on. IGNORED: go on. KILLED: the guest dies of it (128 + signal). */
enum syscalls_delivery { SYSCALLS_HANDLED, SYSCALLS_IGNORED, SYSCALLS_KILLED };
enum syscalls_delivery syscalls_deliver(struct syscalls *kernel, struct syscalls_cpu *cpu, int signal);
/* One from a fault: blocked or ignored it kills. */
struct syscalls_fault {
    int signal, code;       /* SEGV_MAPERR ... */
    uint64_t address;       /* si_addr */
    bool present;           /* of a page fault: the page is there, and not for this access */
    enum mmu_access access; /* UNKNOWN counts as a read */
};
enum syscalls_delivery syscalls_fault(struct syscalls *kernel, struct syscalls_cpu *cpu,
                                      const struct syscalls_fault *fault);
/* Timers: the instruction count at which the next one sends its signal, at the earliest now; UINT64_MAX: none is armed.
 * There syscalls_expire makes it pending. */
uint64_t syscalls_alarm(const struct syscalls *kernel, uint64_t instructions);
void syscalls_expire(struct syscalls *kernel, uint64_t instructions);
/* A signal that became deliverable (unblocked, raised by itself): 0 if none. The run asks after every call. */
int syscalls_pending(struct syscalls *kernel);

/* Guest time in nanoseconds since boot at this instruction count (rdtsc and clocks agree). */
uint64_t syscalls_time_ns(const struct syscalls *kernel, uint64_t instructions);

/* What the guest has changed since the start, and its open files, to a checkpoint, or from one into a kernel that was
 * just made for the same program, arguments and environment. What cannot be kept (pipes, sockets, locks, files without
 * a name) is refused by its descriptor. The standard streams are c2emu's own again, whatever they are by then, but for
 * a file that is read from. */
void syscalls_checkpoint(struct syscalls *kernel, struct checkpoint *checkpoint);
/* The registers of a thread. */
void syscalls_cpu_checkpoint(struct syscalls_cpu *cpu, struct checkpoint *checkpoint);

/* ------------------------------------------------------------------ what the guest has read of the host (inputs.c) */
enum syscalls_input_kind {
    SYSCALLS_INPUT_PROGRAM,
    SYSCALLS_INPUT_INTERPRETER,
    SYSCALLS_INPUT_LIBRARY, /* a file that was mapped as code */
    SYSCALLS_INPUT_FILE,
    SYSCALLS_INPUT_DIRECTORY, /* bytes and sha256: of the names, a line each */
    SYSCALLS_INPUT_LINK,      /* of its text */
    SYSCALLS_INPUT_ABSENT,    /* a name that was looked for, and not there */
    SYSCALLS_INPUT_STREAM,    /* a pipe, a terminal ...: of what came, in order */
};
struct syscalls_input {
    enum syscalls_input_kind kind;
    const char *path;            /* absolute; NULL: a stream without a name */
    int descriptor;              /* of a standard stream of the guest's, else -1 */
    uint64_t offset;             /* of a standard stream that is a file: where it stood at the start */
    uint64_t bytes;              /* of what was hashed */
    char sha256[C2_SHA256_TEXT]; /* "": see the note */
    const char *note;            /* NULL, or why this may not be what was read: static text */
};
/* In the order in which they were met; lent until destroy. With keep_inputs alone. */
enum c2_status syscalls_inputs(const struct syscalls_input **out, size_t *count, struct syscalls *kernel,
                               struct c2_error *err);
/* A file that was read on the guest's behalf: the program, its interpreter. */
void syscalls_note_input(struct syscalls *kernel, enum syscalls_input_kind kind, const char *path);

/* Invariants of every part; asserts. */
void syscalls_check(const struct syscalls *kernel);
void syscalls_dump(const struct syscalls *kernel, FILE *to); /* descriptors, signals, clock */

/* The name of call nr, or NULL. "SIGSEGV" for 11; never NULL. */
uint32_t syscalls_processors(const struct syscalls *kernel); /* that the guest finds */
const char *syscalls_name(uint64_t nr);
const char *syscalls_signal_name(int signal);

#endif

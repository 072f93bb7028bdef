/* SPDX-License-Identifier: GPL-2.0-or-later
 *
 * What a handler sees of one system call, and what a row of the table says about it.
 */
#ifndef C2_SYSCALLS_CALL_PRIV_H
#define C2_SYSCALLS_CALL_PRIV_H

#include <errno.h>

#include "syscalls/syscalls.h"

#define CALL_ARGS 6
#define CALL_TABLE_END 512 /* one more than the highest number a row may have */
/* Room for the copies of one call; the most is that of poll with all its structures, or of readv. */
#define CALL_COPIES_BYTES 49152

/* For data that the guest may not have written where it says: nothing that the host can write to either. So EFAULT
 * comes only if there is something to write, and after what else is wrong. */
#define CALL_FORBIDDEN ((void *)1)

/* How an argument looks (for the tracer) and whether it points to memory (for checks and touches). */
enum call_kind {
    CALL_NONE,
    CALL_INT,     /* int */
    CALL_UINT,    /* unsigned int */
    CALL_SIZE,    /* size_t, decimal */
    CALL_OFFSET,  /* off_t, decimal, signed */
    CALL_HEX,     /* a plain number, hexadecimal */
    CALL_MODE,    /* file mode, octal */
    CALL_ADDRESS, /* an address the handler itself deals with */
    CALL_FD,      /* an open descriptor: EBADF without the handler if it is none */
    CALL_DIRFD,   /* the same or AT_FDCWD, only looked at for a relative path */
    CALL_SIGNAL,
    CALL_FLAGS,  /* a set of bits with names */
    CALL_CHOICE, /* one of some named values */
    CALL_PATH,   /* a string that ends in NUL, at most PATH_MAX */
    CALL_STRING, /* the same, not a path */
    CALL_MEMORY, /* a structure or an array */
    CALL_BYTES,  /* data: shown as a string */
    CALL_IOV,    /* struct iovec[count]; access is that of the buffers */
    CALL_TIMESPEC,
    CALL_FD_PAIR, /* int[2] */
    CALL_STAT,
};

enum call_access { CALL_READS = 1, CALL_WRITES = 2 };

struct call_names; /* names of bits or values, trace_priv.h */

/* When it is looked at whether any program could have the memory of data at all (else EFAULT): before the handler, of
 * what the call can transfer or, as files do, of all that the guest names; or by who writes there, after the rest. */
enum call_reach { CALL_REACH_TRANSFER, CALL_REACH_ALL, CALL_REACH_LATER };

/* The memory of an argument: `bytes`, or `bytes` times the value of argument `count` (1..6), which is not negative
 * (EINVAL). `returned`: only as many elements as the return value says are written. */
struct call_arg {
    uint8_t kind;   /* enum call_kind */
    uint8_t access; /* enum call_access bits */
    uint8_t count;  /* 0: fixed size */
    bool returned;
    bool optional;  /* NULL is allowed */
    uint8_t sized;  /* 1..6: the argument that says `bytes`, and nothing else (EINVAL); 0: none */
    uint8_t reach;  /* enum call_reach, of CALL_BYTES */
    uint8_t beyond; /* what more elements than `most` are: an errno; 0: EINVAL, of strings ENAMETOOLONG */
    uint16_t bytes;
    uint32_t most; /* elements that the kernel reads; 0: any number */
    const struct call_names *names;
};

struct iovec;
struct kernel_wait;
struct call;
typedef int64_t call_handler(struct call *c); /* the value for RAX: a result or -errno */

enum call_result { CALL_DECIMAL, CALL_ADDRESS_RESULT, CALL_NO_RESULT };

struct call_row {
    const char *name;
    call_handler *handler;
    enum call_result result;
    const char *note; /* what differs from Linux, for docs/syscalls.md; "" = nothing */
    struct call_arg arg[CALL_ARGS];
};

/* The row of a number, NULL if there is none. */
const struct call_row *call_row_of(uint64_t number);

struct call {
    struct syscalls *kernel;
    const struct call_row *row;
    struct syscalls_cpu *cpu;
    uint64_t instructions;
    uint64_t arg[CALL_ARGS]; /* counts may be less than the guest's: what of a buffer is accessible */
    /* Memory arguments, checked. What the kernel reads is a copy made before the call: what the call itself, or another
     * process, writes to the guest's memory cannot change it. Structures that the kernel writes are copies that reach
     * the guest when the handler returns no error. Only data, and arrays that are just written, are the guest's own
     * memory. NULL if the guest gave NULL; a handler that has nothing to write sets NULL. */
    void *ptr[CALL_ARGS];
    int fd[CALL_ARGS];                /* CALL_FD: the host's descriptor */
    bool again;                       /* the call was blocked, and is made once more: */
    const struct kernel_wait *waited; /* for this */
    struct syscalls_result *result;
    struct c2_error *err;
};

/* ------------------------------------------------------------------ the guest's memory (guest.c)
 * Values are 0 or -errno; when c2emu cannot go on, result->action is SYSCALLS_FAILED as well. */
bool guest_allows(const struct syscalls *kernel, uint64_t address, uint64_t bytes, unsigned prot);
/* How many bytes from address on have these rights: at most `bytes`. */
uint64_t guest_extent(const struct syscalls *kernel, uint64_t address, uint64_t bytes, unsigned prot);
bool guest_out_of_reach(uint64_t address, uint64_t bytes); /* of any program */
int64_t guest_touch(struct call *c, uint64_t address, uint64_t bytes, enum mmu_access access);
int64_t guest_check_read(struct call *c, uint64_t address, uint64_t bytes);  /* allowed, then touched */
int64_t guest_check_write(struct call *c, uint64_t address, uint64_t bytes); /* allowed, then touched */
int64_t guest_read(struct call *c, void *to, uint64_t address, uint64_t bytes);
int64_t guest_write(struct call *c, uint64_t address, const void *from, uint64_t bytes);
/* A structure of the guest's that later versions have more of: `bytes` of it, a page at most. `known` of them are known
 * here and wanted; those behind must be 0, else -E2BIG. What the guest's lacks is left as it is. */
int64_t guest_read_extended(struct call *c, void *to, uint64_t known, uint64_t address, uint64_t bytes);
/* Copies that live as long as the call: of the guest's memory, and one of zeros to be filled. A string is copied up to
 * its NUL, -ENAMETOOLONG if there is none in `max` bytes. */
int64_t guest_copy(struct call *c, void **out, uint64_t address, uint64_t bytes);
int64_t guest_copy_string(struct call *c, void **out, uint64_t address, uint64_t max);
void *guest_room(struct call *c, uint64_t bytes);
/* A copy of count (at most IOV_MAX) iovecs whose buffers allow `access` (enum call_access bits), those that the kernel
 * reads touched. And the touches of the first `bytes` bytes that the kernel wrote to them. */
int64_t guest_copy_iov(struct call *c, struct iovec **out, uint64_t address, uint64_t count, unsigned access);
int64_t guest_touch_iov(struct call *c, const struct iovec *iov, uint64_t count, uint64_t bytes);
/* Writes into the buffers, from `skip` bytes on. */
int64_t guest_scatter(struct call *c, const struct iovec *iov, int count, uint64_t skip, const void *from,
                      uint64_t bytes);
static inline void *guest_pointer(uint64_t address) { return (void *)(uintptr_t)address; }

/* Checks, resolves and touches every argument as the row says, before the call; 0 or -errno. */
int64_t guest_prepare(struct call *c);
/* Copies out and touches what the kernel wrote, after a call that returned value; returns the final value. */
int64_t guest_finish(struct call *c, int64_t value);

/* ------------------------------------------------------------------ ends of a call (kernel.c) */
/* -EPIPE for a write to a descriptor of the host, with SIGPIPE for the guest unless it is a socket and no stream. */
int64_t call_broken_pipe(struct call *c, int host);
/* Prints "PREFIXsystem call NR (NAME) WHAT: the program sees ENOSYS" once for a number; returns -ENOSYS. */
int64_t call_complain(struct call *c, const char *what);
/* Whether blocking calls of the host have to come back. */
bool call_interrupted(const struct call *c);

/* A call of the host: its value or -errno, again after EINTR. */
#define CALL_HOST(c, expression) \
    ({ \
        int64_t host_value_; \
        do \
            host_value_ = (int64_t)(expression); \
        while (host_value_ < 0 && errno == EINTR && !call_interrupted(c)); \
        host_value_ < 0 ? -(int64_t)errno : host_value_; \
    })

/* files.c: a file is to have this size: 0, or -EFBIG with SIGXFSZ for the guest, beyond its RLIMIT_FSIZE. */
struct stat;
int64_t files_check_size(struct call *c, const struct stat *st, uint64_t size);

/* ------------------------------------------------------------------ every handler */
#define SYSCALL(number, name, handler, result, note, ...) call_handler handler;
#include "syscalls/table.h"

#endif

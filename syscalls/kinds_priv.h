/* SPDX-License-Identifier: GPL-2.0-or-later
 *
 * Short names for the argument kinds in table.h; for the one file that turns the table into rows.
 */
#ifndef C2_SYSCALLS_KINDS_PRIV_H
#define C2_SYSCALLS_KINDS_PRIV_H

#include <limits.h>
#include <sys/socket.h>

#include "syscalls/fds_priv.h"
#include "syscalls/trace_priv.h"

#define NONE \
    { \
        .kind = CALL_NONE \
    }
#define INT \
    { \
        .kind = CALL_INT \
    }
#define UINT \
    { \
        .kind = CALL_UINT \
    }
#define SIZE \
    { \
        .kind = CALL_SIZE \
    }
#define OFFSET \
    { \
        .kind = CALL_OFFSET \
    }
#define HEX \
    { \
        .kind = CALL_HEX \
    }
#define MODE \
    { \
        .kind = CALL_MODE \
    }
#define ADDRESS \
    { \
        .kind = CALL_ADDRESS \
    }
#define DESCRIPTOR \
    { \
        .kind = CALL_FD \
    }
#define DIRECTORY \
    { \
        .kind = CALL_DIRFD \
    }
#define SIGNAL \
    { \
        .kind = CALL_SIGNAL \
    }
#define FLAGS(set) \
    { \
        .kind = CALL_FLAGS, .names = &trace_##set \
    }
#define CHOICE(set) \
    { \
        .kind = CALL_CHOICE, .names = &trace_##set \
    }
#define PATH \
    { \
        .kind = CALL_PATH, .access = CALL_READS \
    }
#define PATH_OR_NULL \
    { \
        .kind = CALL_PATH, .access = CALL_READS, .optional = true \
    }
#define STRING \
    { \
        .kind = CALL_STRING, .access = CALL_READS \
    }

/* one that is no path, whose length is another error */
#define STRING_OR(error) \
    { \
        .kind = CALL_STRING, .access = CALL_READS, .beyond = (error) \
    }

/* structures of a fixed size: read, written, both */
#define IN(size) \
    { \
        .kind = CALL_MEMORY, .access = CALL_READS, .bytes = (size) \
    }
#define IN_OR_NULL(size) \
    { \
        .kind = CALL_MEMORY, .access = CALL_READS, .bytes = (size), .optional = true \
    }
#define OUT(size) \
    { \
        .kind = CALL_MEMORY, .access = CALL_WRITES, .bytes = (size) \
    }
#define OUT_OR_NULL(size) \
    { \
        .kind = CALL_MEMORY, .access = CALL_WRITES, .bytes = (size), .optional = true \
    }
#define BOTH(size) \
    { \
        .kind = CALL_MEMORY, .access = CALL_READS | CALL_WRITES, .bytes = (size) \
    }
#define BOTH_OR_NULL(size) \
    { \
        .kind = CALL_MEMORY, .access = CALL_READS | CALL_WRITES, .bytes = (size), .optional = true \
    }
/* sets of signals, whose size argument `number` says */
#define SIGNALS_IN(number) \
    { \
        .kind = CALL_MEMORY, .access = CALL_READS, .bytes = 8, .sized = (number) \
    }
#define TIME_IN \
    { \
        .kind = CALL_TIMESPEC, .access = CALL_READS, .bytes = 16 \
    }
#define TIME_IN_OR_NULL \
    { \
        .kind = CALL_TIMESPEC, .access = CALL_READS, .bytes = 16, .optional = true \
    }
#define TIME_OUT \
    { \
        .kind = CALL_TIMESPEC, .access = CALL_WRITES, .bytes = 16 \
    }
#define TIME_OUT_OR_NULL \
    { \
        .kind = CALL_TIMESPEC, .access = CALL_WRITES, .bytes = 16, .optional = true \
    }
#define TIME_BOTH_OR_NULL \
    { \
        .kind = CALL_TIMESPEC, .access = CALL_READS | CALL_WRITES, .bytes = 16, .optional = true \
    }
#define FD_PAIR_OUT \
    { \
        .kind = CALL_FD_PAIR, .access = CALL_WRITES, .bytes = 8 \
    }
#define STAT_OUT \
    { \
        .kind = CALL_STAT, .access = CALL_WRITES, .bytes = 144 \
    }

/* arrays: argument `number` (1..6) counts elements of `size` bytes, at most `limit` of those that are read */
#define IN_ARRAY(size, number, limit) \
    { \
        .kind = CALL_MEMORY, .access = CALL_READS, .bytes = (size), .count = (number), .most = (limit) \
    }
#define BOTH_ARRAY(size, number, limit) \
    { \
        .kind = CALL_MEMORY, .access = CALL_READS | CALL_WRITES, .bytes = (size), .count = (number), .most = (limit) \
    }
#define OUT_RETURNED(size, number) \
    { \
        .kind = CALL_MEMORY, .access = CALL_WRITES, .bytes = (size), .count = (number), .returned = true \
    }
/* data, shown as a string */
#define IN_DATA(number) \
    { \
        .kind = CALL_BYTES, .access = CALL_READS, .bytes = 1, .count = (number) \
    }
#define OUT_DATA(number) \
    { \
        .kind = CALL_BYTES, .access = CALL_WRITES, .bytes = 1, .count = (number), .returned = true \
    }
/* of files: where all of it is has to be the program's half of the addresses */
#define IN_FILE_DATA(number) \
    { \
        .kind = CALL_BYTES, .access = CALL_READS, .bytes = 1, .count = (number), .reach = CALL_REACH_ALL \
    }
#define OUT_FILE_DATA(number) \
    { \
        .kind = CALL_BYTES, .access = CALL_WRITES, .bytes = 1, .count = (number), .returned = true, \
        .reach = CALL_REACH_ALL \
    }
/* what is written only if nothing else is wrong */
#define OUT_DATA_LATER(number) \
    { \
        .kind = CALL_BYTES, .access = CALL_WRITES, .bytes = 1, .count = (number), .returned = true, \
        .reach = CALL_REACH_LATER \
    }
/* all of it or nothing, at most `limit` bytes, else `error` */
#define IN_VALUE(number, limit, error) \
    { \
        .kind = CALL_BYTES, .access = CALL_READS, .bytes = 1, .count = (number), .most = (limit), .beyond = (error) \
    }
#define IOV_READ(number) \
    { \
        .kind = CALL_IOV, .access = CALL_READS, .bytes = 16, .count = (number) \
    }
#define IOV_WRITTEN(number) \
    { \
        .kind = CALL_IOV, .access = CALL_WRITES, .bytes = 16, .count = (number), .returned = true \
    }

#endif

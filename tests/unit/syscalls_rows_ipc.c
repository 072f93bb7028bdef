/* SPDX-License-Identifier: GPL-2.0-or-later
 *
 * One test a row: System V IPC and message queues of POSIX. What needs another process or thread is in
 * tests/program/ipc.py.
 */
#include <errno.h>
#include <fcntl.h>
#include <mqueue.h>
#include <signal.h>
#include <stdio.h>
#include <string.h>
#include <sys/msg.h>
#include <sys/sem.h>
#include <sys/socket.h>
#include <sys/shm.h>
#include <time.h>

#include "syscalls_guest.h"

#define SYSCALL(number, name, ...) void row_##name(void **state);
#include "syscalls/table.h"

#define PAGE C2_PAGE_BYTES

/* ------------------------------------------------------------------ shared memory */

void row_shmget(void **state)
{
    (void)state;
    assert_call(-ENOENT, shmget, 5, PAGE, 0600);
    assert_call(0, shmget, 5, PAGE, IPC_CREAT | 0600); /* numbers count up from 0 */
    assert_call(0, shmget, 5, 1, 0600);
    assert_call(-EINVAL, shmget, 5, PAGE + 1, 0600);
    assert_call(-EACCES, shmget, 5, 1, 0100);
    assert_call(1, shmget, IPC_PRIVATE, PAGE, 0600);
    assert_call(-EINVAL, shmget, IPC_PRIVATE, 0, 0600);
    assert_call(-ENOMEM, shmget, IPC_PRIVATE, GUEST_PHYSICAL + 1, 0600);
    for (int i = 2; i < 1024; i++)
        assert_call(i, shmget, IPC_PRIVATE, PAGE, 0600);
    assert_call(-ENOSPC, shmget, IPC_PRIVATE, PAGE, 0600);
}

void row_shmat(void **state)
{
    (void)state;
    assert_call(0, shmget, 5, PAGE + 1, IPC_CREAT | 0600);
    const int64_t at = CALL(shmat, 0, NULL, 0), again = CALL(shmat, 0, NULL, SHM_RDONLY);
    assert_int_equal(at, MMU_MMAP_TOP - 2 * PAGE);
    *(char *)(uintptr_t)(at + PAGE) = 'x';
    assert_int_equal(*(char *)(uintptr_t)(again + PAGE), 'x');
    assert_false(mmu_allows(g.mmu, (struct guest_va){(uint64_t)again}, 1, MMU_WRITE));
    assert_call(-EINVAL, shmat, 0, at, 0);
    assert_call(-EINVAL, shmat, 7, NULL, 0);
    assert_call(-EINVAL, shmat, -1, NULL, 0);
    assert_call(1, shmget, IPC_PRIVATE, PAGE, 0400);
    assert_call(-EACCES, shmat, 1, NULL, 0);
    const struct mmu_area *area = mmu_area_at(mmu_areas(g.mmu), (struct guest_va){(uint64_t)at}, false);
    assert_string_equal(area->path, "/SYSV00000005 (deleted)");
}

void row_shmdt(void **state)
{
    (void)state;
    assert_call(0, shmget, 5, PAGE, IPC_CREAT | 0600);
    const int64_t at = CALL(shmat, 0, NULL, 0);
    assert_call(-EINVAL, shmdt, at + PAGE);
    assert_call(0, shmdt, at);
    assert_false(mmu_allows(g.mmu, (struct guest_va){(uint64_t)at}, 1, 0));
    assert_call(-EINVAL, shmdt, at);
}

void row_shmctl(void **state)
{
    (void)state;
    struct shmid_ds *about = guest_take(sizeof *about);
    assert_call(-EINVAL, shmctl, 0, IPC_STAT, about);
    assert_call(0, shmget, 5, 100, IPC_CREAT | 0640);
    assert_call(0, shmctl, 0, IPC_STAT, about);
    assert_int_equal(about->shm_segsz, 100);
    assert_int_equal(about->shm_perm.mode, 0640);
    assert_int_equal(about->shm_perm.uid, 1000);
    assert_int_equal(about->shm_cpid, 1000);
    assert_call(-EFAULT, shmctl, 0, IPC_STAT, GUEST_BAD);
    assert_true(CALL(shmat, 0, NULL, 0) > 0);
    assert_call(0, shmctl, 0, IPC_RMID, NULL);
    assert_call(-ENOENT, shmget, 5, 100, 0);
    assert_call(0, shmctl, 0, SHM_STAT, about);
    assert_int_equal(about->shm_perm.mode, 0640 | SHM_DEST);
    assert_int_equal(about->shm_nattch, 1);
    struct shm_info *use = guest_take(sizeof *use);
    assert_call(0, shmctl, 0, SHM_INFO, use);
    assert_int_equal(use->used_ids, 1);
    assert_int_equal(use->shm_tot, 1);
    assert_call(-EINVAL, shmctl, 0, 77, about);
}

/* ------------------------------------------------------------------ semaphores */

static struct sembuf *operation(int number, int change, int flags)
{
    struct sembuf *one = guest_take(sizeof *one);
    *one = (struct sembuf){(unsigned short)number, (short)change, (short)flags};
    return one;
}

void row_semget(void **state)
{
    (void)state;
    assert_call(-ENOENT, semget, 5, 1, 0);
    assert_call(0, semget, 5, 32000, IPC_CREAT | 0600);
    assert_call(-EEXIST, semget, 5, 1, IPC_CREAT | IPC_EXCL);
    assert_call(-EINVAL, semget, IPC_PRIVATE, 0, 0600);
    assert_call(-EINVAL, semget, IPC_PRIVATE, -1, 0600);
    assert_call(1, semget, IPC_PRIVATE, 32000, 0600);
    assert_call(-ENOSPC, semget, IPC_PRIVATE, 1, 0600); /* of all together */
    assert_call(0, semctl, 0, 0, IPC_RMID, 0);
    assert_call(2, semget, IPC_PRIVATE, 1, 0600);
}

void row_semop(void **state)
{
    (void)state;
    assert_call(0, semget, IPC_PRIVATE, 2, 0600);
    assert_call(0, semop, 0, operation(1, 3, 0), 1);
    assert_call(3, semctl, 0, 1, GETVAL, 0);
    assert_call(-EAGAIN, semop, 0, operation(1, -4, IPC_NOWAIT), 1);
    assert_call(-ERANGE, semop, 0, operation(1, 32767, 0), 1);
    assert_call(-EFBIG, semop, 0, operation(2, 1, 0), 1);
    assert_call(-EFAULT, semop, 0, GUEST_BAD, 1);
    assert_call(-E2BIG, semop, 0, operation(0, 1, 0), 501);
    assert_call(-EINVAL, semop, 1, operation(0, 1, 0), 1);
    assert_call(-EINTR, semop, 0, operation(0, -1, 0), 1);
    assert_true(g.result.deadlock);
}

void row_semtimedop(void **state)
{
    (void)state;
    struct timespec *time = guest_take(sizeof *time);
    time->tv_sec = 3;
    assert_call(0, semget, IPC_PRIVATE, 2, 0600);
    assert_call(-EAGAIN, semtimedop, 0, operation(1, -4, 0), 1, time);
    assert_int_equal(syscalls_time_ns(g.kernel, 0), 3000000000);
    assert_call(0, semctl, 0, 1, GETNCNT, 0);
    time->tv_nsec = -1;
    assert_call(-EINVAL, semtimedop, 0, operation(1, -4, 0), 1, time);
}

void row_semctl(void **state)
{
    (void)state;
    uint16_t *all = guest_take(4);
    struct seminfo *limits = guest_take(sizeof *limits);
    struct semid_ds *about = guest_take(sizeof *about);
    assert_call(0, semctl, 0, 0, IPC_INFO, limits);
    assert_int_equal(limits->semvmx, 32767);
    assert_call(0, semget, 7, 2, IPC_CREAT | 0600);
    all[1] = 40000;
    assert_call(-ERANGE, semctl, 0, 0, SETALL, all);
    all[0] = all[1] = 9;
    assert_call(0, semctl, 0, 0, SETALL, all);
    all[0] = 0;
    assert_call(0, semctl, 0, 0, GETALL, all);
    assert_int_equal(all[0], 9);
    assert_call(-ERANGE, semctl, 0, 0, SETVAL, -1);
    assert_call(0, semctl, 0, 0, SETVAL, 4);
    assert_call(4, semctl, 0, 0, GETVAL, 0);
    assert_call(1000, semctl, 0, 0, GETPID, 0);
    assert_call(-EINVAL, semctl, 0, 2, GETVAL, 0);
    assert_call(0, semctl, 0, 0, SEM_INFO, limits);
    assert_int_equal(limits->semaem, 2);
    assert_call(0, semctl, 0, 0, IPC_STAT, about);
    assert_int_equal(about->sem_nsems, 2);
    about->sem_perm.mode = 0400;
    assert_call(0, semctl, 0, 0, IPC_SET, about);
    assert_call(-EACCES, semctl, 0, 0, SETVAL, 4);
    assert_call(-EINVAL, semctl, 0, 0, 77, 0);
    assert_call(0, semctl, 0, 0, IPC_RMID, 0);
    assert_call(-EINVAL, semctl, 0, 0, IPC_RMID, 0);
}

/* ------------------------------------------------------------------ messages */

static void *message(long type, const char *text)
{
    struct msgbuf *one = guest_take(sizeof *one + 16);
    one->mtype = type;
    strcpy(one->mtext, text);
    return one;
}

void row_msgget(void **state)
{
    (void)state;
    assert_call(-ENOENT, msgget, 5, 0);
    assert_call(0, msgget, 5, IPC_CREAT | 0600);
    assert_call(0, msgget, 5, 0);
    assert_call(-EEXIST, msgget, 5, IPC_CREAT | IPC_EXCL);
    for (int i = 1; i < 128; i++)
        assert_call(i, msgget, IPC_PRIVATE, 0600);
    assert_call(-ENOSPC, msgget, IPC_PRIVATE, 0600);
}

void row_msgsnd(void **state)
{
    (void)state;
    assert_call(0, msgget, 5, IPC_CREAT | 0600);
    assert_call(0, msgsnd, 0, message(1, "abc"), 3, 0);
    assert_call(-EINVAL, msgsnd, 0, message(0, "abc"), 3, 0);
    assert_call(-EINVAL, msgsnd, 0, message(1, "abc"), 8193, 0);
    assert_call(-EINVAL, msgsnd, 1, message(1, "abc"), 3, 0);
    assert_call(-EFAULT, msgsnd, 0, GUEST_BAD, 3, 0);
    for (int i = 1; i < 16384; i++) /* the smallest ones: as many as there may be bytes */
        assert_call(0, msgsnd, 0, (char *)GUEST_ARENA, i < 16382, IPC_NOWAIT);
    assert_call(-EAGAIN, msgsnd, 0, GUEST_ARENA, 0, IPC_NOWAIT);
    assert_call(-EINTR, msgsnd, 0, GUEST_ARENA, 0, 0);
    assert_true(g.result.deadlock);
}

void row_msgrcv(void **state)
{
    (void)state;
    struct msgbuf *got = guest_take(64);
    assert_call(0, msgget, 5, IPC_CREAT | 0600);
    assert_call(-ENOMSG, msgrcv, 0, got, 10, 0, IPC_NOWAIT);
    assert_call(0, msgsnd, 0, message(9, "abc"), 3, 0);
    assert_call(0, msgsnd, 0, message(8, "de"), 2, 0);
    assert_call(2, msgrcv, 0, got, 10, INT64_MIN, 0);
    assert_int_equal(got->mtype, 8);
    assert_memory_equal(got->mtext, "de", 2);
    assert_call(-E2BIG, msgrcv, 0, got, 2, 0, 0);
    assert_call(-ENOSYS, msgrcv, 0, got, 2, 0, MSG_COPY | IPC_NOWAIT);
    assert_call(2, msgrcv, 0, got, 2, 0, MSG_NOERROR);
    assert_memory_equal(got->mtext, "ab", 2);
    assert_call(-EINVAL, msgrcv, 0, got, -1, 0, 0);
    assert_call(-EINTR, msgrcv, 0, got, 2, 0, 0);
    assert_true(g.result.deadlock);
}

void row_msgctl(void **state)
{
    (void)state;
    struct msqid_ds *about = guest_take(sizeof *about);
    struct msginfo *use = guest_take(sizeof *use);
    assert_call(0, msgget, 5, IPC_CREAT | 0600);
    assert_call(0, msgsnd, 0, message(9, "abc"), 3, 0);
    assert_call(0, msgctl, 0, IPC_STAT, about);
    assert_int_equal(about->__msg_cbytes, 3);
    assert_int_equal(about->msg_qnum, 1);
    assert_int_equal(about->msg_lspid, 1000);
    about->msg_qbytes = 16385;
    assert_call(-EPERM, msgctl, 0, IPC_SET, about);
    about->msg_qbytes = 3;
    assert_call(0, msgctl, 0, IPC_SET, about);
    assert_call(-EAGAIN, msgsnd, 0, message(9, "a"), 1, IPC_NOWAIT);
    assert_call(0, msgctl, 0, MSG_INFO, use);
    assert_int_equal(use->msgtql, 3);
    assert_call(0, msgctl, 0, IPC_RMID, NULL);
    assert_call(-EINVAL, msgctl, 0, IPC_STAT, about);
    assert_call(-EINVAL, msgctl, -1, IPC_STAT, about);
}

/* ------------------------------------------------------------------ queues of POSIX */

static struct mq_attr *attributes(long messages, long bytes)
{
    struct mq_attr *attr = guest_take(sizeof *attr);
    attr->mq_maxmsg = messages;
    attr->mq_msgsize = bytes;
    return attr;
}

static int64_t new_queue(long messages, long bytes)
{
    return CALL(mq_open, guest_text("q"), O_RDWR | O_CREAT, 0600, attributes(messages, bytes));
}

void row_mq_open(void **state)
{
    (void)state;
    assert_call(-ENOENT, mq_open, guest_text("q"), O_RDWR, 0, NULL);
    assert_call(-EACCES, mq_open, guest_text("a/b"), O_RDWR | O_CREAT, 0600, NULL);
    assert_call(-EINVAL, mq_open, guest_text("q"), O_RDWR | O_CREAT, 0600, attributes(11, 1));
    assert_call(-EINVAL, mq_open, guest_text("q"), O_RDWR | O_CREAT, 0600, attributes(1, 8193));
    assert_call(3, mq_open, guest_text("q"), O_RDWR | O_CREAT, 0400, NULL);
    assert_call(FD_CLOEXEC, fcntl, 3, F_GETFD);
    assert_call(-EEXIST, mq_open, guest_text("q"), O_RDWR | O_CREAT | O_EXCL, 0400, NULL);
    assert_call(-EACCES, mq_open, guest_text("q"), O_RDWR, 0, NULL);
    assert_call(4, mq_open, guest_text("q"), O_RDONLY, 0, NULL);
    assert_call(-EINVAL, read, 4, guest_take(8), 8);
    assert_call(-EINVAL, write, 3, guest_take(8), 8);
    for (int i = 0; i < 63; i++) {
        char name[8];
        snprintf(name, sizeof name, "q%d", i);
        assert_call(5 + i, mq_open, guest_text(name), O_RDONLY | O_CREAT, 0400, NULL);
    }
    assert_call(-ENOSPC, mq_open, guest_text("q63"), O_RDONLY | O_CREAT, 0400, NULL);
}

void row_mq_unlink(void **state)
{
    (void)state;
    assert_call(-ENOENT, mq_unlink, guest_text("q"));
    assert_call(3, mq_open, guest_text("q"), O_RDWR | O_CREAT, 0600, NULL);
    assert_call(0, mq_unlink, guest_text("q"));
    assert_call(0, mq_timedsend, 3, guest_text("x"), 1, 0, NULL);
    assert_call(4, mq_open, guest_text("q"), O_RDWR | O_CREAT, 0600, NULL); /* another one */
    assert_call(-ENOENT, mq_unlink, guest_text(""));
}

void row_mq_timedsend(void **state)
{
    (void)state;
    struct timespec *time = guest_take(sizeof *time);
    assert_int_equal(new_queue(1, 4), 3);
    assert_call(-EMSGSIZE, mq_timedsend, 3, guest_text("abcde"), 5, 0, NULL);
    assert_call(-EINVAL, mq_timedsend, 3, guest_text("a"), 1, 32768, NULL);
    assert_call(-EFAULT, mq_timedsend, 3, GUEST_BAD, 1, 0, NULL);
    assert_call(-EBADF, mq_timedsend, 0, guest_text("a"), 1, 0, NULL);
    assert_call(0, mq_timedsend, 3, guest_text("a"), 1, 0, NULL);
    time->tv_sec = 1577836800 + 3; /* three seconds from now */
    assert_call(-ETIMEDOUT, mq_timedsend, 3, guest_text("b"), 1, 0, time);
    assert_int_equal(syscalls_time_ns(g.kernel, 0), 3000000000);
    assert_call(-EINTR, mq_timedsend, 3, guest_text("b"), 1, 0, NULL);
    assert_true(g.result.deadlock);
}

void row_mq_timedreceive(void **state)
{
    (void)state;
    struct timespec *time = guest_take(sizeof *time);
    uint32_t *priority = guest_take(4);
    char *out = guest_take(4);
    assert_int_equal(new_queue(2, 4), 3);
    assert_call(-EMSGSIZE, mq_timedreceive, 3, out, 3, priority, NULL);
    assert_call(-ETIMEDOUT, mq_timedreceive, 3, out, 4, priority, time);
    assert_call(0, mq_timedsend, 3, guest_text("ab"), 2, 5, NULL);
    assert_call(0, mq_timedsend, 3, guest_text("c"), 1, 6, NULL);
    assert_call(1, mq_timedreceive, 3, out, 4, priority, NULL);
    assert_int_equal(*priority, 6);
    assert_call(2, mq_timedreceive, 3, out, 4, NULL, NULL);
    assert_memory_equal(out, "ab", 2);
    time->tv_nsec = -1;
    assert_call(-EINVAL, mq_timedreceive, 3, out, 4, priority, time);
    assert_call(-EINTR, mq_timedreceive, 3, out, 4, priority, NULL);
    assert_true(g.result.deadlock);
}

void row_mq_notify(void **state)
{
    (void)state;
    struct sigevent *event = guest_take(sizeof *event);
    char *cookie = guest_take(32), *got = guest_take(32);
    event->sigev_notify = SIGEV_THREAD;
    assert_int_equal(new_queue(2, 4), 3);
    assert_call(-EFAULT, mq_notify, 3, event);
    memcpy(cookie, "what is sent to the socket", 26);
    event->sigev_value.sival_ptr = cookie;
    event->sigev_signo = 77;
    assert_call(-EBADF, mq_notify, 3, event);
    event->sigev_signo = 3;
    assert_call(-ENOTSOCK, mq_notify, 3, event);
    event->sigev_signo = (int)CALL(socket, AF_NETLINK, SOCK_RAW, 0);
    assert_call(0, mq_notify, 3, event);
    assert_call(0, mq_notify, 3, NULL);
    assert_call(32, recvfrom, event->sigev_signo, got, 32, 0, NULL, NULL);
    assert_memory_equal(got, cookie, 31);
    assert_int_equal(got[31], 2); /* removed */
    event->sigev_notify = SIGEV_NONE;
    assert_call(0, mq_notify, 3, event);
    assert_call(-EBUSY, mq_notify, 3, event);
    assert_call(0, mq_timedsend, 3, guest_text("x"), 1, 0, NULL);
    assert_call(0, mq_notify, 3, event);
    assert_call(0, mq_notify, 3, NULL);
    assert_call(-EBADF, mq_notify, 0, event);
}

void row_mq_getsetattr(void **state)
{
    (void)state;
    struct mq_attr *attr = guest_take(sizeof *attr), *old = guest_take(sizeof *old);
    assert_int_equal(new_queue(2, 4), 3);
    assert_call(0, mq_timedsend, 3, guest_text("x"), 1, 0, NULL);
    attr->mq_flags = O_NONBLOCK;
    assert_call(0, mq_getsetattr, 3, attr, old);
    assert_int_equal(old->mq_flags, 0);
    assert_int_equal(old->mq_maxmsg, 2);
    assert_int_equal(old->mq_msgsize, 4);
    assert_int_equal(old->mq_curmsgs, 1);
    assert_call(0, mq_timedsend, 3, guest_text("x"), 1, 0, NULL);
    assert_call(-EAGAIN, mq_timedsend, 3, guest_text("x"), 1, 0, NULL);
    attr->mq_flags = 1;
    assert_call(-EINVAL, mq_getsetattr, 3, attr, NULL);
    assert_call(-EBADF, mq_getsetattr, 0, NULL, old);
}

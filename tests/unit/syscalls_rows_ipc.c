/* SPDX-License-Identifier: GPL-2.0-or-later
 *
 * One test a row: System V IPC. What needs another process or thread is in tests/program/ipc.py.
 */
#include <errno.h>
#include <string.h>
#include <sys/msg.h>
#include <sys/sem.h>
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

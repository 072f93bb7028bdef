/* SPDX-License-Identifier: GPL-2.0-or-later
 *
 * ipc PART: System V IPC, of one process and between several. Natively, too, nothing is left of it.
 *
 * memory      segments: keys, rights, attaching, children, removal
 * semaphores  operations at once or not at all, waiting, SEM_UNDO, semtimedop
 * messages    types, full queues, waiting, removal
 * queues      those of POSIX: priorities, waiting, timeouts, poll, notification
 * stuck       a deadlock at a semaphore
 * kept KEY    has a queue of this key until its input ends
 * find KEY    says whether there is one
 */
#include <errno.h>
#include <fcntl.h>
#include <mqueue.h>
#include <poll.h>
#include <pthread.h>
#include <signal.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ipc.h>
#include <sys/msg.h>
#include <sys/sem.h>
#include <sys/shm.h>
#include <sys/time.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

static long say(const char *what, long value)
{
    if (value < 0)
        printf("%s: %s\n", what, strerrorname_np(errno));
    else
        printf("%s: %ld\n", what, value);
    fflush(stdout);
    return value;
}

/* A number or the error, of what gives a number that only the system knows. */
static long say_made(const char *what, long value)
{
    say(what, value < 0 ? value : 0);
    return value;
}

static void nap(void)
{
    const struct timespec time = {.tv_nsec = 50000000};
    nanosleep(&time, NULL);
}

static key_t key(void) { return (key_t)(0x5e000000 + getpid() % 0x100000); }

static void finish(void)
{
    while (wait(NULL) > 0)
        continue;
}

/* ------------------------------------------------------------------ memory */

static long attached(int id)
{
    struct shmid_ds about;
    return shmctl(id, IPC_STAT, &about) < 0 ? -1 : (long)about.shm_nattch;
}

static void *attach(const char *what, int id, void *at, int flags)
{
    void *memory = shmat(id, at, flags);
    say(what, memory == (void *)-1 ? -1 : 0);
    return memory;
}

static void shared_with_children(int id)
{
    volatile int *numbers = attach("attach", id, NULL, 0);
    numbers[0] = 5;
    if (fork() == 0) {
        say("of a child", attached(id));
        numbers[1] = numbers[0] + 1;
        int *again = attach("once more", id, NULL, 0);
        printf("at two places: %d %d\n", again != numbers, again[1]);
        say("three times", attached(id));
        _exit(0);
    }
    finish();
    printf("from the child: %d\n", numbers[1]);
    say("it has gone", attached(id));
    if (fork() == 0) {
        execl("/bin/true", "true", (char *)NULL);
        _exit(1);
    }
    finish();
    say("another program", attached(id));
    say("detach", shmdt((void *)numbers));
    say("detach again", shmdt((void *)numbers));
}

/* Found by its key, by a process that was made before it was. */
static void made_by_a_child(key_t name)
{
    if (fork() == 0) {
        int made = shmget(name, 10000, IPC_CREAT | IPC_EXCL | 0600);
        int *numbers = shmat(made, NULL, 0);
        numbers[2000] = 77;
        _exit(0);
    }
    finish();
    const int id = (int)say_made("a child has made it", shmget(name, 0, 0));
    const int *numbers = attach("attach", id, NULL, SHM_RDONLY);
    printf("what it wrote: %d, the rest %d\n", numbers[2000], numbers[2001]);
    say("remove", shmctl(id, IPC_RMID, NULL));
    say_made("nobody finds it", shmget(name, 0, 0));
    struct shmid_ds about;
    say("it is there", shmctl(id, IPC_STAT, &about));
    printf("%o %d %zu\n", about.shm_perm.mode, about.shm_perm.__key, about.shm_segsz);
    attach("by its number", id, NULL, SHM_RDONLY);
    say("detach", shmdt(numbers));
    say("one is left", attached(id));
    printf("%d\n", ((int *)shmat(id, NULL, 0))[2000]);
}

static void memory(void)
{
    const key_t name = key();
    say_made("no such key", shmget(name, 4096, 0600));
    say_made("of no size", shmget(name, 0, IPC_CREAT | 0600));
    int id = (int)say_made("make", shmget(name, 5000, IPC_CREAT | IPC_EXCL | 0640));
    say_made("there is one", shmget(name, 5000, IPC_CREAT | IPC_EXCL | 0640));
    printf("the same: %d\n", shmget(name, 100, IPC_CREAT) == id);
    say_made("larger", shmget(name, 5001, 0));
    struct shmid_ds about;
    say("stat", shmctl(id, IPC_STAT, &about));
    printf("%o %zu %d %d %d\n", about.shm_perm.mode, about.shm_segsz, (int)about.shm_nattch, about.shm_cpid == getpid(),
           about.shm_lpid);
    shared_with_children(id);
    attach("not aligned", id, (void *)0x700000001, 0);
    char *low = attach("rounded down", id, (void *)0x700000fff, SHM_RND);
    printf("%d\n", low == (char *)0x700000000);
    attach("there is something", id, low, 0);
    attach("in its place", id, low, SHM_REMAP);
    attach("no place", id, NULL, SHM_REMAP);
    printf("%d\n", *(int *)(void *)low);
    about.shm_perm.mode = 0200;
    say("set", shmctl(id, IPC_SET, &about));
    shmctl(id, SHM_LOCK, NULL);
    say("no such command", shmctl(id, 99, &about));
    say("no such number", shmctl(0x7fffffff, IPC_STAT, &about));
    say("remove", shmctl(id, IPC_RMID, NULL));
    say("detach", shmdt(low));
    made_by_a_child(name);
    id = shmget(IPC_PRIVATE, 4096, 0600);
    const int other = shmget(IPC_PRIVATE, 4096, 0600);
    printf("private ones: %d\n", id >= 0 && id != other);
    shmctl(other, IPC_RMID, NULL);
    shmctl(id, IPC_RMID, NULL);
    say("gone at once", attached(id));
    struct shminfo limits;
    printf("limits: %d\n", shmctl(0, IPC_INFO, (struct shmid_ds *)(void *)&limits) >= 0 && limits.shmmin == 1);
}

/* ------------------------------------------------------------------ semaphores */

union argument {
    int value;
    struct semid_ds *about;
    unsigned short *all;
};

static long op(int id, int number, int change, int flags)
{
    struct sembuf one = {(unsigned short)number, (short)change, (short)flags};
    return semop(id, &one, 1);
}

static long value(int id, int number) { return semctl(id, number, GETVAL); }

static void alone(int id)
{
    unsigned short all[3] = {1, 2, 3};
    struct sembuf two[2] = {{0, -1, 0}, {1, -5, IPC_NOWAIT}};
    say("new", value(id, 0));
    say("set all", semctl(id, 0, SETALL, (union argument){.all = all}));
    memset(all, 0, sizeof all);
    say("get all", semctl(id, 0, GETALL, (union argument){.all = all}));
    printf("%d %d %d\n", all[0], all[1], all[2]);
    say("both or none", semop(id, two, 2));
    printf("%ld %ld\n", value(id, 0), value(id, 1));
    two[1].sem_op = -2;
    say("both", semop(id, two, 2));
    printf("%ld %ld, last by this process: %d\n", value(id, 0), value(id, 1), semctl(id, 1, GETPID) == getpid());
    say("for 0, it is", op(id, 0, 0, 0));
    say("for 0, it is not", op(id, 2, 0, IPC_NOWAIT));
    say("too much", op(id, 2, 32767, 0));
    say("no such semaphore", op(id, 3, 1, 0));
    say("none at all", semop(id, two, 0));
    say("many", semop(id, two, 501));
    say("too large", semctl(id, 0, SETVAL, (union argument){.value = 32768}));
    const struct timespec time = {.tv_nsec = 30000000};
    struct sembuf one = {0, -1, 0};
    say("its time comes", semtimedop(id, &one, 1, &time));
    struct semid_ds about;
    say("stat", semctl(id, 0, IPC_STAT, (union argument){.about = &about}));
    printf("%o %lu %d\n", about.sem_perm.mode, about.sem_nsems, about.sem_otime != 0);
}

/* A waiter gets what another one gives at once: the giver cannot take it again. */
static void given(int id)
{
    semctl(id, 0, SETVAL, (union argument){.value = 0});
    if (fork() == 0)
        _exit(op(id, 0, -2, 0) < 0);
    nap();
    say("it waits", semctl(id, 0, GETNCNT));
    say("one of two", op(id, 0, 1, 0));
    say("value", value(id, 0));
    say("the other one", op(id, 0, 1, 0));
    say("it was given", value(id, 0));
    say("nothing is left", op(id, 0, -1, IPC_NOWAIT));
    finish();
    op(id, 1, 1, 0);
    if (fork() == 0)
        _exit(op(id, 1, 0, 0) < 0);
    nap();
    say("one waits for 0", semctl(id, 1, GETZCNT));
    say("down", op(id, 1, -1, 0));
    finish();
}

static void undone(int id)
{
    semctl(id, 0, SETVAL, (union argument){.value = 3});
    if (fork() == 0) {
        op(id, 0, -2, SEM_UNDO);
        op(id, 0, 4, 0);
        op(id, 1, 5, SEM_UNDO);
        say("for now", value(id, 0));
        _exit(0);
    }
    finish();
    printf("undone: %ld %ld\n", value(id, 0), value(id, 1));
    if (fork() == 0) {
        op(id, 0, -7, SEM_UNDO);
        raise(SIGKILL);
    }
    finish();
    say("who was killed gives it back", op(id, 0, -6, 0));
    if (fork() == 0) {
        op(id, 0, -1, SEM_UNDO);
        semctl(id, 0, SETVAL, (union argument){.value = 9});
        _exit(0);
    }
    finish();
    say("set since", value(id, 0));
}

static void handler(int number) { (void)number; }

static void ended(int id)
{
    const struct sigaction action = {.sa_handler = handler, .sa_flags = SA_RESTART};
    const struct itimerval timer = {.it_value.tv_usec = 20000};
    semctl(id, 0, SETVAL, (union argument){.value = 0});
    sigaction(SIGALRM, &action, NULL);
    setitimer(ITIMER_REAL, &timer, NULL);
    say("a signal", op(id, 0, -1, 0));
    say("nobody waits", semctl(id, 0, GETNCNT));
    if (fork() == 0) {
        say("removed meanwhile", op(id, 0, -1, 0));
        _exit(0);
    }
    nap();
    const long removed = semctl(id, 0, IPC_RMID);
    finish();
    say("remove", removed);
    say("gone", op(id, 0, 1, 0));
}

enum { TURNS = 200 };

/* Two that hand each other the turn. */
static void ping_pong(void)
{
    const int id = semget(IPC_PRIVATE, 2, 0600), memory = shmget(IPC_PRIVATE, 4096, 0600);
    volatile int *count = shmat(memory, NULL, 0);
    shmctl(memory, IPC_RMID, NULL);
    if (fork() == 0) {
        for (int i = 0; i < TURNS; i++) {
            op(id, 0, -1, 0);
            count[0] = count[0] * 3 + 1;
            op(id, 1, 1, 0);
        }
        _exit(0);
    }
    for (int i = 0; i < TURNS; i++) {
        count[0] = count[0] * 5 + 2;
        op(id, 0, 1, 0);
        op(id, 1, -1, 0);
    }
    printf("in turns: %d\n", count[0]);
    finish();
    semctl(id, 0, IPC_RMID);
}

static int shared_set;

static void *takes_one(void *unused)
{
    (void)unused;
    op(shared_set, 0, -1, 0);
    return NULL;
}

static void threads(void)
{
    pthread_t thread[4];
    shared_set = semget(IPC_PRIVATE, 1, 0600);
    for (int i = 0; i < 4; i++)
        pthread_create(&thread[i], NULL, takes_one, NULL);
    nap();
    say("threads wait", semctl(shared_set, 0, GETNCNT));
    say("six", op(shared_set, 0, 6, 0));
    for (int i = 0; i < 4; i++)
        pthread_join(thread[i], NULL);
    say("two are left", value(shared_set, 0));
    semctl(shared_set, 0, IPC_RMID);
}

static void semaphores(void)
{
    const key_t name = key();
    say_made("no such key", semget(name, 1, 0));
    say_made("none", semget(name, 0, IPC_CREAT | 0600));
    const int id = (int)say_made("make", semget(name, 3, IPC_CREAT | 0600));
    say_made("of four", semget(name, 4, 0));
    say_made("too many", semget(name, 32001, IPC_CREAT));
    alone(id);
    given(id);
    undone(id);
    ended(id);
    ping_pong();
    threads();
}

/* ------------------------------------------------------------------ messages */

struct message {
    long type;
    char text[8200];
};

static struct message buffer;

static long put(int id, long type, const char *text, int flags)
{
    buffer.type = type;
    strcpy(buffer.text, text);
    return msgsnd(id, &buffer, strlen(text), flags);
}

static void get(const char *what, int id, long type, size_t bytes, int flags)
{
    memset(&buffer, 0, sizeof buffer);
    const long got = msgrcv(id, &buffer, bytes, type, flags);
    say(what, got);
    if (got >= 0)
        printf(" %ld %s\n", buffer.type, buffer.text);
    fflush(stdout);
}

static void types(int id)
{
    static const char *const texts[] = {"one", "three", "two", "five", "another two", "four"};
    static const long numbers[] = {1, 3, 2, 5, 2, 4};
    for (int i = 0; i < 6; i++)
        put(id, numbers[i], texts[i], 0);
    get("of type 2", id, 2, 100, 0);
    get("the lowest up to 3", id, -3, 100, 0);
    get("the lowest up to 3", id, -3, 100, 0);
    get("but for 3", id, 3, 100, MSG_EXCEPT);
    get("any, too large", id, 0, 3, 0);
    get("its beginning", id, 0, 3, MSG_NOERROR);
    get("of type 7", id, 7, 100, IPC_NOWAIT);
    get("what is left", id, 0, 100, 0);
    get("nothing", id, 0, 100, IPC_NOWAIT);
    say("no type", put(id, 0, "x", 0));
    say("too long", msgsnd(id, &buffer, 8193, 0));
}

static void full(int id)
{
    struct msqid_ds about;
    memset(buffer.text, 'x', 5000);
    buffer.type = 1;
    for (int i = 0; i < 3; i++)
        say("5000 bytes", msgsnd(id, &buffer, 5000, IPC_NOWAIT));
    say("no room", msgsnd(id, &buffer, 5000, IPC_NOWAIT));
    say("for less there is", put(id, 2, "little", IPC_NOWAIT));
    msgctl(id, IPC_STAT, &about);
    printf("%lu messages of %lu bytes in %lu\n", about.msg_qnum, about.__msg_cbytes, about.msg_qbytes);
    if (fork() == 0) {
        say("waits for room", msgsnd(id, &buffer, 5000, 0));
        _exit(0);
    }
    nap();
    const long got = msgrcv(id, &buffer, 8192, 1, 0);
    finish();
    say("one goes", got);
    msgctl(id, IPC_STAT, &about);
    printf("%lu messages of %lu bytes\n", about.msg_qnum, about.__msg_cbytes);
    about.msg_qbytes = 1;
    say("smaller", msgctl(id, IPC_SET, &about));
    say("none of two bytes", put(id, 2, "ab", IPC_NOWAIT));
    about.msg_qbytes = 16384;
    msgctl(id, IPC_SET, &about);
    while (msgrcv(id, &buffer, 8192, 0, IPC_NOWAIT) >= 0)
        continue;
}

/* What was sent to a waiter is his, though the queue goes right behind. */
static void waits(int id)
{
    if (fork() == 0) {
        get("waited for", id, 5, 100, 0);
        _exit(0);
    }
    nap();
    put(id, 4, "not this one", 0);
    put(id, 5, "this one", 0);
    struct msqid_ds about;
    msgctl(id, IPC_STAT, &about);
    const unsigned long left = about.msg_qnum;
    finish();
    printf("in the queue: %lu\n", left);
    if (fork() == 0) {
        if (fork() == 0) {
            get("the last message", id, 6, 100, 0);
            _exit(0);
        }
        nap();
        put(id, 6, "bye", 0);
        msgctl(id, IPC_RMID, NULL);
        finish();
        _exit(0);
    }
    const long got = msgrcv(id, &buffer, 100, 7, 0);
    const int error = errno;
    finish();
    errno = error;
    say("removed meanwhile", got);
    get("gone", id, 0, 100, 0);
}

static void messages(void)
{
    const key_t name = key();
    say_made("no such key", msgget(name, 0));
    const int id = (int)say_made("make", msgget(name, IPC_CREAT | 0600));
    say_made("there is one", msgget(name, IPC_CREAT | IPC_EXCL | 0600));
    types(id);
    full(id);
    waits(id);
}

/* ------------------------------------------------------------------ queues of POSIX */

static char text[8192];

static void take(const char *what, mqd_t queue)
{
    unsigned priority = 99;
    memset(text, 0, sizeof text);
    const long got = mq_receive(queue, text, sizeof text, &priority);
    say(what, got);
    if (got >= 0)
        printf(" %u %s\n", priority, text);
    fflush(stdout);
}

static void shows(const char *what, mqd_t queue)
{
    struct pollfd query = {.fd = queue, .events = POLLIN | POLLOUT};
    const int ready = poll(&query, 1, 0);
    printf("%s: %d%s%s\n", what, ready, query.revents & POLLIN ? " in" : "", query.revents & POLLOUT ? " out" : "");
}

static void opens(const char *name)
{
    struct mq_attr attr = {.mq_maxmsg = 2, .mq_msgsize = 8192};
    say_made("no such name", mq_open(name, O_RDWR));
    say_made("within another one", mq_open("/a/b", O_RDWR | O_CREAT, 0600, NULL));
    attr.mq_maxmsg = 0;
    say_made("for no message", mq_open(name, O_RDWR | O_CREAT, 0600, &attr));
    attr.mq_maxmsg = 2;
    const mqd_t queue = (mqd_t)say_made("make", mq_open(name, O_RDWR | O_CREAT | O_EXCL, 0600, &attr));
    say_made("there is one", mq_open(name, O_RDWR | O_CREAT | O_EXCL, 0600, &attr));
    say("attributes", mq_getattr(queue, &attr));
    printf("%ld %ld %ld %ld\n", attr.mq_flags, attr.mq_maxmsg, attr.mq_msgsize, attr.mq_curmsgs);
    mq_close(queue);
    say("closed", mq_send(queue, "x", 1, 0));
}

static volatile int told;

static void is_told(int number, siginfo_t *info, void *context)
{
    (void)number;
    (void)context;
    told = info->si_code == SI_MESGQ ? info->si_value.sival_int : -1;
}

static void notifies(mqd_t queue)
{
    const struct sigaction action = {.sa_sigaction = is_told, .sa_flags = SA_SIGINFO};
    struct sigevent event = {.sigev_notify = SIGEV_SIGNAL, .sigev_signo = SIGUSR1, .sigev_value.sival_int = 42};
    sigaction(SIGUSR1, &action, NULL);
    say("to be told", mq_notify(queue, &event));
    say("once more", mq_notify(queue, &event));
    mq_send(queue, "a", 1, 0);
    printf("told: %d\n", told);
    told = 0;
    mq_send(queue, "b", 1, 0);
    printf("once: %d\n", told);
    say("not any more", mq_notify(queue, NULL));
    take("a", queue);
    take("b", queue);
}

static int called[2]; /* a pipe */

static void is_called(union sigval value)
{
    const char byte = (char)value.sival_int;
    if (write(called[1], &byte, 1) < 0)
        _exit(1);
}

static void calls_once(const char *what, mqd_t queue)
{
    char byte = 0;
    say(what, read(called[0], &byte, 1));
    printf("with %d\n", byte);
    take("of it", queue);
}

/* A function is called, for a message of its own, and for one of another process. */
static void calls(mqd_t queue)
{
    struct sigevent event = {.sigev_notify = SIGEV_THREAD, .sigev_value.sival_int = 43};
    event.sigev_notify_function = is_called;
    if (pipe(called) < 0)
        _exit(1);
    say("to be called", mq_notify(queue, &event));
    say("twice", mq_notify(queue, &event));
    mq_send(queue, "own", 3, 1);
    calls_once("called", queue);
    event.sigev_value.sival_int = 44;
    say("to be called again", mq_notify(queue, &event));
    if (fork() == 0)
        _exit(mq_send(queue, "other", 5, 1) < 0);
    calls_once("called by another", queue);
    finish();
    say("to be called no more", mq_notify(queue, &event));
    say("removed", mq_notify(queue, NULL));
    mq_send(queue, "x", 1, 1);
    take("nobody was called", queue);
}

static void queue_between(mqd_t queue, const char *name)
{
    if (fork() == 0) {
        const mqd_t own = mq_open(name, O_RDONLY);
        take("the child waits", own);
        say("it may not send", mq_send(own, "x", 1, 0));
        _exit(0);
    }
    nap();
    mq_send(queue, "for the child", 13, 3);
    shows("it has it", queue);
    finish();
    mq_send(queue, "1", 1, 1);
    mq_send(queue, "2", 1, 2);
    if (fork() == 0)
        _exit(mq_send(queue, "from who waited", 15, 9) < 0);
    nap();
    take("the highest", queue);
    finish();
    take("who waited comes first", queue);
    take("the last", queue);
}

static void queues(void)
{
    char name[32];
    const struct timespec past = {.tv_sec = 1};
    snprintf(name, sizeof name, "/c2emu-%d", getpid());
    opens(name);
    const mqd_t queue = mq_open(name, O_RDWR);
    shows("empty", queue);
    say("too late", mq_timedreceive(queue, text, sizeof text, NULL, &past));
    say("too small", mq_receive(queue, text, 100, NULL));
    say("too large", mq_send(queue, text, 8193, 0));
    say("no such priority", mq_send(queue, text, 1, 32768));
    mq_send(queue, "low", 3, 1);
    shows("one", queue);
    mq_send(queue, "high", 4, 7);
    shows("full", queue);
    say("no room", mq_timedsend(queue, "x", 1, 0, &past));
    take("first", queue);
    take("second", queue);
    notifies(queue);
    calls(queue);
    queue_between(queue, name);
    struct mq_attr attr = {.mq_flags = O_NONBLOCK};
    say("do not wait", mq_setattr(queue, &attr, NULL));
    take("nothing", queue);
    const int copy = dup(queue);
    say("unlink", mq_unlink(name));
    say("unlink again", mq_unlink(name));
    mq_close(queue);
    say("it is there still", mq_send(copy, "x", 1, 0));
    mq_close(copy);
    say_made("and gone", mq_open(name, O_RDWR));
}

__attribute__((noinline)) void on_saved(void) { __asm__ volatile(""); }

/* Has a queue as long as its input is open. */
static void keep(key_t name)
{
    char byte;
    const int id = (int)say_made("make", msgget(name, IPC_CREAT | 0600));
    on_saved();
    while (read(0, &byte, 1) > 0)
        continue;
    msgctl(id, IPC_RMID, NULL);
}

int main(int argc, char **argv)
{
    const char *part = argc > 1 ? argv[1] : "";
    if (strcmp(part, "memory") == 0)
        memory();
    else if (strcmp(part, "semaphores") == 0)
        semaphores();
    else if (strcmp(part, "messages") == 0)
        messages();
    else if (strcmp(part, "queues") == 0)
        queues();
    else if (strcmp(part, "stuck") == 0)
        op(semget(IPC_PRIVATE, 1, 0600), 0, -1, 0);
    else if (strcmp(part, "kept") == 0 && argc > 2)
        keep(atoi(argv[2]));
    else if (strcmp(part, "find") == 0 && argc > 2)
        say_made("find", msgget(atoi(argv[2]), 0));
    return 0;
}

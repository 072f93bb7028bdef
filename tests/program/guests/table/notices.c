/* SPDX-License-Identifier: GPL-2.0-or-later
 *
 * Signals that tell of descriptors: to their owner, to a parent, with F_SETSIG; and of leases.
 */
#define _GNU_SOURCE
#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <stdio.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

static volatile sig_atomic_t plain, told, told_fd, told_code;

static void on_plain(int signal)
{
    (void)signal;
    plain++;
}

static void on_told(int signal, siginfo_t *info, void *context)
{
    (void)signal, (void)context;
    told++;
    told_fd = info->si_fd;
    told_code = info->si_code;
}

/* A signal may end the wait. */
static int end_of(pid_t child)
{
    int status;
    while (waitpid(child, &status, 0) != child)
        ;
    return WEXITSTATUS(status);
}

static void pipes(void)
{
    int pair[2], on = 1;
    pid_t child;
    char byte;
    socketpair(AF_UNIX, SOCK_STREAM, 0, pair);
    printf("owner %d, signal %d\n", fcntl(pair[0], F_GETOWN), fcntl(pair[0], F_GETSIG));
    (void)!write(pair[1], "a", 1);
    printf("without an owner: %d\n", plain);
    fcntl(pair[0], F_SETOWN, getpid());
    printf("owned by itself: %d\n", fcntl(pair[0], F_GETOWN) == getpid());
    printf("FIOASYNC: %d\n", ioctl(pair[0], FIOASYNC, &on));
    printf("O_ASYNC: %d\n", (fcntl(pair[0], F_GETFL) & O_ASYNC) != 0);
    (void)!write(pair[1], "b", 1);
    printf("written to: %d\n", plain);
    fcntl(pair[0], F_SETSIG, SIGRTMIN + 3);
    if ((child = fork()) == 0)
        _exit(write(pair[1], "c", 1) != 1);
    end_of(child);
    printf("a child has written: %d %d, the right one: %d, %s\n", plain, told, told_fd == pair[0],
           told_code == POLL_IN ? "in" : "another code");
    fcntl(pair[0], F_SETFL, fcntl(pair[0], F_GETFL) & ~O_ASYNC);
    (void)!write(pair[1], "d", 1);
    while (recv(pair[0], &byte, 1, MSG_DONTWAIT) == 1)
        putchar(byte);
    printf("\nno more: %d %d\n", plain, told);
    printf("nobody has number 99999: %s\n", fcntl(pair[0], F_SETOWN, 99999) < 0 ? strerror(errno) : "0");
    printf("signal 65: %s\n", fcntl(pair[0], F_SETSIG, 65) < 0 ? strerror(errno) : "0");
    close(pair[0]);
    close(pair[1]);
}

static int give_back;
static void on_lease(int signal)
{
    (void)signal;
    plain++;
    fcntl(give_back, F_SETLEASE, F_UNLCK);
}

static void leases(void)
{
    pid_t child;
    int fd = open("leased", O_RDWR | O_CREAT | O_TRUNC, 0600), other;
    printf("reading, of one that writes: %s\n", fcntl(fd, F_SETLEASE, F_RDLCK) < 0 ? strerror(errno) : "0");
    printf("none: %d\n", fcntl(fd, F_GETLEASE) == F_UNLCK);
    close(fd);
    give_back = fd = open("leased", O_RDONLY);
    printf("reading: %d\n", fcntl(fd, F_SETLEASE, F_RDLCK));
    printf("it is: %d\n", fcntl(fd, F_GETLEASE) == F_RDLCK);
    other = open("leased", O_WRONLY | O_NONBLOCK);
    printf("in the way: %s\n", other < 0 ? strerror(errno) : "0");
    signal(SIGIO, on_lease);
    plain = 0;
    fcntl(fd, F_SETLEASE, F_UNLCK);
    printf("writing: %d\n", fcntl(fd, F_SETLEASE, F_WRLCK));
    if ((child = fork()) == 0) {
        close(fd);
        other = open("leased", O_RDONLY);
        _exit(other < 0 ? 1 : (fcntl(other, F_GETFL) & O_NONBLOCK) != 0 ? 2 : 3);
    }
    printf("the child: %d, ", end_of(child));
    printf("told: %d\n", plain);
    unlink("leased");
}

static void directories(void)
{
    pid_t child;
    plain = 0;
    signal(SIGIO, on_plain);
    mkdir("watched", 0700);
    int fd = open("watched", O_RDONLY);
    printf("watched: %d\n", fcntl(fd, F_NOTIFY, DN_CREATE | DN_DELETE | DN_MULTISHOT));
    close(open("watched/new", O_WRONLY | O_CREAT, 0600));
    printf("made: %d\n", plain);
    if ((child = fork()) == 0)
        _exit(unlink("watched/new"));
    end_of(child);
    printf("removed: %d\n", plain);
    printf("not watched: %d\n", fcntl(fd, F_NOTIFY, 0));
    rmdir("watched");
    printf("told: %d\n", plain);
}

int main(void)
{
    struct sigaction action = {.sa_sigaction = on_told, .sa_flags = SA_SIGINFO};
    signal(SIGIO, on_plain);
    sigaction(SIGRTMIN + 3, &action, NULL);
    setvbuf(stdout, NULL, _IONBF, 0);
    pipes();
    leases();
    directories();
    return 0;
}

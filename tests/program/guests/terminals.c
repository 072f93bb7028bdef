/* SPDX-License-Identifier: GPL-2.0-or-later
 *
 * terminals PART: says what pseudo-terminals do.
 *
 * ends     names, settings and sizes of both; what is ready; what is read when one is closed
 * jobs     a session of its own: its foreground and background, typed signals, and the end of its leader
 * hangups  the master is closed, with the leader of a session and others at the slave
 */
#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/epoll.h>
#include <sys/ioctl.h>
#include <sys/stat.h>
#include <sys/sysmacros.h>
#include <sys/wait.h>
#include <termios.h>
#include <unistd.h>

static int keeps; /* what is said until the end, while others talk */

static void flush(void)
{
    if (!keeps)
        fflush(stdout);
}

static void say(const char *what, long value)
{
    if (value < 0)
        printf("%s: %s\n", what, strerrorname_np(errno));
    else
        printf("%s: %ld\n", what, value);
    flush();
}

static int slave_name_starts_with_pts(int master) { return strncmp(ptsname(master), "/dev/pts/", 9) == 0; }

static int open_master(void)
{
    const int master = posix_openpt(O_RDWR | O_NOCTTY);
    if (master < 0 || grantpt(master) < 0 || unlockpt(master) < 0)
        exit(77);
    return master;
}

/* So many bytes, however they come. */
static void show(const char *what, int fd, size_t bytes)
{
    char text[512];
    size_t done = 0;
    while (done < bytes) {
        const ssize_t got = read(fd, text + done, bytes - done);
        if (got <= 0) {
            say(what, got);
            return;
        }
        done += (size_t)got;
    }
    printf("%s:", what);
    for (size_t i = 0; i < done; i++)
        printf(text[i] < 32 || text[i] == 127 ? " %02x" : " %c", text[i]);
    printf("\n");
    flush();
}

static void put(int fd, const char *text) { say("written", write(fd, text, strlen(text))); }

static int ready(int fd)
{
    struct pollfd asks = {.fd = fd, .events = POLLIN | POLLPRI | POLLOUT};
    poll(&asks, 1, 0);
    return asks.revents;
}

/* ------------------------------------------------------------------ ends */

static void settings(int master, int slave)
{
    struct termios termios;
    struct winsize size = {24, 80, 0, 0}, got = {0};
    say("settings", tcgetattr(slave, &termios));
    printf("%x %x %x %x\n", termios.c_iflag, termios.c_oflag, termios.c_cflag, termios.c_lflag);
    termios.c_lflag &= ~(tcflag_t)(ECHO | ICANON);
    termios.c_cc[VMIN] = 0;
    termios.c_cc[VTIME] = 0;
    say("set", tcsetattr(master, TCSAFLUSH, &termios));
    say("nothing", read(slave, &got, 4));
    termios.c_cc[VTIME] = 1;
    say("set", tcsetattr(slave, TCSANOW, &termios));
    say("nothing after a tenth", read(slave, &got, 4));
    put(master, "ab\r");
    show("raw", slave, 3);
    termios.c_cc[VMIN] = 3;
    termios.c_cc[VTIME] = 0;
    tcsetattr(slave, TCSANOW, &termios);
    put(master, "ab");
    say("too few", ready(slave) & POLLIN);
    put(master, "c");
    show("enough", slave, 3);
    say("size", ioctl(slave, TIOCSWINSZ, &size));
    say("size", ioctl(master, TIOCGWINSZ, &got));
    say("columns", got.ws_col);
}

static void watched(int master, int slave)
{
    const int set = epoll_create1(0);
    struct epoll_event event = {.events = EPOLLIN | EPOLLET, .data.fd = slave}, got[2];
    say("watch", epoll_ctl(set, EPOLL_CTL_ADD, slave, &event));
    say("nothing", epoll_wait(set, got, 2, 0));
    put(master, "x\n");
    say("something", epoll_wait(set, got, 2, 1000));
    say("not twice", epoll_wait(set, got, 2, 0));
    show("line", slave, 2);
    put(master, "y\n");
    say("again", epoll_wait(set, got, 2, 1000));
    show("line", slave, 2);
    show("echo", master, 6);
    close(set);
}

static void ends(void)
{
    const int master = posix_openpt(O_RDWR | O_NOCTTY);
    int number = -1;
    char text[8];
    struct stat st;
    if (master < 0)
        exit(77);
    say("locked", open(ptsname(master), O_RDWR | O_NOCTTY));
    unlockpt(master);
    const int slave = open(ptsname(master), O_RDWR | O_NOCTTY);
    say("number", ioctl(master, TIOCGPTN, &number));
    say("of the slave", ioctl(slave, TIOCGPTN, &number));
    say("names agree", strcmp(ttyname(slave), ptsname(master)));
    say("name", slave_name_starts_with_pts(master));
    say("device", fstat(slave, &st) == 0 ? (long)major(st.st_rdev) : -1);
    say("flags", fcntl(open(ptsname(master), O_WRONLY | O_NOCTTY), F_GETFL) & O_ACCMODE);
    say("seek", lseek(master, 0, SEEK_SET));
    say("pread", pread(slave, text, 1, 0));
    printf("ready: %x %x\n", ready(master), ready(slave));
    watched(master, slave);
    put(master, "ab\177c\n");
    show("line", slave, 3);
    show("echo", master, 8);
    put(slave, "a\tb\nc");
    show("printed", master, 6);
    put(master, "one\004");
    show("one", slave, 3);
    show("echo", master, 3);
    put(master, "\004");
    say("end", read(slave, text, 8));
    settings(master, slave);
    close(slave);
    close(slave + 1); /* the one for writing */
    printf("left: %x\n", ready(master) & (POLLHUP | POLLIN));
    say("read", read(master, text, 8));
    say("opened again", open(ptsname(master), O_RDWR | O_NOCTTY) >= 0);
    printf("there: %x\n", ready(master) & (POLLHUP | POLLIN));
    close(master);
}

/* ------------------------------------------------------------------ jobs */

static volatile sig_atomic_t caught[65];

static void catch (int signal) { caught[signal]++; }

static void handle(int signal, void (*handler)(int))
{
    const struct sigaction action = {.sa_handler = handler, .sa_flags = SA_RESTART};
    sigaction(signal, &action, NULL);
}

/* A process in a group of its own, in the background: reads a line from the terminal. */
static pid_t start_reader(int slave)
{
    const pid_t child = fork();
    if (child == 0) {
        char text[16];
        setpgid(0, 0);
        const ssize_t got = read(slave, text, sizeof text);
        _exit(got > 0 ? (int)got : 100 + errno);
    }
    setpgid(child, child);
    return child;
}

static void status_of(const char *what, pid_t child, int options)
{
    int status = 0;
    const pid_t got = waitpid(child, &status, options);
    printf("%s: %s, %d\n", what,
           got != child          ? "nothing"
           : WIFSTOPPED(status)  ? "stopped"
           : WIFSIGNALED(status) ? "killed"
                                 : "exited",
           WIFSTOPPED(status)    ? WSTOPSIG(status)
           : WIFSIGNALED(status) ? WTERMSIG(status)
                                 : WEXITSTATUS(status));
    flush();
}

static int goes_on[2]; /* the leader may end */

static void leader(int master, const char *name)
{
    struct termios termios;
    say("no terminal", open("/dev/tty", O_RDWR));
    const int slave = open(name, O_RDWR);
    close(master);
    say("it is the terminal now", open("/dev/tty", O_RDWR) >= 0);
    say("taken again", ioctl(slave, TIOCSCTTY, 0));
    say("in the foreground", tcgetpgrp(slave) == getpid());
    say("of the session", tcgetsid(slave) == getpid());
    const pid_t child = start_reader(slave);
    status_of("reader", child, WUNTRACED);
    say("to the foreground", tcsetpgrp(slave, child));
    kill(child, SIGCONT);
    status_of("reader", child, 0);
    handle(SIGTTOU, SIG_IGN);
    say("back", tcsetpgrp(slave, getpid()));
    handle(SIGTTOU, SIG_DFL);
    const pid_t writer = fork();
    if (writer == 0) {
        setpgid(0, 0);
        tcgetattr(slave, &termios);
        _exit(tcsetattr(slave, TCSANOW, &termios) < 0 ? errno : 0);
    }
    setpgid(writer, writer);
    status_of("writer", writer, WUNTRACED);
    kill(writer, SIGKILL);
    status_of("writer", writer, 0);
    handle(SIGINT, catch);
    handle(SIGWINCH, catch);
    put(slave, "now");
    show("typed behind the signals", slave, 2);
    put(slave, "!"); /* the typed signal has dropped what was printed before */
    printf("caught: %d %d\n", caught[SIGINT], caught[SIGWINCH]);
    fflush(stdout);
    const pid_t left = fork();
    if (left == 0) {
        const struct sigaction interrupts = {.sa_handler = catch};
        sigaction(SIGHUP, &interrupts, NULL);
        put(slave, "r");
        const ssize_t got = caught[SIGHUP] ? -1 : read(slave, &termios, 4);
        printf("left alone: %zd, hangups %d\n", got, caught[SIGHUP]);
        say("it goes on", write(slave, "x", 1));
        say("foreground", tcgetpgrp(slave));
        _exit(0);
    }
    if (read(goes_on[0], &termios, 1) != 1)
        _exit(1);
    _exit(3);
}

static void jobs(void)
{
    const int master = open_master();
    const struct winsize size = {10, 20, 0, 0};
    char name[64], text[64];
    strcpy(name, ptsname(master));
    if (pipe(goes_on) < 0)
        exit(1);
    const pid_t child = fork();
    if (child == 0) {
        setsid();
        leader(master, name);
    }
    keeps = 1;
    put(master, "word\n");
    show("echo", master, 6);
    show("it is ready", master, 3);
    say("not ours", tcgetpgrp(master) == child);
    ioctl(master, TIOCSWINSZ, &size);
    put(master, "\003");
    show("echo", master, 2);
    put(master, "a\n");
    show("echo and the others'", master, 5);
    put(goes_on[1], "b");
    status_of("leader", child, 0);
    while (read(master, text, sizeof text) > 0)
        continue;
    say("all are gone", -1);
}

/* ------------------------------------------------------------------ hangups */

static void hangups(void)
{
    const int master = open_master();
    int tells[2];
    char name[64], byte;
    strcpy(name, ptsname(master));
    if (pipe(tells) < 0)
        exit(1);
    const pid_t child = fork();
    if (child == 0) {
        setsid();
        const int slave = open(name, O_RDWR);
        struct pollfd asks = {.fd = slave, .events = POLLIN | POLLOUT};
        close(master);
        handle(SIGHUP, catch);
        byte = 'x';
        if (write(tells[1], &byte, 1) != 1)
            _exit(1);
        while (!caught[SIGHUP])
            if (read(slave, &byte, 1) == 0)
                break;
        say("hangups", caught[SIGHUP]);
        say("read", read(slave, &byte, 1));
        say("write", write(slave, "x", 1));
        say("foreground", tcgetpgrp(slave));
        say("to the foreground", tcsetpgrp(slave, getpid()));
        say("polled", poll(&asks, 1, 0));
        printf("%x\n", asks.revents);
        say("no terminal", open("/dev/tty", O_RDWR));
        say("nor by its name", open(name, O_RDWR));
        fflush(stdout);
        _exit(0);
    }
    if (read(tells[0], &byte, 1) != 1)
        exit(1);
    close(master);
    status_of("leader", child, 0);
    const int next = open_master();
    say("a number again", strcmp(name, ptsname(next)));
}

int main(int count, char **arguments)
{
    const char *part = count > 1 ? arguments[1] : "";
    if (strcmp(part, "ends") == 0)
        ends();
    else if (strcmp(part, "jobs") == 0)
        jobs();
    else if (strcmp(part, "hangups") == 0)
        hangups();
    else
        return 2;
    return 0;
}

/* SPDX-License-Identifier: GPL-2.0-or-later
 *
 * The line discipline beside the host's: what is written to both ends of a pseudo-terminal of the host's and of one
 * here, at random, under random settings, is read alike. The host hands on what is written when it likes: it is
 * waited for until it has as many bytes as there are here.
 */
#include <asm/ioctls.h>
#include <asm/termbits.h>
#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <setjmp.h>
#include <signal.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

#include <cmocka.h>

#include "base/base.h"
#include "syscalls/discipline_priv.h"

int ioctl(int fd, unsigned long request, ...); /* its header and termbits.h exclude each other */

static struct discipline own;
static int host[2]; /* by DISCIPLINE_MASTER and DISCIPLINE_SLAVE */

static bool open_host(void)
{
    int number, unlocked = 0;
    char name[32];
    host[DISCIPLINE_MASTER] = open("/dev/ptmx", O_RDWR | O_NOCTTY | O_NONBLOCK);
    if (host[DISCIPLINE_MASTER] < 0 || ioctl(host[DISCIPLINE_MASTER], TIOCGPTN, &number) < 0)
        return false;
    snprintf(name, sizeof name, "/dev/pts/%d", number);
    assert_int_equal(ioctl(host[DISCIPLINE_MASTER], TIOCSPTLCK, &unlocked), 0);
    host[DISCIPLINE_SLAVE] = open(name, O_RDWR | O_NOCTTY | O_NONBLOCK);
    return host[DISCIPLINE_SLAVE] >= 0;
}

static int begin(void **state)
{
    (void)state;
    discipline_create(&own);
    host[DISCIPLINE_SLAVE] = -1;
    if (open_host())
        return 0;
    host[DISCIPLINE_MASTER] = -1;
    return 0;
}

static int end(void **state)
{
    (void)state;
    close(host[DISCIPLINE_SLAVE]);
    close(host[DISCIPLINE_MASTER]);
    return 0;
}

static void need_host(void)
{
    if (host[DISCIPLINE_MASTER] < 0)
        skip(); /* this host has no pseudo-terminals */
}

/* ------------------------------------------------------------------ both */

static uint32_t count_at(int which)
{
    int count = -1;
    struct pollfd asks = {.fd = host[which], .events = POLLIN}; /* where nothing is there it hands on all there is */
    poll(&asks, 1, 0);
    assert_int_equal(ioctl(host[which], FIONREAD, &count), 0);
    return (uint32_t)count;
}

static void settle(void)
{
    const time_t begun = time(NULL);
    for (int which = 0; which < 2; which++)
        while (count_at(which) != discipline_count(&own, which))
            if (time(NULL) > begun + 5)
                fail_msg("end %d: the host has %u bytes, here are %u", which, count_at(which),
                         discipline_count(&own, which));
}

/* Whether it makes a signal. What that drops of what was echoed with it depends on the host's other threads. */
static bool is_signal(uint8_t byte) { return (byte & 0x7f) == 3 || (byte & 0x7f) == 28 || (byte & 0x7f) == 26; }

static void drain(void);

static void write_both(int which, const uint8_t *bytes, size_t count)
{
    if (count > 0 && which == DISCIPLINE_MASTER && is_signal(bytes[0]))
        drain(); /* what it drops is not to have the length of what comes with it */
    const ssize_t theirs = write(host[which], bytes, count);
    const size_t ours = discipline_write(&own, which, bytes, count);
    assert_int_equal(theirs < 0 ? 0 : theirs, ours);
    discipline_check(&own);
    settle();
}

static void type(const char *text) { write_both(DISCIPLINE_MASTER, (const uint8_t *)text, strlen(text)); }
static void print(const char *text) { write_both(DISCIPLINE_SLAVE, (const uint8_t *)text, strlen(text)); }

/* What the host answers: -1 if it would wait. */
static ssize_t read_both(int which, size_t room)
{
    uint8_t theirs[8192], ours[8192];
    bool line;
    const bool waits = !discipline_has_input(&own, which, false);
    ssize_t got = read(host[which], theirs, room);
    const size_t here = discipline_read(&own, which, ours, room, &line);
    discipline_check(&own);
    if (got < 0)
        assert_true(errno == EAGAIN && waits && here == 0);
    else
        assert_int_equal(got, here);
    if (got > 0)
        assert_memory_equal(theirs, ours, (size_t)got);
    return got;
}

static void drain(void)
{
    settle();
    for (int which = 0; which < 2; which++)
        while (read_both(which, sizeof(uint8_t[8192])) >= 0)
            continue;
}

static void expect(int which, const char *text)
{
    char got[512];
    bool line;
    settle();
    const ssize_t theirs = read(host[which], got, sizeof got);
    assert_int_equal(theirs, (ssize_t)strlen(text));
    assert_memory_equal(got, text, strlen(text));
    assert_int_equal(discipline_read(&own, which, (uint8_t *)got, sizeof got, &line), strlen(text));
    assert_memory_equal(got, text, strlen(text));
}

static void set_both(const struct discipline_settings *settings)
{
    struct discipline_settings theirs = *settings;
    assert_int_equal(ioctl(host[DISCIPLINE_SLAVE], TCSETS2, &theirs), 0);
    discipline_set(&own, settings);
    assert_int_equal(ioctl(host[DISCIPLINE_SLAVE], TCGETS2, &theirs), 0);
    assert_memory_equal(&theirs, &own.end[DISCIPLINE_SLAVE].settings,
                        offsetof(struct discipline_settings, input_speed));
    drain();
}

/* ------------------------------------------------------------------ what can be followed by hand */

static void lines_are_edited(void **state)
{
    (void)state;
    need_host();
    type("ab\177c\n");
    expect(DISCIPLINE_SLAVE, "ac\n");
    expect(DISCIPLINE_MASTER, "ab\b \bc\r\n");
    type("one two\027\025\026\003x\004");
    expect(DISCIPLINE_SLAVE, "\003x");
    expect(DISCIPLINE_MASTER, "one two\b \b\b \b\b \b\b \b\b \b\b \b\b \b^\b^Cx");
    type("\004");
    expect(DISCIPLINE_SLAVE, ""); /* the end of a file */
    print("a\tb\n");
    expect(DISCIPLINE_MASTER, "a\tb\r\n");
}

static void first_settings_are_the_hosts(void **state)
{
    struct discipline_settings theirs;
    (void)state;
    need_host();
    assert_int_equal(ioctl(host[DISCIPLINE_SLAVE], TCGETS2, &theirs), 0);
    assert_memory_equal(&theirs, &own.end[DISCIPLINE_SLAVE].settings, sizeof theirs);
}

static void typed_signals_drop_what_is_there(void **state)
{
    (void)state;
    need_host();
    type("ab");
    expect(DISCIPLINE_MASTER, "ab");
    type("cd\003e\n");
    assert_int_equal(own.signal, 1ull << (SIGINT - 1));
    expect(DISCIPLINE_MASTER, "^Ce\r\n");
    expect(DISCIPLINE_SLAVE, "e\n");
}

static void packets_tell_of_the_slave(void **state)
{
    int on = 1;
    (void)state;
    need_host();
    assert_int_equal(ioctl(host[DISCIPLINE_MASTER], TIOCPKT, &on), 0);
    own.packets = true;
    print("x");
    assert_int_equal(read_both(DISCIPLINE_MASTER, 64), 2);
    type("\023");
    assert_int_equal(read_both(DISCIPLINE_MASTER, 64), 1);
    struct discipline_settings settings = own.end[DISCIPLINE_SLAVE].settings;
    settings.input &= ~(uint32_t)IXON;
    set_both(&settings);
}

/* More than the input takes, by lines and not; without a reader. */
static void too_much_input(void **state)
{
    static uint8_t bytes[6000];
    (void)state;
    need_host();
    struct discipline_settings settings = own.end[DISCIPLINE_SLAVE].settings;
    settings.local &= ~(uint32_t)ECHO;
    set_both(&settings);
    for (size_t i = 0; i < sizeof bytes; i++)
        bytes[i] = (uint8_t)('a' + i % 26);
    for (size_t at = 0; at < sizeof bytes; at += 1000)
        write_both(DISCIPLINE_MASTER, bytes + at, 1000);
    type("\n");
    assert_int_equal(read_both(DISCIPLINE_SLAVE, 8192), 4096);
    settings.local &= ~(uint32_t)ICANON;
    set_both(&settings);
    for (size_t at = 0; at < sizeof bytes; at += 1000)
        write_both(DISCIPLINE_MASTER, bytes + at, 1000);
    assert_int_equal(read_both(DISCIPLINE_SLAVE, 4095), 4095); /* with more room the host may refill amid its read */
    settle();
    assert_int_equal(read_both(DISCIPLINE_SLAVE, 8192), 1905);
}

/* ------------------------------------------------------------------ at random */

static struct c2_rng rng;

static uint32_t below(uint32_t n) { return (uint32_t)(c2_rng_next(&rng) % n); }

static void random_settings(void)
{
    static const uint32_t inputs[] = {ISTRIP, INLCR, IGNCR, ICRNL, IUCLC, IXON, IXANY, IUTF8, PARMRK};
    static const uint32_t outputs[] = {OPOST, OLCUC, ONLCR, OCRNL, ONOCR, ONLRET, XTABS};
    static const uint32_t locals[] = {ISIG,   ICANON,  ECHO,    ECHOE,  ECHOK, ECHONL,
                                      NOFLSH, ECHOCTL, ECHOPRT, ECHOKE, IEXTEN};
    struct discipline_settings settings = own.end[DISCIPLINE_SLAVE].settings;
    settings.input &= below(2) ? ~0u : ICRNL | IXON;
    for (size_t i = 0; i < sizeof inputs / sizeof *inputs; i++)
        settings.input ^= below(6) == 0 ? inputs[i] : 0;
    for (size_t i = 0; i < sizeof outputs / sizeof *outputs; i++)
        settings.output ^= below(6) == 0 ? outputs[i] : 0;
    for (size_t i = 0; i < sizeof locals / sizeof *locals; i++)
        settings.local ^= below(5) == 0 ? locals[i] : 0;
    settings.character[VEOL] = below(4) == 0 ? 'e' : 0;
    settings.character[VEOL2] = below(4) == 0 ? 0xff : 0;
    settings.character[VERASE] = below(4) == 0 ? 'r' : 127;
    settings.character[VINTR] = below(8) == 0 ? 0 : 3;
    set_both(&settings);
}

static size_t random_bytes(uint8_t *out)
{
    static const uint8_t special[] = {3,  4,  9,  9,   10,  10, 13, 15, 17, 17,   18,
                                      21, 22, 23, 127, 127, 8,  28, 26, 0,  0xff, 0xdf};
    const size_t count = 1 + below(below(8) ? 12 : 120);
    for (size_t i = 0; i < count; i++) {
        const uint32_t kind = below(10);
        out[i] = kind < 3   ? special[below(sizeof special)]
                 : kind < 8 ? (uint8_t) "abcdefgr AZ_09.\xc3\xa4"[below(17)]
                            : (uint8_t)below(256);
        out[i] = i > 0 && is_signal(out[i]) ? 'x' : out[i];
    }
    return count;
}

static void random_step(void)
{
    uint8_t bytes[128];
    switch (below(12)) {
    case 0:
        drain();
        random_settings();
        break;
    case 1:
    case 2:
    case 3:
    case 4:
    case 5:
        write_both(DISCIPLINE_MASTER, bytes, random_bytes(bytes));
        break;
    case 6:
    case 7:
        write_both(DISCIPLINE_SLAVE, bytes, random_bytes(bytes));
        break;
    case 8:
    case 9:
        read_both((int)below(2), 1 + below(20));
        break;
    case 10:
        drain();
        break;
    default:
        drain();
        assert_int_equal(ioctl(host[DISCIPLINE_SLAVE], TCFLSH, TCIOFLUSH), 0);
        discipline_flush(&own, DISCIPLINE_SLAVE, true, true);
    }
}

/* Where nothing has stopped the output: what does not fit is written again by the program, and by the host in part. */
static void start_output(void)
{
    for (int i = 0; own.end[DISCIPLINE_SLAVE].stopped && i < 2; i++) {
        assert_int_equal(ioctl(host[DISCIPLINE_SLAVE], TCXONC, i ? TCOON : TCOOFF), 0);
        discipline_flow(&own, DISCIPLINE_SLAVE, i == 0);
    }
}

static void random_terminals_are_the_hosts(void **state)
{
    const char *wanted = getenv("C2_FUZZ_INPUTS");
    const int rounds = wanted ? atoi(wanted) : 60;
    (void)state;
    need_host();
    for (int round = 0; round < rounds; round++) {
        c2_rng_init(&rng, (uint64_t)round, "terminals");
        for (int step = 0; step < 60; step++) {
            random_step();
            if (below(3) == 0)
                start_output();
        }
        end(NULL);
        begin(NULL);
    }
}

/* The comparison sees a rule that is broken: one byte more is typed here. */
static void a_difference_is_seen(void **state)
{
    (void)state;
    need_host();
    type("a\n");
    discipline_write(&own, DISCIPLINE_MASTER, (const uint8_t *)"b\n", 2);
    assert_int_not_equal(count_at(DISCIPLINE_SLAVE), discipline_count(&own, DISCIPLINE_SLAVE));
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_setup_teardown(first_settings_are_the_hosts, begin, end),
        cmocka_unit_test_setup_teardown(lines_are_edited, begin, end),
        cmocka_unit_test_setup_teardown(typed_signals_drop_what_is_there, begin, end),
        cmocka_unit_test_setup_teardown(packets_tell_of_the_slave, begin, end),
        cmocka_unit_test_setup_teardown(too_much_input, begin, end),
        cmocka_unit_test_setup_teardown(random_terminals_are_the_hosts, begin, end),
        cmocka_unit_test_setup_teardown(a_difference_is_seen, begin, end),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}

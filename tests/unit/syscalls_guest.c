/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "syscalls_guest.h"

#include <errno.h>
#include <fcntl.h>
#include <ftw.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

struct guest g;

static void map(uint64_t address, uint64_t bytes, unsigned prot)
{
    struct mmu_request request = {.address = address, .bytes = bytes, .prot = prot, .fixed = true, .host_fd = -1};
    assert_int_equal(mmu_map(g.mmu, &request), address);
}

static void enter_directory(void)
{
    g.old_cwd = open(".", O_RDONLY | O_DIRECTORY);
    strcpy(g.dir, "/tmp/c2emu-test-XXXXXX");
    assert_non_null(mkdtemp(g.dir));
    assert_int_equal(chdir(g.dir), 0);
}

static int make_guest(const char *const *writable, uint32_t processors)
{
    static const char *const argv[] = {"./program", "one", NULL}, *const envp[] = {"HOME=/", NULL};
    struct mmu_guest_config memory = {.guest_bytes = GUEST_PHYSICAL};
    g = (struct guest){.trace = tmpfile(), .complaints = tmpfile()};
    static const struct syscalls_cache caches[] = {
        {.type = SYSCALLS_DATA, .level = 1, .line_bytes = 64, .ways = 12, .sets = 64},
        {.type = SYSCALLS_CODE, .level = 1, .line_bytes = 32, .ways = 2, .sets = 8},
        {.type = SYSCALLS_UNIFIED, .level = 2, .line_bytes = 64, .ways = 11, .sets = 32768, .shared = true},
    };
    struct syscalls_config config = {
        .start_seconds = SYSCALLS_START_SECONDS,
        .program_path = "/bin/true",
        .argv = argv,
        .envp = envp,
        .seed = 1,
        .physical_bytes = GUEST_PHYSICAL,
        .processors = processors,
        .caches = caches,
        .cache_count = 3,
        .keep_inputs = true,
        .confined = writable,
        .writable = writable,
        .trace = g.trace,
        .complaints = g.complaints,
        .complaint_prefix = "c2emu: ",
        .interrupted = &g.interrupted,
    };
    for (int fd = 0; fd < 3; fd++) /* the guest's first descriptors are there, however the test was started */
        if (fcntl(fd, F_GETFD) < 0)
            assert_int_equal(open("/dev/null", O_RDWR), fd);
    enter_directory();
    if (writable)
        mkdir(writable[0], 0755);
    assert_int_equal(mmu_create(&g.mmu, &memory, &g.err), C2_OK);
    map(GUEST_ARENA, GUEST_ARENA_BYTES, MMU_READ | MMU_WRITE);
    map(GUEST_READONLY, C2_PAGE_BYTES, MMU_READ);
    assert_int_equal(syscalls_create(&g.kernel, g.mmu, &config, &g.err), C2_OK);
    return 0;
}

int guest_setup(void **state)
{
    (void)state;
    return make_guest(NULL, 1);
}

int guest_setup_processors(void **state)
{
    (void)state;
    return make_guest(NULL, GUEST_PROCESSORS);
}

int guest_setup_confined(void **state)
{
    static const char *const writable[] = {GUEST_WRITABLE, NULL};
    (void)state;
    return make_guest(writable, 1);
}

static int remove_entry(const char *path, const struct stat *st, int flag, struct FTW *at)
{
    (void)st, (void)flag, (void)at;
    return remove(path);
}

int guest_teardown(void **state)
{
    (void)state;
    syscalls_check(g.kernel);
    mmu_check(g.mmu);
    syscalls_destroy(g.kernel);
    mmu_destroy(g.mmu);
    fclose(g.trace);
    fclose(g.complaints);
    assert_int_equal(fchdir(g.old_cwd), 0);
    close(g.old_cwd);
    assert_int_equal(nftw(g.dir, remove_entry, 8, FTW_DEPTH | FTW_PHYS), 0);
    return 0;
}

void *guest_take(size_t bytes)
{
    uint64_t at = GUEST_ARENA + g.used;
    g.used += c2_align_up(bytes, 64);
    assert_true(g.used <= GUEST_ARENA_BYTES);
    return (void *)(uintptr_t)at;
}

char *guest_text(const char *text) { return strcpy(guest_take(strlen(text) + 1), text); }

const char *guest_said(FILE *file)
{
    static char text[8192];
    rewind(file);
    size_t bytes = fread(text, 1, sizeof text - 1, file);
    text[bytes] = '\0';
    rewind(file);
    assert_int_equal(ftruncate(fileno(file), 0), 0);
    return text;
}

int64_t guest_call(uint64_t number, const uint64_t a[6])
{
    uint64_t *r = g.cpu.gpr;
    r[0] = number;
    r[7] = a[0], r[6] = a[1], r[2] = a[2], r[10] = a[3], r[8] = a[4], r[9] = a[5];
    syscalls_call(g.kernel, &g.cpu, g.instructions, &g.result, &g.err);
    return g.result.value;
}

void guest_file(const char *name, const char *content)
{
    FILE *file = fopen(name, "w");
    assert_non_null(file);
    assert_int_equal(fwrite(content, 1, strlen(content), file), strlen(content));
    assert_int_equal(fclose(file), 0);
}

const char *guest_content(const char *path)
{
    static char *buffer;
    enum { ROOM = 32768 };
    uint64_t mark = g.used;
    int64_t fd = CALL(open, guest_text(path), O_RDONLY);
    assert_true(fd >= 0);
    buffer = guest_take(ROOM);
    int64_t bytes = CALL(read, fd, buffer, ROOM - 1);
    assert_true(bytes >= 0);
    buffer[bytes] = '\0';
    assert_call(0, close, fd);
    g.used = mark;
    return buffer;
}

enum syscalls_delivery guest_fault(int signal, int code, uint64_t address)
{
    const struct syscalls_fault fault = {.signal = signal, .code = code, .address = address, .present = code == 2};
    return syscalls_fault(g.kernel, &g.cpu, &fault);
}

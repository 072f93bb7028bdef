/* SPDX-License-Identifier: GPL-2.0-or-later
 * Files that appear whole: in a folder of their own, on a full disk, without permission, through links and pipes; on
 * file systems with and without files that have no name. */
#include "base/base.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <sched.h>
#include <setjmp.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <sys/file.h>
#include <sys/mount.h>
#include <sys/resource.h>
#include <sys/syscall.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cmocka.h>

/* In place of libc's: a file system without files that have no name. */
static bool all_have_names;

int open(const char *path, int flags, ...)
{
    va_list more;
    va_start(more, flags);
    const unsigned mode = va_arg(more, unsigned);
    va_end(more);
    if (all_have_names && (flags & O_TMPFILE) == O_TMPFILE) {
        errno = EOPNOTSUPP;
        return -1;
    }
    return (int)syscall(SYS_openat, AT_FDCWD, path, flags, mode);
}

static char folder[64];

static int set_up(void **state)
{
    (void)state;
    all_have_names = false;
    umask(022);
    strcpy(folder, "/tmp/c2emu-outfile-XXXXXX");
    return mkdtemp(folder) ? 0 : -1;
}

/* The path of a name in the test's folder; a new buffer for each of four calls. */
static const char *in_folder(const char *name)
{
    static char paths[4][512];
    static int next;
    char *path = paths[next++ % 4];
    snprintf(path, sizeof paths[0], "%s/%s", folder, name);
    return path;
}

/* Names in the test's folder; `removing` empties it. */
static int entries(bool removing)
{
    int count = 0;
    DIR *open_folder = opendir(folder);
    assert_non_null(open_folder);
    for (struct dirent *entry; (entry = readdir(open_folder));) {
        if (strcmp(entry->d_name, ".") == 0 || strcmp(entry->d_name, "..") == 0)
            continue;
        count++;
        if (removing)
            remove(in_folder(entry->d_name));
    }
    closedir(open_folder);
    return count;
}

static int set_up_with_names(void **state)
{
    int failed = set_up(state);
    all_have_names = true;
    return failed;
}

static int tear_down(void **state)
{
    (void)state;
    entries(true);
    return rmdir(folder);
}

static void put_text(const char *path, const char *text)
{
    FILE *file = fopen(path, "w");
    assert_non_null(file);
    assert_true(fputs(text, file) >= 0);
    assert_int_equal(fclose(file), 0);
}

static void assert_text(const char *path, const char *expected)
{
    char text[256] = "";
    FILE *file = fopen(path, "r");
    assert_non_null(file);
    size_t got = fread(text, 1, sizeof text - 1, file);
    fclose(file);
    text[got] = '\0';
    assert_string_equal(text, expected);
}

static struct c2_outfile *open_ok(const char *path)
{
    struct c2_outfile *file;
    struct c2_error err = {.text = ""};
    if (c2_outfile_open(&file, path, &err) != C2_OK)
        fail_msg("%s", err.text);
    assert_non_null(c2_outfile_stream(file));
    return file;
}

static void write_and_commit(const char *path, const char *text)
{
    struct c2_outfile *file = open_ok(path);
    fputs(text, c2_outfile_stream(file));
    struct c2_error err = {.text = ""};
    if (c2_outfile_commit(file, &err) != C2_OK)
        fail_msg("%s", err.text);
}

static void test_new_file_appears_at_commit(void **state)
{
    (void)state;
    struct c2_outfile *file = open_ok(in_folder("report"));
    fputs("whole\n", c2_outfile_stream(file));
    fflush(c2_outfile_stream(file));
    assert_int_equal(access(in_folder("report"), F_OK), -1);
    assert_int_equal(c2_outfile_commit(file, NULL), C2_OK);
    assert_text(in_folder("report"), "whole\n");
    assert_int_equal(entries(false), 1);
    struct stat made;
    assert_int_equal(stat(in_folder("report"), &made), 0);
    assert_int_equal(made.st_mode & 07777, 0644);
}

static void test_old_file_stays_until_commit(void **state)
{
    (void)state;
    put_text(in_folder("report"), "old\n");
    chmod(in_folder("report"), 0640);
    struct c2_outfile *file = open_ok(in_folder("report"));
    fputs("new\n", c2_outfile_stream(file));
    fflush(c2_outfile_stream(file));
    assert_text(in_folder("report"), "old\n");
    assert_int_equal(c2_outfile_commit(file, NULL), C2_OK);
    assert_text(in_folder("report"), "new\n");
    struct stat made;
    assert_int_equal(stat(in_folder("report"), &made), 0);
    assert_int_equal(made.st_mode & 07777, 0640);
    assert_int_equal(entries(false), 1);
}

static void test_abandon_leaves_the_old_file(void **state)
{
    (void)state;
    put_text(in_folder("report"), "old\n");
    struct c2_outfile *file = open_ok(in_folder("report"));
    fputs("new\n", c2_outfile_stream(file));
    assert_int_equal(entries(false), all_have_names ? 2 : 1);
    c2_outfile_abandon(file);
    c2_outfile_abandon(NULL);
    assert_text(in_folder("report"), "old\n");
    assert_int_equal(entries(false), 1);
}

static void test_two_at_once(void **state)
{
    (void)state;
    struct c2_outfile *a = open_ok(in_folder("a")), *b = open_ok(in_folder("b"));
    fputs("A", c2_outfile_stream(a));
    fputs("B", c2_outfile_stream(b));
    assert_int_equal(c2_outfile_commit(a, NULL), C2_OK);
    assert_int_equal(c2_outfile_commit(b, NULL), C2_OK);
    assert_text(in_folder("a"), "A");
    assert_text(in_folder("b"), "B");
}

/* Another run with our process number, in another container, has the very names that come next. */
static void test_steps_over_names_in_use(void **state)
{
    (void)state;
    char name[64];
    int others[200];
    put_text(in_folder("report"), "old\n");
    for (int i = 0; i < 200; i++) {
        snprintf(name, sizeof name, ".c2emu-%ld-%d.tmp", (long)getpid(), i);
        put_text(in_folder(name), "in use");
        others[i] = open(in_folder(name), O_RDWR, 0);
        assert_int_equal(flock(others[i], LOCK_EX), 0);
    }
    write_and_commit(in_folder("report"), "new\n");
    assert_text(in_folder("report"), "new\n");
    assert_int_equal(entries(false), 201);
    assert_text(in_folder(name), "in use");
    for (int i = 0; i < 200; i++)
        close(others[i]);
}

/* A process that is killed with two files open, one of them new. */
static void kill_while_open(void)
{
    int status;
    fflush(NULL);
    pid_t child = fork();
    assert_true(child >= 0);
    if (child == 0) {
        fputs("half", c2_outfile_stream(open_ok(in_folder("report"))));
        fputs("half", c2_outfile_stream(open_ok(in_folder("other"))));
        fflush(NULL);
        raise(SIGKILL);
    }
    assert_int_equal(waitpid(child, &status, 0), child);
    assert_true(WIFSIGNALED(status) && WTERMSIG(status) == SIGKILL);
}

static void test_a_killed_process_leaves_nothing(void **state)
{
    (void)state;
    put_text(in_folder("report"), "old\n");
    put_text(in_folder(".c2emu-1-1.tmp.txt"), "somebody's own");
    kill_while_open();
    assert_int_equal(entries(false), all_have_names ? 4 : 2);
    write_and_commit(in_folder("third"), "new\n"); /* takes away what is not held */
    assert_int_equal(entries(false), 3);
    assert_text(in_folder("report"), "old\n");
    assert_text(in_folder(".c2emu-1-1.tmp.txt"), "somebody's own");
}

/* Killed between the two steps of a replacement: the next replacement takes it away. */
static void test_what_was_left_goes_with_the_next_replacement(void **state)
{
    (void)state;
    put_text(in_folder("report"), "old\n");
    put_text(in_folder(".c2emu-1-1.tmp"), "left");
    write_and_commit(in_folder("report"), "new\n");
    assert_text(in_folder("report"), "new\n");
    assert_int_equal(entries(false), 1);
}

static void in_child(int (*body)(void))
{
    int status;
    fflush(NULL);
    pid_t child = fork();
    assert_true(child >= 0);
    if (child == 0)
        _exit(body());
    assert_int_equal(waitpid(child, &status, 0), child);
    assert_true(WIFEXITED(status));
    assert_int_equal(WEXITSTATUS(status), 0);
}

static const char *name_of_child(void *self, const char *path)
{
    static char name[512];
    (void)self;
    if (strcmp(path, in_folder("lost")) == 0)
        return NULL;
    snprintf(name, sizeof name, "%s.child", path);
    return name;
}

static struct c2_outfile *inherited, *lost;
static int write_in_child(void)
{
    if (c2_outfiles_rename(name_of_child, NULL, NULL) != C2_OK)
        return 1;
    fputs("child\n", c2_outfile_stream(inherited));
    fputs("nowhere\n", c2_outfile_stream(lost));
    return c2_outfile_commit(inherited, NULL) == C2_OK && c2_outfile_commit(lost, NULL) == C2_OK ? 0 : 2;
}

/* Behind a fork both write: the child to files of its own names, which begin empty, or to none. */
static void test_a_child_has_files_of_its_own(void **state)
{
    (void)state;
    inherited = open_ok(in_folder("report"));
    lost = open_ok(in_folder("lost"));
    fputs("parent, ", c2_outfile_stream(inherited));
    in_child(write_in_child);
    fputs("and more\n", c2_outfile_stream(inherited));
    assert_int_equal(c2_outfile_commit(inherited, NULL), C2_OK);
    c2_outfile_abandon(lost);
    assert_text(in_folder("report"), "parent, and more\n");
    assert_text(in_folder("report.child"), "child\n");
    assert_int_equal(entries(false), 2);
}

/* A target that another process made while ours was written is replaced all the same. */
static void test_a_target_that_came_meanwhile(void **state)
{
    (void)state;
    struct c2_outfile *file = open_ok(in_folder("report"));
    fputs("ours\n", c2_outfile_stream(file));
    put_text(in_folder("report"), "theirs\n");
    assert_int_equal(c2_outfile_commit(file, NULL), C2_OK);
    assert_text(in_folder("report"), "ours\n");
    assert_int_equal(entries(false), 1);
}

static void test_longest_name_and_relative_path(void **state)
{
    (void)state;
    char name[256];
    memset(name, 'n', 255);
    name[255] = '\0';
    write_and_commit(in_folder(name), "x");
    assert_text(in_folder(name), "x");
    char *before = getcwd(NULL, 0);
    assert_int_equal(chdir(folder), 0);
    write_and_commit("here", "y");
    assert_int_equal(chdir(before), 0);
    free(before);
    assert_text(in_folder("here"), "y");
    assert_int_equal(entries(false), 2);
}

static void test_link_stays_a_link(void **state)
{
    (void)state;
    put_text(in_folder("real"), "old\n");
    assert_int_equal(symlink("real", in_folder("link")), 0);
    write_and_commit(in_folder("link"), "new\n");
    assert_text(in_folder("real"), "new\n");
    struct stat link;
    assert_int_equal(lstat(in_folder("link"), &link), 0);
    assert_true(S_ISLNK(link.st_mode));
    assert_int_equal(entries(false), 2);
}

static void test_dangling_link_is_replaced(void **state)
{
    (void)state;
    assert_int_equal(symlink("nowhere", in_folder("link")), 0);
    write_and_commit(in_folder("link"), "new\n");
    assert_text(in_folder("link"), "new\n");
    assert_int_equal(entries(false), 1);
}

static void test_null_device(void **state)
{
    (void)state;
    write_and_commit("/dev/null", "gone\n");
    struct stat device;
    assert_int_equal(stat("/dev/null", &device), 0);
    assert_true(S_ISCHR(device.st_mode));
}

static void test_fifo_is_written_directly(void **state)
{
    (void)state;
    char text[16] = "";
    assert_int_equal(mkfifo(in_folder("fifo"), 0600), 0);
    int reader = open(in_folder("fifo"), O_RDONLY | O_NONBLOCK);
    assert_true(reader >= 0);
    write_and_commit(in_folder("fifo"), "through\n");
    assert_int_equal(read(reader, text, sizeof text), 8);
    assert_string_equal(text, "through\n");
    close(reader);
    assert_int_equal(entries(false), 1);
}

/* Runs `body` in a child, since it changes what belongs to the process; its result must be 0. */
static int write_to_dash(void)
{
    struct c2_outfile *file;
    if (!freopen(in_folder("stdout"), "w", stdout))
        return 1;
    fputs("before ", stdout);
    if (c2_outfile_open(&file, "-", NULL) != C2_OK)
        return 2;
    fputs("file ", c2_outfile_stream(file));
    if (c2_outfile_commit(file, NULL) != C2_OK)
        return 3;
    fputs("after\n", stdout); /* still open */
    return fflush(stdout) == 0 ? 0 : 4;
}

static void test_dash_is_standard_output(void **state)
{
    (void)state;
    in_child(write_to_dash);
    assert_text(in_folder("stdout"), "before file after\n");
    assert_int_equal(access("-", F_OK), -1);
}

/* ------------------------------------------------------------------ failures */

static enum c2_status try_open(const char *path, struct c2_error *err)
{
    struct c2_outfile *file = (struct c2_outfile *)1;
    enum c2_status status = c2_outfile_open(&file, path, err);
    assert_int_not_equal(status, C2_OK);
    assert_null(file);
    return status;
}

static void test_unusable_paths(void **state)
{
    (void)state;
    struct c2_error err;
    char expected[256];
    assert_int_equal(try_open("/nonexistent-folder/x", &err), C2_ERR_NOT_FOUND);
    assert_string_equal(err.text, "cannot write \"/nonexistent-folder/x\": No such file or directory");
    assert_int_equal(try_open(folder, &err), C2_ERR_IO);
    snprintf(expected, sizeof expected, "cannot write \"%s\": Is a directory", folder);
    assert_string_equal(err.text, expected);
    assert_int_equal(try_open("", &err), C2_ERR_NOT_FOUND);
    put_text(in_folder("file"), "");
    assert_int_equal(try_open(in_folder("file/x"), &err), C2_ERR_NOT_FOUND);
    char endless[600];
    memset(endless, 'n', sizeof endless - 1);
    endless[sizeof endless - 1] = '\0';
    assert_int_equal(try_open(endless, &err), C2_ERR_IO);
    assert_int_equal(entries(false), 1);
}

/* As a user who may write the folder, and not the file in it. */
static int open_read_only(void)
{
    struct c2_outfile *file;
    struct c2_error err;
    if (getuid() == 0 && (setgid(65534) != 0 || setuid(65534) != 0))
        return 1;
    if (c2_outfile_open(&file, in_folder("report"), &err) != C2_ERR_DENIED)
        return 2;
    return strstr(err.text, "Permission denied") ? 0 : 3;
}

static void test_read_only_file_is_not_replaced(void **state)
{
    (void)state;
    put_text(in_folder("report"), "old\n");
    chmod(in_folder("report"), 0444);
    chmod(folder, 0777);
    in_child(open_read_only);
    assert_text(in_folder("report"), "old\n");
    assert_int_equal(entries(false), 1);
}

/* The reason must name the path and the full disk, whether the stream's buffer overflowed before commit or not. */
static int fail_to_commit(const char *path, size_t bytes, const char *why)
{
    struct c2_outfile *file;
    struct c2_error err;
    char expected[600];
    if (c2_outfile_open(&file, path, &err) != C2_OK)
        return 10;
    for (size_t i = 0; i < bytes; i++)
        fputc('x', c2_outfile_stream(file));
    if (c2_outfile_commit(file, &err) != C2_ERR_IO)
        return 11;
    snprintf(expected, sizeof expected, "cannot write \"%s\": %s", path, why);
    return strcmp(err.text, expected) == 0 ? 0 : 12;
}

static void test_full_device(void **state)
{
    (void)state;
    assert_int_equal(fail_to_commit("/dev/full", 10, "No space left on device"), 0);
    assert_int_equal(fail_to_commit("/dev/full", 100000, "No space left on device"), 0);
    struct stat device;
    assert_int_equal(stat("/dev/full", &device), 0);
    assert_true(S_ISCHR(device.st_mode));
}

/* A limit on the size of files works on every machine, and fails as a full disk does. */
static int write_beyond_the_limit(void)
{
    struct rlimit limit = {4096, 4096};
    signal(SIGXFSZ, SIG_IGN);
    if (setrlimit(RLIMIT_FSIZE, &limit) != 0)
        return 1;
    return fail_to_commit(in_folder("report"), 100000, "File too large");
}

static void test_size_limit_leaves_the_old_file(void **state)
{
    (void)state;
    put_text(in_folder("report"), "old\n");
    in_child(write_beyond_the_limit);
    assert_text(in_folder("report"), "old\n");
    assert_int_equal(entries(false), 1);
}

#define CANNOT_MOUNT 99

/* A disk of 64 KiB, seen by this child alone. */
static int write_to_small_disk(void)
{
    if (unshare(CLONE_NEWNS) != 0 || mount("none", "/", NULL, MS_REC | MS_PRIVATE, NULL) != 0 ||
        mount("tmpfs", folder, "tmpfs", 0, "size=64k") != 0)
        return CANNOT_MOUNT;
    put_text(in_folder("report"), "old\n");
    int failure = fail_to_commit(in_folder("report"), 200000, "No space left on device");
    if (failure)
        return failure;
    assert_text(in_folder("report"), "old\n");
    return entries(false) == 1 ? 0 : 20;
}

static void test_full_disk_leaves_the_old_file(void **state)
{
    (void)state;
    int status;
    fflush(NULL);
    pid_t child = fork();
    assert_true(child >= 0);
    if (child == 0)
        _exit(write_to_small_disk());
    assert_int_equal(waitpid(child, &status, 0), child);
    assert_true(WIFEXITED(status));
    if (WEXITSTATUS(status) == CANNOT_MOUNT) {
        print_message("SKIPPED: this user may not mount a small tmpfs; /dev/full and the size limit were tested\n");
        skip();
    }
    assert_int_equal(WEXITSTATUS(status), 0);
}

static void test_rename_that_fails(void **state)
{
    (void)state;
    struct c2_error err;
    struct c2_outfile *file = open_ok(in_folder("report"));
    fputs("new\n", c2_outfile_stream(file));
    assert_int_equal(mkdir(in_folder("report"), 0700), 0); /* another was faster */
    assert_int_equal(c2_outfile_commit(file, &err), C2_ERR_IO);
    assert_non_null(strstr(err.text, "Is a directory"));
    assert_int_equal(entries(false), 1);
}

static void assert_refused(const char *path)
{
    struct c2_error err = {0};
    struct c2_outfile *file = NULL;
    assert_int_equal(c2_outfile_open(&file, path, &err), C2_ERR_INVALID);
    assert_null(file);
    assert_non_null(strstr(err.text, path));
    assert_non_null(strstr(err.text, "is read by this run"));
}

static int become_what_is_read(void)
{
    return c2_outfile_spare(in_folder("report.child"), NULL) == C2_OK &&
                   c2_outfiles_rename(name_of_child, NULL, NULL) == C2_ERR_INVALID
               ? 0
               : 1;
}

/* By each of its names, before it is there and after; while an output of that name is open; under the name of a child's
 * output. What is no regular file is not replaced, and may be both. */
static void test_what_is_read_is_not_replaced(void **state)
{
    (void)state;
    struct c2_error err = {0};
    assert_int_equal(c2_outfile_spare(in_folder("input"), &err), C2_OK);
    assert_int_equal(c2_outfile_spare(in_folder("input"), &err), C2_OK);
    put_text(in_folder("input"), "data\n");
    assert_int_equal(link(in_folder("input"), in_folder("hard")), 0);
    assert_int_equal(symlink("input", in_folder("soft")), 0);
    assert_refused(in_folder("input"));
    assert_refused(in_folder("hard"));
    assert_refused(in_folder("soft"));
    assert_text(in_folder("input"), "data\n");
    put_text(in_folder("other"), "data\n");
    struct c2_outfile *file = open_ok(in_folder("other"));
    assert_int_equal(c2_outfile_spare(in_folder("other"), &err), C2_ERR_INVALID);
    assert_non_null(strstr(err.text, "/other\": it is read by this run"));
    c2_outfile_abandon(file);
    assert_int_equal(c2_outfile_spare("/dev/null", &err), C2_OK);
    c2_outfile_abandon(open_ok("/dev/null"));
    inherited = open_ok(in_folder("report"));
    put_text(in_folder("report.child"), "data\n");
    in_child(become_what_is_read);
    c2_outfile_abandon(inherited);
    assert_text(in_folder("report.child"), "data\n");
    assert_int_equal(unlink(in_folder("input")), 0); /* another file may have its number now */
    put_text(in_folder("fresh"), "data\n");
    c2_outfile_abandon(open_ok(in_folder("fresh")));
}

static void test_survives_each_failing_allocation(void **state)
{
    (void)state;
    put_text(in_folder("report"), "old\n");
    uint64_t n = 0;
    enum c2_status status;
    do {
        struct c2_outfile *file;
        struct c2_error err;
        c2_alloc_fail_from(++n);
        status = c2_outfile_open(&file, in_folder("report"), &err);
        if (status == C2_OK) {
            fputs("new\n", c2_outfile_stream(file));
            status = c2_outfile_commit(file, &err);
        } else {
            assert_int_equal(status, C2_ERR_NO_MEMORY);
            assert_text(in_folder("report"), "old\n");
        }
        assert_int_equal(entries(false), 1);
    } while (status != C2_OK);
    c2_alloc_fail_from(0);
    assert_int_equal(n - 1, 6); /* file, path, target, folder, to sweep, its temporary name */
    assert_text(in_folder("report"), "new\n");
}

int main(void)
{
#define IN_FOLDER(test) \
    cmocka_unit_test_setup_teardown(test, set_up, tear_down), \
        cmocka_unit_test_setup_teardown(test, set_up_with_names, tear_down)
    const struct CMUnitTest tests[] = {
        IN_FOLDER(test_new_file_appears_at_commit),
        IN_FOLDER(test_old_file_stays_until_commit),
        IN_FOLDER(test_abandon_leaves_the_old_file),
        IN_FOLDER(test_two_at_once),
        IN_FOLDER(test_a_child_has_files_of_its_own),
        IN_FOLDER(test_steps_over_names_in_use),
        IN_FOLDER(test_a_killed_process_leaves_nothing),
        IN_FOLDER(test_what_was_left_goes_with_the_next_replacement),
        IN_FOLDER(test_a_target_that_came_meanwhile),
        IN_FOLDER(test_longest_name_and_relative_path),
        IN_FOLDER(test_link_stays_a_link),
        IN_FOLDER(test_dangling_link_is_replaced),
        IN_FOLDER(test_null_device),
        IN_FOLDER(test_fifo_is_written_directly),
        IN_FOLDER(test_dash_is_standard_output),
        IN_FOLDER(test_unusable_paths),
        IN_FOLDER(test_read_only_file_is_not_replaced),
        IN_FOLDER(test_full_device),
        IN_FOLDER(test_size_limit_leaves_the_old_file),
        IN_FOLDER(test_full_disk_leaves_the_old_file),
        IN_FOLDER(test_rename_that_fails),
        IN_FOLDER(test_what_is_read_is_not_replaced),
        IN_FOLDER(test_survives_each_failing_allocation),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}

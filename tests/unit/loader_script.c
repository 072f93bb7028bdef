/* SPDX-License-Identifier: GPL-2.0-or-later
 *
 * From the command line to the ELF file: PATH, permissions, #! lines. Files live in a directory of their own, which
 * is also the current one, so that paths in messages are short.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>

#include <cmocka.h>

#include <sys/wait.h>

#include "unit/loader_elf_build.h"

static char root[] = "/tmp/c2emu-script-XXXXXX";

static void script(const char *path, const char *text) { build_write(path, text, strlen(text), 0755); }

static int enter(void **state)
{
    (void)state;
    struct elf_build b = build_program();
    if (!mkdtemp(root) || chmod(root, 0755) != 0 || chdir(root) != 0 || mkdir("bin", 0755) != 0 ||
        mkdir("bin/tool", 0755) != 0 || mkdir("more", 0755) != 0)
        return -1;
    build_save(&b, "app");
    build_save(&b, "bin/app");
    build_save(&b, "more/tool");
    build_write("bin/plain", "x", 1, 0644);
    build_write("secret", "x", 1, 0111);
    return 0;
}

static int leave(void **state)
{
    (void)state;
    char command[64];
    snprintf(command, sizeof command, "/bin/rm -rf %s", root); /* the tests changed PATH */
    return chdir("/") || system(command);
}

/* ------------------------------------------------------------------ finding */

static void check_found(const char *path_variable, const char *name, const char *expected)
{
    char *found;
    struct c2_error err = {0};
    setenv("PATH", path_variable, 1);
    assert_int_equal(loader_find(&found, name, &err), C2_OK);
    assert_string_equal(found, expected);
    c2_free(found);
}

static void check_not_found(const char *path_variable, const char *name, enum c2_status status, const char *text)
{
    char *found;
    struct c2_error err = {0};
    setenv("PATH", path_variable, 1);
    assert_int_equal(loader_find(&found, name, &err), status);
    assert_string_equal(err.text, text);
    assert_null(found);
}

static void test_path_search(void **state)
{
    (void)state;
    check_found("/nowhere:bin:more", "app", "bin/app");
    check_found("bin:more", "tool", "more/tool"); /* bin/tool is a directory */
    check_found("", "app", "./app");
    check_found("/nowhere:", "app", "./app");
    check_found(":bin", "app", "./app");
    check_found("bin", "./x/y", "./x/y"); /* a path is not looked for */
    check_not_found("more", "app", C2_ERR_NOT_FOUND, "app: not found in PATH (did you mean ./app?)");
    check_not_found("more", "nothing", C2_ERR_NOT_FOUND, "nothing: not found in PATH");
    check_not_found("bin", "tool", C2_ERR_DENIED, "bin/tool: found in PATH, but it may not be executed (permission)");
    check_not_found("bin", "plain", C2_ERR_DENIED, "bin/plain: found in PATH, but it may not be executed (permission)");
    check_not_found("bin", "", C2_ERR_NOT_FOUND, "the name of the program is empty");
}

static void test_path_unset(void **state)
{
    (void)state;
    char *found;
    unsetenv("PATH");
    assert_int_equal(loader_find(&found, "sh", NULL), C2_OK);
    assert_string_equal(found, "/bin/sh");
    c2_free(found);
}

static void check_refused(const char *path, enum c2_status status, const char *text)
{
    struct loader_file file;
    struct c2_error err = {0};
    assert_int_equal(loader_file_open(&file, path, path, &err), status);
    assert_string_equal(err.text, text);
    assert_int_equal(file.fd, -1);
}

static void test_opening(void **state)
{
    (void)state;
    struct loader_file file;
    char expected[64];
    assert_int_equal(symlink("bin/app", "link"), 0);
    assert_int_equal(loader_file_open(&file, "./link", "name", NULL), C2_OK);
    assert_int_equal(file.bytes, BUILD_BYTES);
    assert_string_equal(file.label, "name");
    snprintf(expected, sizeof expected, "%s/bin/app", root);
    assert_string_equal(file.real, expected);
    loader_file_close(&file);
    loader_file_close(&file); /* closed already */
    check_refused("./bin", C2_ERR_DENIED, "./bin: is a directory, not a program");
    check_refused("/dev/null", C2_ERR_DENIED, "/dev/null: is not a regular file");
    check_refused("./nothing", C2_ERR_NOT_FOUND, "./nothing: No such file or directory");
    check_refused("./app/x", C2_ERR_NOT_FOUND, "./app/x: Not a directory");
    check_refused("./bin/plain", C2_ERR_DENIED, "./bin/plain: may not be executed (chmod +x gives the permission)");
}

/* Permission to read is not asked of the superuser: the question is put as nobody, in a child. */
static void test_executable_but_not_readable(void **state)
{
    (void)state;
    pid_t child = fork();
    assert_true(child >= 0);
    if (child == 0) {
        struct loader_file file;
        struct c2_error err = {0};
        if (geteuid() == 0 && (setgid(65534) != 0 || setuid(65534) != 0))
            _exit(2);
        const char *text = "./secret: may be executed but not read, and c2emu has to read it (chmod +r)";
        bool right = loader_file_open(&file, "./secret", "./secret", &err) == C2_ERR_DENIED &&
                     strcmp(err.text, text) == 0;
        _exit(right ? 0 : 1);
    }
    int status;
    assert_int_equal(waitpid(child, &status, 0), child);
    assert_int_equal(status, 0);
}

/* ------------------------------------------------------------------ #! lines */

static void check_line(const char *text, size_t count, const char *interpreter, const char *argument)
{
    struct loader_file file = build_file_of(text, count, "script");
    struct loader_script read;
    struct c2_error err = {0};
    assert_int_equal(loader_script_read(&read, &file, &err), C2_OK);
    assert_string_equal(read.interpreter, interpreter);
    assert_string_equal(read.argument, argument);
    loader_file_close(&file);
}

static void test_first_line(void **state)
{
    (void)state;
    check_line("#!/bin/sh\nx", 11, "/bin/sh", "");
    check_line("#!/bin/sh", 9, "/bin/sh", "");
    check_line("#! \t /bin/sh \t\n", 15, "/bin/sh", "");
    check_line("#!/bin/sh -e  -u \n", 18, "/bin/sh", "-e  -u");
    check_line("#!/bin/sh\t-x\n", 13, "/bin/sh", "-x");
    check_line("#!/a\0b c\n", 9, "/a", "");
    check_line("#", 1, "", "");
    check_line("", 0, "", "");
    check_line("\x7f"
               "ELF",
               4, "", "");
}

static void check_bad_line(const char *text, size_t count, const char *message)
{
    struct loader_file file = build_file_of(text, count, "script");
    struct loader_script read;
    struct c2_error err = {0};
    assert_int_equal(loader_script_read(&read, &file, &err), C2_ERR_FORMAT);
    assert_string_equal(err.text, message);
    loader_file_close(&file);
}

static void test_bad_first_line(void **state)
{
    (void)state;
    char line[300];
    memset(line, 'x', sizeof line);
    memcpy(line, "#!/", 3);
    check_bad_line("#!\n/bin/sh", 10, "script: its #! line names no interpreter");
    check_bad_line("#!  \t ", 6, "script: its #! line names no interpreter");
    check_bad_line(line, 256, "script: its #! line is longer than 255 bytes");
    line[255] = '\n';
    check_bad_line(line, 300, "script: its #! line is longer than 255 bytes");
    line[254] = '\n'; /* with it 255 bytes: it fits */
    char expected[253] = {0};
    memcpy(expected, line + 2, 252);
    check_line(line, 300, expected, "");
}

static void check_program(const char *program, const char *const *argv, const char *file_name,
                          const char *const *expected)
{
    struct loader_program opened;
    struct c2_error err = {0};
    char real[96];
    const struct loader_request request = {.program = program, .argv = argv};
    setenv("PATH", "bin", 1);
    assert_int_equal(loader_program_open(&opened, &request, &err), C2_OK);
    snprintf(real, sizeof real, "%s/%s", root, file_name);
    assert_string_equal(opened.file.real, real);
    assert_string_equal(opened.name, program);
    size_t count = 0;
    for (; expected[count]; count++)
        assert_string_equal(opened.words.items[count], expected[count]);
    assert_int_equal(opened.words.count, count);
    assert_null(opened.words.items[count]);
    loader_program_close(&opened);
}

#define WORDS(...) ((const char *const[]){__VA_ARGS__, NULL})

static void test_words_of_scripts(void **state)
{
    (void)state;
    script("one", "#!./app\n");
    script("two", "#!./one -a -b\n");
    script("three", "#!./two\n");
    script("four", "#!./three x\n");
    check_program("./app", WORDS("any name", "1"), "app", WORDS("any name", "1"));
    check_program("./one", WORDS("zero", "1", "2"), "app", WORDS("./app", "./one", "1", "2"));
    check_program("./two", WORDS("zero"), "app", WORDS("./app", "./one", "-a -b", "./two"));
    check_program("./four", WORDS("zero", "9"), "app",
                  WORDS("./app", "./one", "-a -b", "./two", "./three", "x", "./four", "9"));
    check_program("./one", (const char *const[]){NULL}, "app", WORDS("./app", "./one"));
}

static void check_bad_program(const char *program, enum c2_status status, const char *text)
{
    struct loader_program opened;
    struct c2_error err = {0};
    const struct loader_request request = {.program = program, .argv = WORDS("x")};
    assert_int_equal(loader_program_open(&opened, &request, &err), status);
    assert_string_equal(err.text, text);
}

static void test_bad_scripts(void **state)
{
    (void)state;
    script("five", "#!./four\n");
    script("loop", "#!./loop\n");
    script("lost", "#!/no/such/sh -e\n");
    script("dos", "#!./app\r\necho\r\n");
    script("plainly", "#!bin/plain\n");
    check_bad_program("./five", C2_ERR_FORMAT,
                      "./five: more than 4 scripts deep: an interpreter must be a program in the end");
    check_bad_program("./loop", C2_ERR_FORMAT,
                      "./loop: more than 4 scripts deep: an interpreter must be a program in the end");
    check_bad_program("./lost", C2_ERR_FORMAT, "./lost: bad interpreter: /no/such/sh does not exist");
    check_bad_program("./dos", C2_ERR_FORMAT,
                      "./dos: bad interpreter: ./app does not exist with a carriage return at its end: the lines of "
                      "the script end as on DOS, convert them");
    check_bad_program("./plainly", C2_ERR_DENIED,
                      "bin/plain (the interpreter of ./plainly): may not be executed (chmod +x gives the permission)");
}

static void test_no_memory(void **state)
{
    (void)state;
    const struct loader_request request = {.program = "four", .argv = WORDS("a", "b", "c")};
    enum c2_status status = C2_ERR_NO_MEMORY;
    setenv("PATH", "more::bin", 1);
    for (uint64_t n = 1; status != C2_OK; n++) {
        struct loader_program opened;
        c2_alloc_fail_from(n);
        status = loader_program_open(&opened, &request, NULL);
        c2_alloc_fail_from(0);
        assert_true(status == C2_OK || status == C2_ERR_NO_MEMORY);
        if (status == C2_OK)
            loader_program_close(&opened);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_path_search),      cmocka_unit_test(test_path_unset),
        cmocka_unit_test(test_opening),          cmocka_unit_test(test_executable_but_not_readable),
        cmocka_unit_test(test_first_line),       cmocka_unit_test(test_bad_first_line),
        cmocka_unit_test(test_words_of_scripts), cmocka_unit_test(test_bad_scripts),
        cmocka_unit_test(test_no_memory),
    };
    return cmocka_run_group_tests(tests, enter, leave);
}

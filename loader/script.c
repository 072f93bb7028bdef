/* SPDX-License-Identifier: GPL-2.0-or-later
 *
 * Scripts: from the command line to the ELF file that runs it, and to the words it gets.
 *
 * Model
 *   A file that begins with #! names on its first line an interpreter and at most one argument, which may hold
 *   blanks. The interpreter is run with the words: its own name, the argument if there is one, the script's path,
 *   the script's words after the first. It may be a script itself.
 * Invariants
 *   words is NULL-terminated and owned: items[count] is null.
 * Decisions
 *   A first line longer than the kernel's buffer is refused; a kernel may cut the argument silently.
 *   At most four scripts stand between the command line and the ELF file.
 * Source
 *   execve(2), "Interpreter scripts".
 */
#include "loader/loader_priv.h"

#include <errno.h>
#include <string.h>

/* ------------------------------------------------------------------ words */

void loader_words_release(struct loader_words *words)
{
    for (size_t i = 0; i < words->count; i++)
        c2_free(words->items[i]);
    c2_free(words->items);
    *words = (struct loader_words){0};
}

static enum c2_status append_words(struct loader_words *words, const char *const *items, size_t count,
                                   struct c2_error *err)
{
    char **grown = c2_realloc(words->items, (words->count + count + 1) * sizeof *grown);
    if (!grown)
        return c2_fail_memory(err, "the command line");
    words->items = grown;
    for (size_t i = 0; i < count; i++) {
        grown[words->count] = c2_strdup(items[i]);
        if (!grown[words->count])
            return c2_fail_memory(err, "the command line");
        words->count++;
    }
    grown[words->count] = NULL;
    return C2_OK;
}

static size_t script_count_words(const char *const *items)
{
    size_t count = 0;
    while (items[count])
        count++;
    return count;
}

enum c2_status loader_words_copy(struct loader_words *out, const char *const *items, struct c2_error *err)
{
    *out = (struct loader_words){0};
    enum c2_status status = append_words(out, items, script_count_words(items), err);
    if (status != C2_OK)
        loader_words_release(out);
    return status;
}

/* ------------------------------------------------------------------ the first line */

static bool script_blank(char c) { return c == ' ' || c == '\t'; }

/* Splits "interpreter argument" in place of line, which is terminated and has no newline. */
static enum c2_status split_line(struct loader_script *out, char *line, const struct loader_file *file,
                                 struct c2_error *err)
{
    size_t length = strlen(line);
    while (length > 0 && script_blank(line[length - 1]))
        line[--length] = '\0';
    line += strspn(line, " \t");
    size_t name = strcspn(line, " \t");
    if (name == 0)
        return c2_fail(err, C2_ERR_FORMAT, "%s: its #! line names no interpreter", file->label);
    memcpy(out->interpreter, line, name);
    line += name;
    strcpy(out->argument, line + strspn(line, " \t"));
    return C2_OK;
}

enum c2_status loader_script_read(struct loader_script *out, const struct loader_file *file, struct c2_error *err)
{
    char line[LOADER_SCRIPT_LINE + 1] = {0};
    size_t count = file->bytes < LOADER_SCRIPT_LINE ? (size_t)file->bytes : LOADER_SCRIPT_LINE;
    *out = (struct loader_script){0};
    enum c2_status status = loader_file_read(file, 0, line, count, err);
    if (status != C2_OK || count < 2 || line[0] != '#' || line[1] != '!')
        return status;
    char *end = memchr(line, '\n', count);
    if (!end && file->bytes > count)
        return c2_fail(err, C2_ERR_FORMAT, "%s: its #! line is longer than %d bytes", file->label, LOADER_SCRIPT_LINE);
    if (end)
        *end = '\0';
    return split_line(out, line + 2, file, err);
}

/* ------------------------------------------------------------------ from script to program */

/* words becomes: interpreter [argument] path words[1...]. */
static enum c2_status prefix_words(struct loader_words *words, const struct loader_script *script, const char *path,
                                   struct c2_error *err)
{
    struct loader_words fresh = {0};
    const char *front[] = {script->interpreter, script->argument, path};
    if (!script->argument[0])
        front[1] = path;
    size_t skipped = words->count > 0;
    enum c2_status status = append_words(&fresh, front, script->argument[0] ? 3 : 2, err);
    if (status == C2_OK)
        status = append_words(&fresh, (const char *const *)words->items + skipped, words->count - skipped, err);
    loader_words_release(status == C2_OK ? words : &fresh);
    if (status == C2_OK)
        *words = fresh;
    return status;
}

/* One step: program->file is the script at path; afterwards it is the interpreter. */
static enum c2_status script_follow(struct loader_program *program, const struct loader_script *script,
                                    const char *path, struct c2_error *err)
{
    struct loader_file next;
    enum c2_status status = prefix_words(&program->words, script, path, err);
    if (status != C2_OK)
        return status;
    status = loader_interpreter_open(&next, script->interpreter, program->directory, &program->file, err);
    if (status != C2_OK) {
        program->reason = status == C2_ERR_FORMAT ? ENOENT : 0;
        return status;
    }
    loader_file_close(&program->file);
    program->file = next;
    return C2_OK;
}

static enum c2_status follow_all(struct loader_program *program, struct c2_error *err)
{
    struct loader_script script, next;
    enum c2_status status = loader_script_read(&script, &program->file, err);
    const char *path = program->name;
    for (int depth = 0; status == C2_OK && script.interpreter[0]; depth++) {
        program->reason = depth == LOADER_SCRIPT_DEPTH ? ELOOP : 0;
        if (program->reason != 0)
            return c2_fail(err, C2_ERR_FORMAT,
                           "%s: more than %d scripts deep: an interpreter must be a program in the "
                           "end",
                           program->name, LOADER_SCRIPT_DEPTH);
        status = script_follow(program, &script, path, err);
        if (status == C2_OK)
            status = loader_script_read(&next, &program->file, err);
        if (status != C2_OK)
            return status;
        /* words[0] is the path by which the file just opened was named. */
        path = program->words.items[0];
        script = next;
    }
    return status;
}

static enum c2_status script_find_name(char **out, const struct loader_request *request, struct c2_error *err)
{
    if (!request->file)
        return loader_find(out, request->program, err);
    *out = c2_strdup(request->program);
    return *out ? C2_OK : c2_fail_memory(err, "a path");
}

enum c2_status loader_program_open(struct loader_program *out, const struct loader_request *request,
                                   struct c2_error *err)
{
    *out = (struct loader_program){.file.fd = -1, .directory = request->directory};
    enum c2_status status = script_find_name(&out->name, request, err);
    if (status == C2_OK)
        status = loader_words_copy(&out->words, request->argv, err);
    if (status == C2_OK)
        status = request->file ? loader_file_open(&out->file, request->file, out->name, err)
                               : loader_file_open_inside(&out->file, out->name, out->name, err);
    if (status == C2_OK)
        status = follow_all(out, err);
    if (status != C2_OK)
        loader_program_close(out);
    return status;
}

void loader_program_close(struct loader_program *program)
{
    loader_file_close(&program->file);
    loader_words_release(&program->words);
    c2_free(program->name);
    program->name = NULL;
}

/* SPDX-License-Identifier: GPL-2.0-or-later
 *
 * html: `c2emu html REPORT.json [OTHER.json] -o FILE [-I DIR]...`.
 */
#include "html/html.h"

#include <stdlib.h>
#include <string.h>

#include "cli/cli_priv.h"

struct words {
    const char *paths[2], *output, **directories;
    size_t path_count, directory_count;
};

static enum c2_status html_fail_words(struct c2_error *err)
{
    return c2_fail(err, C2_ERR_INVALID,
                   "html: give a report, or two to compare, and the page: c2emu html REPORT.json [OTHER.json] -o FILE");
}

static enum c2_status html_take_option(void *self, const struct argp_option *row, char *value, struct c2_error *err)
{
    struct words *words = self;
    if (!value || *value == '\0')
        return c2_fail(err, C2_ERR_INVALID, "html: option --%s needs a value", row->name);
    if (strcmp(row->name, "include") == 0)
        words->directories[words->directory_count++] = value;
    else
        words->output = value;
    return C2_OK;
}

static enum c2_status html_take_path(void *self, char *const *word, struct c2_error *err)
{
    struct words *words = self;
    if (words->path_count == 2)
        return html_fail_words(err);
    words->paths[words->path_count++] = word[0];
    return C2_OK;
}

/* All of a file as a text; to be freed. */
static enum c2_status html_read_text(char **out, const char *path, struct c2_error *err)
{
    char *text = NULL;
    size_t room = 0;
    FILE *from = fopen(path, "re");
    *out = NULL;
    if (!from)
        return c2_fail(err, C2_ERR_NOT_FOUND, "html: %s cannot be opened: %m", path);
    if (getdelim(&text, &room, '\0', from) >= 0)
        *out = text;
    else
        free(text);
    enum c2_status status = *out ? C2_OK : c2_fail(err, C2_ERR_FORMAT, "html: %s cannot be read, or is empty", path);
    fclose(from);
    return status;
}

/* What differs, as JSON; to be freed. */
static enum c2_status html_compare(char **out, const struct words *words, struct c2_error *err)
{
    size_t bytes;
    FILE *to = open_memstream(out, &bytes);
    if (!to)
        return c2_fail_memory(err, "the comparison");
    enum c2_status status = report_changes(to, words->paths[0], words->paths[1], err);
    if (fclose(to) != 0 && status == C2_OK)
        status = c2_fail_memory(err, "the comparison");
    return status;
}

static enum c2_status html_write_page(const struct words *words, const struct html_request *request,
                                      struct c2_error *err)
{
    struct c2_outfile *file;
    for (size_t i = 0; i < words->path_count; i++) {
        enum c2_status spared = c2_outfile_spare(words->paths[i], err);
        if (spared != C2_OK)
            return spared;
    }
    enum c2_status status = c2_outfile_open(&file, words->output, err);
    if (status != C2_OK)
        return status;
    status = html_write(c2_outfile_stream(file), request, err);
    if (status == C2_OK || status == C2_ERR_IO)
        return c2_outfile_commit(file, err);
    c2_outfile_abandon(file);
    return status;
}

static enum c2_status make_page(const struct words *words, struct c2_error *err)
{
    char *texts[2] = {NULL, NULL}, *changes = NULL;
    enum c2_status status = C2_OK;
    for (size_t i = 0; i < words->path_count && status == C2_OK; i++)
        status = html_read_text(&texts[i], words->paths[i], err);
    if (status == C2_OK && texts[1])
        status = html_compare(&changes, words, err);
    const struct html_request request = {.report = texts[0],
                                         .name = words->paths[0],
                                         .other = texts[1],
                                         .other_name = words->paths[1],
                                         .changes = changes,
                                         .directories = words->directories,
                                         .directory_count = words->directory_count};
    if (status == C2_OK)
        status = html_write_page(words, &request, err);
    free(texts[0]);
    free(texts[1]);
    free(changes);
    return status;
}

enum c2_status cli_html(int argc, char **argv, struct c2_error *err)
{
    struct words words = {.directories = c2_calloc((size_t)argc, sizeof *words.directories)};
    const struct cli_taker taker = {&words, html_take_option, html_take_path};
    if (!words.directories)
        return c2_fail_memory(err, "the options");
    enum c2_status status = cli_words_take(cli_verb("html"), argc, argv, &taker, err);
    if (status == C2_OK && (words.path_count == 0 || !words.output))
        status = html_fail_words(err);
    if (status == C2_OK)
        status = make_page(&words, err);
    c2_free(words.directories);
    return status;
}

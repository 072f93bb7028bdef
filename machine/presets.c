/* SPDX-License-Identifier: GPL-2.0-or-later
 *
 * The machines that come with the program: every NAME.ini of one directory.
 */
#include <dirent.h>
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "machine/machine_priv.h"

static int compare_names(const void *a, const void *b) { return strcmp(*(char *const *)a, *(char *const *)b); }

/* The length of NAME in NAME.ini; 0 for any other file name. */
static size_t preset_length(const char *file_name)
{
    size_t length = strlen(file_name);
    bool is_preset = length > 4 && file_name[0] != '.' && strcmp(file_name + length - 4, ".ini") == 0;
    return is_preset ? length - 4 : 0;
}

static enum c2_status presets_add_name(char ***names, size_t *count, const char *file_name, struct c2_error *err)
{
    size_t length = preset_length(file_name);
    if (length == 0)
        return C2_OK;
    char **grown = c2_realloc(*names, (*count + 1) * sizeof *grown);
    if (!grown)
        return c2_fail_memory(err, "the list of machines");
    *names = grown;
    char *name = c2_strdup(file_name);
    if (!name)
        return c2_fail_memory(err, "the list of machines");
    name[length] = '\0';
    grown[(*count)++] = name;
    return C2_OK;
}

enum c2_status machine_names(char ***out, size_t *count, const char *machines_dir, struct c2_error *err)
{
    enum c2_status status = C2_OK;
    char **names = NULL;
    *out = NULL;
    *count = 0;
    DIR *dir = machines_dir ? opendir(machines_dir) : NULL;
    if (!dir)
        return c2_fail(err, C2_ERR_NOT_FOUND, "the directory of machines, %s, cannot be read: %s",
                       machines_dir ? machines_dir : "(none)", machines_dir ? strerror(errno) : "none is known");
    for (struct dirent *entry; status == C2_OK && (entry = readdir(dir));)
        status = presets_add_name(&names, count, entry->d_name, err);
    closedir(dir);
    if (status != C2_OK) {
        machine_names_free(names, *count);
        *count = 0;
        return status;
    }
    if (*count)
        qsort(names, *count, sizeof *names, compare_names);
    *out = names;
    return C2_OK;
}

void machine_names_free(char **names, size_t count)
{
    for (size_t i = 0; i < count; i++)
        c2_free(names[i]);
    c2_free(names);
}

/* "a, b, c" as far as it fits */
static void join_names(char *text, size_t bytes, char *const *names, size_t count)
{
    size_t used = (size_t)snprintf(text, bytes, "%s", count ? "" : "none");
    for (size_t i = 0; i < count && used < bytes; i++)
        used += (size_t)snprintf(text + used, bytes - used, "%s%s", i ? ", " : "", names[i]);
}

enum c2_status machine_fail_preset(const char *name, const char *machines_dir, struct c2_error *err)
{
    char **names, known[512], suggestion[96] = "";
    size_t count;
    enum c2_status status = machine_names(&names, &count, machines_dir, err);
    if (status != C2_OK)
        return status;
    const char *nearest = c2_nearest(name, (const char *const *)names, count);
    if (nearest)
        snprintf(suggestion, sizeof suggestion, " (did you mean \"%s\"?)", nearest);
    join_names(known, sizeof known, names, count);
    machine_names_free(names, count);
    return c2_fail(err, C2_ERR_NOT_FOUND,
                   "there is no machine \"%s\"%s; machines in %s: %s. A file of your own is named by its path", name,
                   suggestion, machines_dir, known);
}

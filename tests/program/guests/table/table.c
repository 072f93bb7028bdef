/* SPDX-License-Identifier: GPL-2.0-or-later
 *
 * What C libraries do in ways of their own: formats, locales, threads, directories, time.
 */
#define _GNU_SOURCE
#include <dirent.h>
#include <locale.h>
#include <math.h>
#include <pthread.h>
#include <regex.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static pthread_cond_t changed = PTHREAD_COND_INITIALIZER;
static int turn;

static void *take_turns(void *self)
{
    for (int i = 0; i < 50; i++) {
        pthread_mutex_lock(&lock);
        while (turn % 3 != (int)(long)self)
            pthread_cond_wait(&changed, &lock);
        turn++;
        pthread_cond_broadcast(&changed);
        pthread_mutex_unlock(&lock);
    }
    return NULL;
}

static int by_name(const void *a, const void *b) { return strcmp(*(char *const *)a, *(char *const *)b); }

int main(int argc, char **argv)
{
    pthread_t threads[3];
    struct dirent *entry;
    regex_t pattern;
    char *names[64], text[64];
    size_t count = 0;
    time_t moment = 1700000000;
    printf("%d %s %s %.15g %a\n", argc, argv[1], setlocale(LC_ALL, ""), sqrt(2), 0.1);
    strftime(text, sizeof text, "%F %T %j", gmtime(&moment));
    printf("%s %d\n", text, regcomp(&pattern, "^(a|b)+c?$", REG_EXTENDED) || regexec(&pattern, "abbac", 0, NULL, 0));
    DIR *sub = opendir("sub");
    while ((entry = readdir(sub)))
        names[count++] = strdup(entry->d_name);
    qsort(names, count, sizeof *names, by_name);
    for (size_t i = 0; i < count; i++)
        puts(names[i]);
    for (long i = 0; i < 3; i++)
        pthread_create(&threads[i], NULL, take_turns, (void *)i);
    for (int i = 0; i < 3; i++)
        pthread_join(threads[i], NULL);
    printf("%d turns\n", turn);
    return turn == 150 ? 9 : 1;
}

/* SPDX-License-Identifier: GPL-2.0-or-later
 *
 * topology: what /sys/devices/system/cpu shows of each processor and of its caches.
 *
 * Model
 *   Processors are cores of one package, without siblings. The caches are those of the simulated machine that the run
 *   began with: first levels, then those below; a shared one is all processors'. Where slices make up a level, its sets
 *   are those of all slices.
 *
 * Not modelled
 *   A size that is no multiple of 1 KiB, which is Linux's unit there: the file `size` is missing then. Clusters, dies,
 *   nodes, frequencies.
 * Source
 *   Linux, Documentation/ABI/testing/sysfs-devices-system-cpu; drivers/base/cacheinfo.c for the order of the levels.
 */
#include <stdio.h>
#include <string.h>

#include "syscalls/kernel_priv.h"
#include "syscalls/paths_priv.h"

static const struct syscalls_cache *cache_of(const struct content_of *of) { return &of->kernel->caches[of->cache]; }

/* ------------------------------------------------------------------ sets of processors */

static void topology_write_list(const struct content_of *of, int to, bool all)
{
    if (all)
        content_write_processors(of, to);
    else
        content_put(to, "%u\n", of->processor);
}

/* As a mask: words of 32 bits, the highest first, of as many digits as there are processors for. */
static void topology_write_map(const struct content_of *of, int to, bool all)
{
    const uint32_t count = of->kernel->processors;
    const uint64_t mask = all ? sched_all(of->kernel) : 1ull << of->processor;
    if (count > 32)
        content_put(to, "%0*x,%08x\n", (int)c2_align_up(count - 32, 4) / 4, (unsigned)(mask >> 32), (unsigned)mask);
    else
        content_put(to, "%0*x\n", (int)c2_align_up(count, 4) / 4, (unsigned)mask);
}

static void write_all_list(const struct content_of *of, int to) { topology_write_list(of, to, true); }
static void write_own_list(const struct content_of *of, int to) { topology_write_list(of, to, false); }
static void write_all_map(const struct content_of *of, int to) { topology_write_map(of, to, true); }
static void write_own_map(const struct content_of *of, int to) { topology_write_map(of, to, false); }
static void write_shared_list(const struct content_of *of, int to)
{
    topology_write_list(of, to, cache_of(of)->shared);
}
static void write_shared_map(const struct content_of *of, int to) { topology_write_map(of, to, cache_of(of)->shared); }

/* ------------------------------------------------------------------ numbers */

static void write_core(const struct content_of *of, int to) { content_put(to, "%u\n", of->processor); }
static void topology_write_level(const struct content_of *of, int to) { content_put(to, "%u\n", cache_of(of)->level); }
static void write_line(const struct content_of *of, int to) { content_put(to, "%u\n", cache_of(of)->line_bytes); }
static void write_ways(const struct content_of *of, int to) { content_put(to, "%u\n", cache_of(of)->ways); }

static void write_cache_number(const struct content_of *of, int to)
{
    content_put(to, "%u\n", cache_of(of)->shared ? 0 : of->processor);
}

static void write_sets(const struct content_of *of, int to)
{
    content_put(to, "%llu\n", (unsigned long long)cache_of(of)->sets);
}

static void write_type(const struct content_of *of, int to)
{
    static const char *const names[] = {
        [SYSCALLS_DATA] = "Data", [SYSCALLS_CODE] = "Instruction", [SYSCALLS_UNIFIED] = "Unified"};
    content_put(to, "%s\n", names[cache_of(of)->type]);
}

static uint64_t topology_bytes(const struct syscalls_cache *cache)
{
    return cache->sets * cache->ways * cache->line_bytes;
}

static void write_size(const struct content_of *of, int to)
{
    content_put(to, "%lluK\n", (unsigned long long)topology_bytes(cache_of(of)) / 1024);
}

/* ------------------------------------------------------------------ the files */

static const struct content_node processor_nodes[] = {
    {"/cache", NULL, NULL, NULL}, /* a directory: the caches */
    {"/topology/core_cpus", NULL, NULL, write_own_map},
    {"/topology/core_cpus_list", NULL, NULL, write_own_list},
    {"/topology/core_id", NULL, NULL, write_core},
    {"/topology/core_siblings", NULL, NULL, write_all_map},
    {"/topology/core_siblings_list", NULL, NULL, write_all_list},
    {"/topology/package_cpus", NULL, NULL, write_all_map},
    {"/topology/package_cpus_list", NULL, NULL, write_all_list},
    {"/topology/physical_package_id", NULL, "0\n", NULL},
    {"/topology/thread_siblings", NULL, NULL, write_own_map},
    {"/topology/thread_siblings_list", NULL, NULL, write_own_list},
};

static const struct content_node cache_nodes[] = {
    {"/coherency_line_size", NULL, NULL, write_line},
    {"/id", NULL, NULL, write_cache_number},
    {"/level", NULL, NULL, topology_write_level},
    {"/number_of_sets", NULL, NULL, write_sets},
    {"/physical_line_partition", NULL, "1\n", NULL},
    {"/shared_cpu_list", NULL, NULL, write_shared_list},
    {"/shared_cpu_map", NULL, NULL, write_shared_map},
    {"/type", NULL, NULL, write_type},
    {"/ways_of_associativity", NULL, NULL, write_ways},
    {"/size", NULL, NULL, write_size}, /* the last one: it may be missing */
};

/* ------------------------------------------------------------------ whose they are */

/* A number below `end` behind the word; what follows it into *rest, "" or "/...", which else stays as it is. */
static bool read_numbered(const char *text, const char *word, uint32_t end, uint32_t *number, const char **rest)
{
    const size_t bytes = strlen(word);
    if (strncmp(text, word, bytes) != 0)
        return false;
    const size_t digits = strspn(text + bytes, "0123456789");
    if (digits == 0 || digits > 3 || (digits > 1 && text[bytes] == '0'))
        return false;
    const char *behind = text + bytes + digits;
    sscanf(text + bytes, "%3u", number);
    if (*number >= end || (*behind != '\0' && *behind != '/'))
        return false;
    *rest = behind;
    return true;
}

bool topology_find(struct content_of *of, struct content_nodes *nodes, const char *path, const char **rest)
{
    const struct syscalls *kernel = of->kernel;
    if (!read_numbered(path, TOPOLOGY_PROCESSORS "/cpu", kernel->processors, &of->processor, rest))
        return false;
    *nodes = (struct content_nodes){processor_nodes, sizeof processor_nodes / sizeof processor_nodes[0]};
    if (!read_numbered(*rest, "/cache/index", kernel->cache_count, &of->cache, rest))
        return true;
    const bool whole = topology_bytes(cache_of(of)) % 1024 == 0;
    *nodes = (struct content_nodes){cache_nodes, sizeof cache_nodes / sizeof cache_nodes[0] - !whole};
    return true;
}

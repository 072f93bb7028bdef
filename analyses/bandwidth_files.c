/* SPDX-License-Identifier: GPL-2.0-or-later
 *
 * bandwidth_files: curves and rooflines as CSV. docs/bandwidth.md has the columns.
 */
#include <inttypes.h>
#include <string.h>

#include "analyses/bandwidth_priv.h"

static const char *bandwidth_files_direction(const struct bandwidth_flow *flow)
{
    return flow->computes ? "" : flow->writes ? "written" : "read";
}

/* ------------------------------------------------------------------ curves */

/* thread: its column, with the comma; where there is one thread there is none. */
static void write_curve(FILE *to, const struct bandwidth_flow *flow, const char *unit,
                        const struct bandwidth_curve *curve, const char *thread)
{
    uint64_t until = 0;
    for (size_t i = 0; i < curve->count; i++) {
        const struct bandwidth_step *step = &curve->steps[i];
        until += step->units;
        fprintf(to, "%s,%s,%s,%" PRIu64 ",%.6f,%" PRIu64 ",%" PRIu64 ",%" PRIu64 "%s\n", unit, flow->path,
                bandwidth_files_direction(flow), until, (double)step->amount / (double)step->units, step->units,
                step->amount, step->dominated, thread);
    }
}

void bandwidth_write_curves(FILE *to, const struct analyses_bandwidth_result *result)
{
    static const char *const units[BANDWIDTH_UNITS] = {"instruction", "flop"};
    const bool threads = result->thread_count > 1;
    fprintf(to, "unit,path,direction,until,rate,units,amount,dominated%s\n", threads ? ",thread" : "");
    for (unsigned unit = 0; unit < BANDWIDTH_UNITS; unit++)
        for (uint32_t i = 0; i < result->flow_count; i++)
            write_curve(to, &result->flows[i], units[unit], &result->curves[unit][i], threads ? "," : "");
    for (uint32_t thread = 0; threads && thread < result->thread_count; thread++) {
        char number[16];
        snprintf(number, sizeof number, ",%" PRIu32, result->threads[thread].tid);
        for (uint32_t i = 0; i < result->flow_count; i++)
            write_curve(to, &result->flows[i], units[BANDWIDTH_BY_INSTRUCTION], &result->threads[thread].curves[i],
                        number);
    }
}

/* ------------------------------------------------------------------ roofline */

/* In quotes, those within doubled. */
static void bandwidth_files_write_name(FILE *to, const char *name)
{
    fputc('"', to);
    for (; *name; name++)
        fprintf(to, *name == '"' ? "\"%c" : "%c", *name);
    fputc('"', to);
}

static void write_roof(FILE *to, const struct bandwidth_flow *flow, uint32_t peak)
{
    fprintf(to, "roof,\"\",%s,%s,,,", flow->path, bandwidth_files_direction(flow));
    if (flow->computes)
        fprintf(to, ",,%.3f\n", flow->limit / 1000.0);
    else if (peak != 0)
        fprintf(to, "%.6f,%.3f,%.3f\n", (double)peak / flow->limit, flow->limit / 1000.0, peak / 1000.0);
    else
        fprintf(to, ",%.3f,\n", flow->limit / 1000.0);
}

static void bandwidth_files_write_point(FILE *to, const char *kind, const char *name,
                                        const struct bandwidth_windows *windows, const struct bandwidth_flow *flow,
                                        uint64_t bytes, uint64_t flops)
{
    fprintf(to, "%s,", kind);
    bandwidth_files_write_name(to, name);
    fprintf(to, ",%s,%s,%" PRIu64 ",%" PRIu64 ",", flow->path, bandwidth_files_direction(flow), flops, bytes);
    if (bytes != 0)
        fprintf(to, "%.6f", (double)flops / (double)bytes);
    fputs(",,", to);
    if (windows->cycles > 0)
        fprintf(to, "%.6f", (double)flops / windows->cycles);
    fputc('\n', to);
}

static void write_points(FILE *to, const struct analyses_bandwidth_result *result, const char *kind, const char *name,
                         const struct bandwidth_windows *windows)
{
    const uint64_t flops = windows->flow[result->flow_count - 1].amount;
    for (uint32_t i = 0; i + 1 < result->flow_count; i++)
        bandwidth_files_write_point(to, kind, name, windows, &result->flows[i], windows->flow[i].amount, flops);
}

void bandwidth_write_roofline(FILE *to, const struct analyses_bandwidth_result *result,
                              const struct caches_machine *machine)
{
    char name[512];
    fprintf(to, "kind,name,path,direction,flops,bytes,flops_per_byte,bytes_per_cycle,flops_per_cycle\n");
    for (uint32_t i = 0; i < result->flow_count; i++)
        if (result->flows[i].limit != 0)
            write_roof(to, &result->flows[i], machine->flop_rate);
    write_points(to, result, "run", "", &result->all);
    for (size_t i = 0; i < result->functions.count; i++) {
        const struct bandwidth_place *place = &result->functions.list[i];
        const struct loader_place function = {.object = place->place.object, .function = place->place.function};
        write_points(to, result, "function",
                     function.function ? function.function
                                       : loader_place_text(name, sizeof name, place->pc, &place->place),
                     &place->windows);
    }
}

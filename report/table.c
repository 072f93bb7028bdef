/* SPDX-License-Identifier: GPL-2.0-or-later
 *
 * table: aligned columns, two spaces between; and text in lines of REPORT_WIDTH.
 */
#include <stdarg.h>
#include <string.h>

#include "report/report_priv.h"

#define MOST_COLUMNS 16
#define LEAST_NAME 24 /* that much of a name is shown, whatever the width */
#define PIECE 1536    /* of text at once */

static const char *cell(const struct report_table *table, size_t row, size_t column)
{
    return table->cells[row * table->stride + column];
}

/* What the columns before the last leave of a line. */
static int room_for_names(const struct report_table *table, const int *widths)
{
    int room = REPORT_WIDTH - (int)strlen(table->indent);
    for (size_t column = 0; column + 1 < table->columns; column++)
        room -= widths[column] + 2;
    return room > LEAST_NAME ? room : LEAST_NAME;
}

static void put_name(FILE *to, const char *name, int room)
{
    if (strlen(name) <= (size_t)room)
        fprintf(to, "  %s", name);
    else
        fprintf(to, "  %.*s...", room - 3, name);
}

void report_put_table(FILE *to, const struct report_table *table)
{
    int widths[MOST_COLUMNS] = {0};
    C2_ASSERT(table->columns <= MOST_COLUMNS);
    for (size_t row = 0; row < table->rows; row++) {
        for (size_t column = 0; column < table->columns; column++) {
            const int width = (int)strlen(cell(table, row, column));
            widths[column] = width > widths[column] ? width : widths[column];
        }
    }
    for (size_t row = 0; row < table->rows; row++) {
        const size_t aligned = table->columns - table->names_last;
        for (size_t column = 0; column < aligned; column++)
            fprintf(to, "%s%*s", column == 0 ? table->indent : "  ",
                    column < table->left ? -widths[column] : widths[column], cell(table, row, column));
        if (table->names_last)
            put_name(to, cell(table, row, aligned), room_for_names(table, widths));
        fputc('\n', to);
    }
}

/* ------------------------------------------------------------------ text */

static void put_word(struct report_flow *flow, const char *word, size_t length)
{
    if (flow->inside && flow->column + 1 + length > REPORT_WIDTH) {
        fprintf(flow->to, "\n%*s", (int)flow->indent, "");
        flow->column = flow->indent;
    } else if (flow->inside) {
        fputc(' ', flow->to);
        flow->column++;
    }
    flow->inside = true;
    fwrite(word, 1, length, flow->to);
    flow->column += length;
}

void report_put(struct report_flow *flow, const char *format, ...)
{
    char text[PIECE];
    va_list values;
    va_start(values, format);
    vsnprintf(text, sizeof text, format, values);
    va_end(values);
    for (const char *at = text; *at != '\0';) {
        const size_t length = strcspn(at, " ");
        if (length != 0)
            put_word(flow, at, length);
        at += length + (at[length] == ' ');
    }
}

void report_end_line(struct report_flow *flow)
{
    fputc('\n', flow->to);
    flow->column = 0;
    flow->inside = false;
}

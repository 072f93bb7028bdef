/* SPDX-License-Identifier: GPL-2.0-or-later
 *
 * table: aligned columns, two spaces between.
 */
#include <string.h>

#include "report/report_priv.h"

#define MOST_COLUMNS 16

static const char *cell(const struct report_table *table, size_t row, size_t column)
{
    return table->cells[row * table->stride + column];
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
        for (size_t column = 0; column < table->columns; column++)
            fprintf(to, "%s%*s", column == 0 ? table->indent : "  ",
                    column < table->left ? -widths[column] : widths[column], cell(table, row, column));
        fputc('\n', to);
    }
}

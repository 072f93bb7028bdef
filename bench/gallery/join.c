/* SPDX-License-Identifier: GPL-2.0-or-later
 *
 * join ROWS [index]: joins two tables of sqlite in memory on a column, without an index of ours or with one. Without,
 * automatic indexes are switched off, so that each row of one table walks through all of the other.
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <sqlite3.h>

#include "text.h"

static void run(sqlite3 *db, const char *sql)
{
    char *why = NULL;
    if (sqlite3_exec(db, sql, NULL, NULL, &why) != SQLITE_OK) {
        fprintf(stderr, "%s: %s\n", sql, why);
        exit(1);
    }
}

static void fill(sqlite3 *db, int rows)
{
    sqlite3_stmt *insert;
    char name[16];
    run(db, "BEGIN");
    sqlite3_prepare_v2(db, "INSERT INTO orders VALUES (?1, ?2, ?3)", -1, &insert, NULL);
    for (int i = 0; i < rows; i++) {
        sqlite3_bind_int(insert, 1, (int)(gallery_random() % (uint32_t)rows));
        sqlite3_bind_int(insert, 2, (int)(gallery_random() % 1000));
        sqlite3_bind_text(insert, 3, name, (int)gallery_word(name, 1000), SQLITE_TRANSIENT);
        sqlite3_step(insert);
        sqlite3_reset(insert);
    }
    sqlite3_finalize(insert);
    run(db, "COMMIT");
}

int main(int argc, char **argv)
{
    const int rows = argc > 1 ? atoi(argv[1]) : 2000;
    sqlite3 *db;
    sqlite3_stmt *join;
    if (sqlite3_open(":memory:", &db) != SQLITE_OK)
        return 1;
    run(db, "PRAGMA automatic_index = OFF; CREATE TABLE orders (customer INT, price INT, note TEXT)");
    fill(db, rows);
    run(db, "CREATE TABLE customers AS SELECT DISTINCT customer AS id FROM orders WHERE customer % 100 = 0");
    if (argc > 2 && strcmp(argv[2], "index") == 0)
        run(db, "CREATE INDEX by_customer ON orders (customer)");
    sqlite3_prepare_v2(db, "SELECT sum(price) FROM customers CROSS JOIN orders ON orders.customer = customers.id", -1,
                       &join, NULL);
    sqlite3_step(join);
    printf("%lld\n", sqlite3_column_int64(join, 0));
    sqlite3_finalize(join);
    sqlite3_close(db);
    return 0;
}

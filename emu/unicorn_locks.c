/* SPDX-License-Identifier: GPL-2.0-or-later
 *
 * Unicorn 2.0.1 takes and releases a lock of all pages concerned at every guest store, with a tree and some
 * allocations each time: about 60 ns a store. The lock protects translations from other host threads, and an engine here
 * never has more than one. The library calls these functions through its symbol table, so the ones of the
 * executable are used; version 2.1 of Unicorn dropped the locking in the same way. Without this file everything
 * works, and stores are two to three times slower (bench/README.md).
 */
#include "emu/unicorn_priv.h"

struct page_collection;
typedef unsigned long tb_page_addr;

struct page_collection *page_collection_lock_x86_64(struct uc_struct *uc, tb_page_addr start, tb_page_addr end);
void page_collection_unlock_x86_64(struct page_collection *set);

__attribute__((visibility("default"))) struct page_collection *
page_collection_lock_x86_64(struct uc_struct *uc, tb_page_addr start, tb_page_addr end)
{
    (void)uc;
    (void)start;
    (void)end;
    return 0;
}

__attribute__((visibility("default"))) void page_collection_unlock_x86_64(struct page_collection *set)
{
    (void)set;
}

void unicorn_locks_link(void) {}

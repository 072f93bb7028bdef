/* SPDX-License-Identifier: GPL-2.0-or-later
 *
 * Damaged page maps, in both forms. (damage.h)
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <cmocka.h>

#include "mmu/pagemap_priv.h"
#include "unit/damage.h"

#define FRAMES ((uint64_t)1 << 20)

static const char plain[] =
    "# a map\n\n0x10 7 4K # one\n1024 0x600 2M\n 0x40000\t0x80000  1073741824 1\n0x10 9 4096 2\n"
    "0x11 8 4K 1\n";
static const char textproto[] =
    "# of a process\npage_size: 4096\npage_count: 3\nbytes_mapped: 12288\n"
    "address_mapping { virtual_address: 0x7f0000001000 physical_address: 0x4000 }\naddress_mapping {\n"
    "  virtual_address: 0x7f0000002000\n  physical_address: 0x8000 turn: 2 }\npage_size: 2097152\n"
    "address_mapping { virtual_address: 0x40000000 physical_address: 0x600000 }\n";

struct reading {
    struct damage_file file;
    unsigned long accepted;
};

/* Each line is a page of whole frames that the machine has, and is found where it says. */
static void assert_lines(const struct pagemap *map)
{
    for (size_t i = 0; i < map->count; i++) {
        const uint64_t pages = mmu_page_bytes((enum mmu_page_size)map->lines[i].size) / C2_PAGE_BYTES;
        enum mmu_page_size size;
        assert_true(map->lines[i].vpn % pages == 0 && map->lines[i].turn != 0);
        assert_true(pagemap_size_at(map, map->lines[i].vpn, &size));
    }
    for (uint64_t frame = pagemap_next_named(map, 0), n = 0; frame < FRAMES && n < 4; n++) {
        assert_true(pagemap_names(map, frame));
        frame = pagemap_next_named(map, frame + 1);
    }
}

static void try(char *bytes, size_t count, void *context)
{
    struct reading *reading = context;
    struct pagemap *map;
    struct c2_error err = {0};
    assert_true(damage_file_put(&reading->file, bytes, count));
    const enum c2_status status = pagemap_read(&map, reading->file.path, FRAMES, &err);
    if (status == C2_OK) {
        reading->accepted++;
        assert_lines(map);
        pagemap_destroy(map);
    } else {
        assert_int_equal(status, C2_ERR_FORMAT);
        assert_non_null(strstr(err.text, reading->file.path));
    }
}

static void damaged(const char *suffix, const char *whole, size_t count)
{
    struct reading reading = {.accepted = 0};
    assert_true(damage_file_make(&reading.file, suffix));
    damage_cut(whole, count, try, &reading);
    assert_int_not_equal(reading.accepted, 0);
    damage_at_random(whole, count, damage_inputs(10000), try, &reading);
    damage_file_remove(&reading.file);
}

static void damaged_plain_maps(void **state)
{
    (void)state;
    damaged(".map", plain, sizeof plain - 1);
}

static void damaged_textproto(void **state)
{
    (void)state;
    damaged(".textproto", textproto, sizeof textproto - 1);
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(damaged_plain_maps), cmocka_unit_test(damaged_textproto)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}

/* SPDX-License-Identifier: GPL-2.0-or-later
 *
 * Damaged machine files. (damage.h)
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <cmocka.h>

#include "machine/machine.h"
#include "unit/damage.h"

/* Each kind of section, several pages in one TLB, a page-walk cache, a hash and policies with keys. */
static const char whole[] =
    "; tiny\n[machine]\nname = own\ndescription = Made up: 2 KiB # all of it\nline = 64\nphysical_memory = 64M\n\n"
    "[L1D]\nsize = 2K ; 32 lines\nways = 2\npolicy = lru\nindex = virtual\ninclusion = non-inclusive\nlatency = 3\n"
    "[L1I]\nsize = 2K\nways = 2\npolicy = nru\nindex = virtual\ninclusion = non-inclusive\nlatency = 3\n"
    "[L2]\nsize = 32K\nways = 4\npolicy = tree-plru\nindex = physical\ninclusion = non-inclusive\nlatency = 10\n"
    "[L3]\nsize = 256K\nways = 8\nslices = 2\nhash = teach2\npolicy = srrip\nindex = physical\ninclusion = inclusive\n"
    "latency = 30\n[DTLB]\npages = 4K+2M\nentries = 8\nways = 2\npolicy = lru\nindex = vpn[1:0]\n"
    "[ITLB]\npages = 4K\nentries = 8\nways = 2\npolicy = lru\nindex = vpn[1:0]\n"
    "[STLB]\npages = 4K+2M\nentries = 32\nways = 4\npolicy = lru\nindex = vpn[2:0]\n"
    "[PSC-PDE]\npages = PDE\nentries = 4\npolicy = lru\n[walks]\nmode = cached\nfrom = L1D\n";

static char *written(const struct caches_machine *machine)
{
    char *text = NULL;
    size_t bytes = 0;
    FILE *to = open_memstream(&text, &bytes);
    machine_write(to, machine);
    fclose(to);
    return text;
}

/* A machine that is accepted is one: its file is read as the same. */
static void assert_same(const struct damage_file *file, const struct caches_machine *machine)
{
    struct caches_machine again;
    struct c2_error err = {0};
    char *text = written(machine);
    assert_true(damage_file_put(file, text, strlen(text)));
    if (machine_read(&again, file->path, "", NULL, 0, &err) != C2_OK)
        fail_msg("%s\n%s", err.text, text);
    char *second = written(&again);
    assert_string_equal(text, second);
    free(text);
    free(second);
}

static unsigned long accepted;

static void try(char *bytes, size_t count, void *context)
{
    const struct damage_file *file = context;
    struct caches_machine machine;
    struct c2_error err = {0};
    assert_true(damage_file_put(file, bytes, count));
    const enum c2_status status = machine_read(&machine, file->path, "", NULL, 0, &err);
    if (status == C2_OK) {
        accepted++;
        assert_same(file, &machine);
    } else {
        assert_true(status == C2_ERR_FORMAT || status == C2_ERR_INVALID || status == C2_ERR_NOT_FOUND);
        assert_non_null(strstr(err.text, file->path));
    }
}

static void damaged(void **state)
{
    struct damage_file file;
    (void)state;
    assert_true(damage_file_make(&file, ".ini"));
    damage_cut(whole, sizeof whole - 1, try, &file);
    assert_int_not_equal(accepted, 0);
    damage_at_random(whole, sizeof whole - 1, damage_inputs(10000), try, &file);
    damage_file_remove(&file);
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(damaged)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}

/* SPDX-License-Identifier: GPL-2.0-or-later
 *
 * Compressed debug sections: unpacked by us beside libelf unpacking them itself, of whole files and of damaged ones,
 * and with too little memory.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>

#include <cmocka.h>

#include <fcntl.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/resource.h>
#include <unistd.h>

#include "loader/symbols_priv.h"
#include "unit/damage.h"

static int start_libelf(void **state)
{
    (void)state;
    return elf_version(EV_CURRENT) == EV_NONE;
}

static bool is_packed(Elf_Scn *section)
{
    GElf_Shdr header;
    return gelf_getshdr(section, &header) && (header.sh_flags & SHF_COMPRESSED);
}

/* What libdw makes of a section: it unpacks what is packed, and takes no notice if it cannot. */
static const Elf_Data *as_libdw_has_it(Elf_Scn *section)
{
    if (is_packed(section))
        elf_compress(section, 0, 0);
    return elf_getdata(section, NULL);
}

struct compared {
    unsigned packed, unpacked; /* sections that were, and of these the ones that libelf can unpack */
};

static bool is_zero(const Elf_Data *data)
{
    for (size_t i = 0; i < data->d_size; i++)
        if (((const char *)data->d_buf)[i] != 0)
            return false;
    return true;
}

static struct compared compare_sections(int fd)
{
    struct compared compared = {0};
    Elf *ours = elf_begin(fd, ELF_C_READ, NULL), *theirs = elf_begin(fd, ELF_C_READ, NULL);
    if (!ours || !theirs) {
        elf_end(ours);
        elf_end(theirs);
        return compared;
    }
    struct loader_unpack *unpack = loader_unpack_begin(ours);
    if (unpack)
        loader_unpack_end(unpack);
    loader_unpack_places(unpack);
    loader_unpack_places(unpack); /* does nothing more */
    Elf_Scn *our = NULL, *their = NULL;
    while ((our = elf_nextscn(ours, our)) && (their = elf_nextscn(theirs, their))) {
        const bool was_packed = is_packed(their);
        const Elf_Data *expected = as_libdw_has_it(their), *got = as_libdw_has_it(our);
        if (is_packed(their) && !is_packed(our)) { /* lists of places, damaged */
            assert_true(is_zero(got));
            compared.packed++;
            continue;
        }
        assert_int_equal(is_packed(our), is_packed(their));
        assert_int_equal(!got, !expected);
        compared.packed += was_packed;
        compared.unpacked += was_packed && !is_packed(their);
        if (!expected)
            continue;
        assert_int_equal(got->d_size, expected->d_size);
        if (expected->d_size != 0 && expected->d_buf)
            assert_memory_equal(got->d_buf, expected->d_buf, expected->d_size);
    }
    loader_unpack_destroy(unpack);
    elf_end(ours);
    elf_end(theirs);
    return compared;
}

static int open_guest(const char *name)
{
    char path[512];
    snprintf(path, sizeof path, GUESTS "/%s", name);
    const int fd = open(path, O_RDONLY | O_CLOEXEC);
    assert_true(fd >= 0);
    return fd;
}

static void sections_of_whole_files(void **state)
{
    static const char *const guests[] = {"packed", "packed_old", "dynamic", "stripped"};
    (void)state;
    for (size_t i = 0; i < sizeof guests / sizeof *guests; i++) {
        const int fd = open_guest(guests[i]);
        const struct compared compared = compare_sections(fd);
        assert_int_equal(compared.unpacked, compared.packed);
        assert_true(i == 0 ? compared.packed >= 4 : compared.packed == 0); /* info, abbrev, line, str at least */
        close(fd);
    }
}

/* From the first packed section on: headers of compression, streams and section headers. */
static void damaged_files(void **state)
{
    static char whole[1 << 16], bytes[sizeof whole];
    const unsigned long inputs = damage_inputs(2000);
    struct c2_rng rng;
    unsigned refused = 0;
    (void)state;
    c2_rng_init(&rng, 1, "damaged sections");
    const int from = open_guest("packed"), fd = memfd_create("damaged", MFD_CLOEXEC);
    const ssize_t count = read(from, whole, sizeof whole);
    assert_true(count > 0 && (size_t)count < sizeof whole);
    close(from);
    for (unsigned long i = 0; i < inputs; i++) {
        memcpy(bytes, whole, (size_t)count);
        for (uint64_t changes = 1 + c2_rng_below(&rng, 4); changes > 0; changes--) {
            const size_t at = (size_t)count / 4 + (size_t)c2_rng_below(&rng, (uint64_t)count - (uint64_t)count / 4);
            bytes[at] = (char)(c2_rng_below(&rng, 2) ? (int)c2_rng_below(&rng, 256)
                                                     : bytes[at] ^ 1 << c2_rng_below(&rng, 8));
        }
        assert_int_equal(pwrite(fd, bytes, (size_t)count, 0), count);
        const struct compared compared = compare_sections(fd);
        refused += compared.unpacked < compared.packed;
    }
    assert_true(refused > inputs / 20);
    close(fd);
}

static void without_memory(void **state)
{
    const int fd = open_guest("packed");
    (void)state;
    c2_alloc_fail_from(0);
    const struct compared whole = compare_sections(fd);
    const uint64_t allocations = c2_alloc_count();
    assert_true(allocations >= 2);
    for (uint64_t n = 1; n <= allocations; n++) {
        c2_alloc_fail_from(n);
        const struct compared compared = compare_sections(fd);
        c2_alloc_fail_from(0);
        assert_int_equal(compared.unpacked, whole.unpacked);
    }
    close(fd);
}

/* There is none for a large page more than the sections take. */
static void without_room(void **state)
{
#if defined(__SANITIZE_ADDRESS__)
    skip(); /* its own memory is more than that */
#endif
    const int fd = open_guest("packed");
    const struct compared whole = compare_sections(fd);
    struct rlimit before, little = {1 << 20, 0};
    (void)state;
    assert_int_equal(getrlimit(RLIMIT_AS, &before), 0);
    little.rlim_max = before.rlim_max;
    Elf *elf = elf_begin(fd, ELF_C_READ, NULL);
    assert_int_equal(setrlimit(RLIMIT_AS, &little), 0);
    struct loader_unpack *unpack = loader_unpack_begin(elf);
    assert_int_equal(setrlimit(RLIMIT_AS, &before), 0);
    assert_null(unpack);
    elf_end(elf);
    assert_int_equal(compare_sections(fd).unpacked, whole.unpacked);
    close(fd);
}

/* What has begun need not be waited for. */
static void given_up(void **state)
{
    const int fd = open_guest("packed");
    Elf *elf = elf_begin(fd, ELF_C_READ, NULL);
    (void)state;
    struct loader_unpack *unpack = loader_unpack_begin(elf);
    assert_non_null(unpack);
    loader_unpack_destroy(unpack);
    elf_end(elf);
    close(fd);
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(sections_of_whole_files), cmocka_unit_test(damaged_files),
                                       cmocka_unit_test(without_memory), cmocka_unit_test(without_room),
                                       cmocka_unit_test(given_up)};
    return cmocka_run_group_tests(tests, start_libelf, NULL);
}

/* SPDX-License-Identifier: GPL-2.0-or-later
 *
 * Libraries that are loaded when they are needed: what is there, what is not, and that it is done once.
 */
#include "base/base.h"

#include <setjmp.h>
#include <string.h>

#include <cmocka.h>

static struct {
    void *handle;
    double (*ceil)(double);
    double (*floor)(double);
} table;

static const struct c2_library_function functions[] = {{"ceil", (void **)&table.ceil},
                                                       {"floor", (void **)&table.floor}};
static const struct c2_library math = {"the library of this test", "libm.so.6", &table.handle, functions, 2};

static void functions_are_found(void **state)
{
    (void)state;
    struct c2_error err;
    assert_int_equal(C2_OK, c2_library_load(&math, &err));
    assert_true(table.ceil(1.5) == 2 && table.floor(2.5) == 2);
    const void *handle = table.handle;
    struct c2_library other = math;
    other.soname = "libnothing.so.0"; /* it is there already, so nothing is sought */
    assert_int_equal(C2_OK, c2_library_load(&other, &err));
    assert_ptr_equal(handle, table.handle);
}

static void what_lacks_is_named(void **state)
{
    (void)state;
    void *handle = NULL, *found, *lacks;
    const struct c2_library_function wanted[] = {{"ceil", &found}, {"no_such_function", &lacks}};
    struct c2_library library = {"the library of this test", "libm.so.6", &handle, wanted, 2};
    struct c2_error err;
    assert_int_equal(C2_ERR_UNSUPPORTED, c2_library_load(&library, &err));
    assert_string_equal("the library of this test libm.so.6 has no no_such_function", err.text);
    assert_null(handle);
    library.soname = "libnothing.so.0";
    assert_int_equal(C2_ERR_UNSUPPORTED, c2_library_load(&library, &err));
    assert_non_null(strstr(err.text, "the library of this test cannot be loaded: libnothing.so.0"));
    assert_null(handle);
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(functions_are_found), cmocka_unit_test(what_lacks_is_named)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}

/* SPDX-License-Identifier: GPL-2.0-or-later
 *
 * What arrays are declared as: their dimensions, and the type of an element.
 *
 *       double a[512][500]               dimensions 512, 500
 *       real(8) :: a(0:499, 512)         512, 500 (from 0)     the first index of Fortran has the neighbours
 *       static A: [[f64; 500]; 512]      512, 500
 *       double (*a)[500]                 500, pointed to
 *       double *a, vector<double> a      none, pointed to
 *       real(8), allocatable :: a(:,:)   none, pointed to
 *
 * Model
 *   Dimensions are those that the declaration itself has: an array of a type with a name has that type as its element,
 *   whatever is behind the name. They stand in the order of their steps through memory, the longest first.
 *   What is pointed to is also what a vector or a pointer of the library holds; of an allocatable array its elements.
 * Counting
 *   Each is read once; they are few.
 * Not modelled
 *   Bounds that the program decides: such an array is not known. std::array, which is a structure.
 * Source
 *   DWARF 5, 5.5.
 */
#include <dwarf.h>
#include <inttypes.h>
#include <string.h>

#include "loader/symbols_priv.h"

#define TYPE_DEPTH 24u /* of derivations: more is a loop in damaged data */

struct loader_arrays {
    struct loader_arrays *next;
    struct loader_type_id from; /* as asked for */
    bool pointed, known;
    struct loader_array of;
};

static bool is_qualifier(int tag)
{
    return tag == DW_TAG_const_type || tag == DW_TAG_volatile_type || tag == DW_TAG_atomic_type ||
           tag == DW_TAG_restrict_type;
}

/* Through qualifiers, and through names if they are no matter. */
static bool unqualify(Dwarf_Die *die, bool names)
{
    for (unsigned depth = 0; depth < TYPE_DEPTH; depth++) {
        const int tag = dwarf_tag(die);
        if (!is_qualifier(tag) && !(names && tag == DW_TAG_typedef))
            return true;
        if (!loader_die_type(die, die))
            return false;
    }
    return false;
}

/* ------------------------------------------------------------------ what is pointed to */

/* Of the library: what holds an allocated block of the type that is its first parameter. */
static bool is_holder(const char *name)
{
    static const char *const starts[] = {"vector<", "valarray<", "unique_ptr<", "shared_ptr<", "Vec<"};
    for (size_t i = 0; name && i < sizeof starts / sizeof *starts; i++)
        if (strncmp(name, starts[i], strlen(starts[i])) == 0)
            return true;
    return false;
}

bool loader_type_pointed(Dwarf_Die *die)
{
    Dwarf_Die child;
    if (!unqualify(die, true))
        return false;
    const int tag = dwarf_tag(die);
    if (tag == DW_TAG_pointer_type || tag == DW_TAG_reference_type)
        return loader_die_type(die, die);
    if (tag == DW_TAG_array_type && dwarf_hasattr(die, DW_AT_data_location)) /* an allocatable array's descriptor */
        return loader_die_type(die, die);
    if ((tag != DW_TAG_class_type && tag != DW_TAG_structure_type) || !is_holder(dwarf_diename(die)))
        return false;
    for (bool more = dwarf_child(die, &child) == 0; more; more = loader_die_next(&child)) {
        if (dwarf_tag(&child) != DW_TAG_template_type_parameter)
            continue;
        return loader_die_type(&child, die);
    }
    return false;
}

/* ------------------------------------------------------------------ dimensions */

/* A constant: of forms without a sign, which dwarf_formsdata() would give one, all numbers are positive. */
static bool arrays_constant(Dwarf_Die *die, unsigned name, int64_t *out)
{
    Dwarf_Attribute attribute;
    Dwarf_Sword number = 0;
    Dwarf_Word positive = 0;
    if (!dwarf_attr_integrate(die, name, &attribute))
        return false;
    const unsigned form = dwarf_whatform(&attribute);
    const bool has_sign = form == DW_FORM_sdata || form == DW_FORM_implicit_const;
    if (has_sign ? dwarf_formsdata(&attribute, &number) != 0 : dwarf_formudata(&attribute, &positive) != 0)
        return false;
    *out = has_sign ? number : (int64_t)positive;
    return true;
}

static int64_t default_first(enum loader_notation notation) { return notation == LOADER_FORTRAN ? 1 : 0; }

static bool add_dimension(struct loader_array *to, Dwarf_Die *range)
{
    int64_t first = default_first(to->notation), count, last;
    if (to->count == LOADER_DIMENSIONS)
        return false;
    arrays_constant(range, DW_AT_lower_bound, &first);
    if (!arrays_constant(range, DW_AT_count, &count)) {
        if (!arrays_constant(range, DW_AT_upper_bound, &last))
            return false;
        count = last - first + 1;
    }
    to->dimensions[to->count++] = (struct loader_dimension){first, (uint64_t)count};
    return count > 0;
}

/* A list of one and no bounds (T[], what a unique_ptr may hold) has no dimension. */
static bool add_dimensions(struct loader_array *to, Dwarf_Die *array)
{
    Dwarf_Die child;
    const uint32_t before = to->count;
    bool known = !dwarf_hasattr(array, DW_AT_GNU_vector);
    for (bool more = dwarf_child(array, &child) == 0; more && known; more = loader_die_next(&child)) {
        if (dwarf_tag(&child) != DW_TAG_subrange_type)
            continue;
        known = add_dimension(to, &child) ||
                (to->pointed && to->count == 0 && before == 0 && !dwarf_hasattr(&child, DW_AT_upper_bound));
    }
    return known;
}

static bool arrays_is_array(Dwarf_Die *die) { return unqualify(die, false) && dwarf_tag(die) == DW_TAG_array_type; }

static void reverse(struct loader_array *array)
{
    for (uint32_t i = 0; i < array->count / 2; i++) {
        const struct loader_dimension first = array->dimensions[i];
        array->dimensions[i] = array->dimensions[array->count - 1 - i];
        array->dimensions[array->count - 1 - i] = first;
    }
}

/* ------------------------------------------------------------------ the whole */

static enum loader_notation notation_of(Dwarf_Die *die)
{
    Dwarf_Die unit;
    if (!dwarf_diecu(die, &unit, NULL, NULL))
        return LOADER_C;
    const enum language language = loader_unit_language(&unit);
    return language == LANGUAGE_FORTRAN ? LOADER_FORTRAN : language == LANGUAGE_RUST ? LOADER_RUST : LOADER_C;
}

static bool arrays_is_c(Dwarf_Die *die)
{
    Dwarf_Die unit;
    return dwarf_diecu(die, &unit, NULL, NULL) && loader_unit_language(&unit) == LANGUAGE_C;
}

static const char *element_name(struct loader_names *names, Dwarf_Die *die)
{
    char text[256];
    const char *name = dwarf_diename(die);
    const int tag = dwarf_tag(die);
    const bool tagged = (tag == DW_TAG_structure_type || tag == DW_TAG_union_type) && arrays_is_c(die);
    if (!name || snprintf(text, sizeof text, "%s%s",
                          !tagged                        ? ""
                          : tag == DW_TAG_structure_type ? "struct "
                                                         : "union ",
                          name) >= (int)sizeof text)
        return NULL;
    return loader_names_keep(names, text, strlen(text));
}

static void read_array(struct loader_arrays *out, struct loader_names *names)
{
    struct loader_array *of = &out->of;
    Dwarf *dwarf = loader_module_dwarf(out->from.module);
    Dwarf_Die die;
    Dwarf_Word bytes;
    if (!dwarf || !dwarf_offdie(dwarf, out->from.die, &die) || (out->pointed && !loader_type_pointed(&die)))
        return;
    of->notation = notation_of(&die);
    of->pointed = out->pointed;
    for (unsigned depth = 0; arrays_is_array(&die); depth++)
        if (depth == TYPE_DEPTH || !add_dimensions(of, &die) || !loader_die_type(&die, &die))
            return;
    if ((of->count == 0 && !of->pointed) || dwarf_aggregate_size(&die, &bytes) != 0 || bytes == 0)
        return;
    if (of->notation == LOADER_FORTRAN)
        reverse(of);
    of->element_bytes = bytes;
    of->element = element_name(names, &die);
    out->known = true;
}

const struct loader_array *loader_array_of(struct loader_symbols *symbols, struct loader_type_id type, bool pointed)
{
    struct loader_arrays *of = symbols->arrays;
    if (!type.module)
        return NULL;
    while (of && (of->from.module != type.module || of->from.die != type.die || of->pointed != pointed))
        of = of->next;
    if (of)
        return of->known ? &of->of : NULL;
    of = c2_calloc(1, sizeof *of);
    if (!of)
        return NULL;
    *of = (struct loader_arrays){.next = symbols->arrays, .from = type, .pointed = pointed};
    symbols->arrays = of;
    read_array(of, symbols->names);
    return of->known ? &of->of : NULL;
}

void loader_arrays_release(struct loader_symbols *symbols)
{
    while (symbols->arrays) {
        struct loader_arrays *next = symbols->arrays->next;
        c2_free(symbols->arrays);
        symbols->arrays = next;
    }
}

uint64_t loader_array_step(const struct loader_array *array, uint32_t dimension)
{
    uint64_t bytes = array->element_bytes;
    for (uint32_t i = dimension + 1; i < array->count; i++)
        bytes *= array->dimensions[i].length;
    return bytes;
}

/* ------------------------------------------------------------------ as the source has it */

struct text {
    char *at;
    size_t left;
};

__attribute__((format(printf, 2, 3))) static void arrays_put(struct text *text, const char *format, ...)
{
    va_list list;
    va_start(list, format);
    const int bytes = vsnprintf(text->at, text->left, format, list);
    va_end(list);
    const size_t used = bytes < 0 ? 0 : (size_t)bytes < text->left ? (size_t)bytes : text->left - 1;
    text->at += used;
    text->left -= used;
}

static void put_c(struct text *text, const char *name, const struct loader_array *array)
{
    arrays_put(text, array->pointed ? "(*%s)" : "%s", name);
    for (uint32_t i = 0; i < array->count; i++)
        arrays_put(text, "[%" PRIu64 "]", array->dimensions[i].length);
}

static void put_fortran(struct text *text, const char *name, const struct loader_array *array)
{
    arrays_put(text, "%s(", name);
    for (uint32_t i = array->count; i-- > 0;) {
        const struct loader_dimension *dimension = &array->dimensions[i];
        if (dimension->first != 1)
            arrays_put(text, "%" PRId64 ":", dimension->first);
        arrays_put(text, "%" PRId64 "%s", dimension->first + (int64_t)dimension->length - 1, i == 0 ? ")" : ", ");
    }
}

static void put_rust(struct text *text, const char *name, const struct loader_array *array)
{
    arrays_put(text, "%s: ", name);
    for (uint32_t i = 0; i < array->count; i++)
        arrays_put(text, "[");
    arrays_put(text, "%s", array->element ? array->element : "_");
    for (uint32_t i = array->count; i-- > 0;)
        arrays_put(text, "; %" PRIu64 "]", array->dimensions[i].length);
}

char *loader_array_text(char *buffer, size_t bytes, const char *name, const struct loader_array *array,
                        uint32_t dimension, uint64_t more)
{
    struct text text = {buffer, bytes};
    struct loader_array longer = *array;
    C2_ASSERT(dimension < array->count);
    longer.dimensions[dimension].length += more;
    if (array->notation == LOADER_FORTRAN)
        put_fortran(&text, name, &longer);
    else if (array->notation == LOADER_RUST)
        put_rust(&text, name, &longer);
    else
        put_c(&text, name, &longer);
    return buffer;
}

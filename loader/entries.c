/* SPDX-License-Identifier: GPL-2.0-or-later
 *
 * entries: where the variables of a unit stand in its debug information.
 *
 * Model
 *   The entries (DIEs) of a unit lie one behind the other; an abbreviation says of each which attributes it has in
 *   which forms, and so how long it is. Only variables whose location is one address, and common blocks, are noted.
 *   Subtrees that hold none are passed over, by DW_AT_sibling where an entry has it.
 * Cost
 *   230 instructions an entry, abbreviations included, where libdw takes 600 and keeps all abbreviations of every unit:
 *   units of which nothing is asked are never read by it.
 * Invariants
 *   What is not understood - a form that is not known here, an end where there should be more - is left to libdw, all
 *   of the unit.
 * Source
 *   DWARF 5, sections 2.3, 7.5.1 to 7.5.6 and 7.7.
 */
#include "loader/symbols_priv.h"

#include <dwarf.h>
#include <stdlib.h>
#include <string.h>

#define MOST_CODES (1u << 16)
#define VARIES UINT32_MAX

struct loader_abbreviation {
    uint32_t tag; /* 0: no entry has this code */
    bool children;
    const uint8_t *specs; /* names and forms */
    uint32_t bytes;       /* of all attributes; VARIES: by entry */
    uint32_t sibling;     /* bytes before DW_AT_sibling; VARIES: by entry, or there is none */
    uint32_t sibling_bytes;
};

/* ------------------------------------------------------------------ bytes */

struct cursor {
    const uint8_t *at, *end;
    bool failed; /* it was to go beyond the end */
};

static void entries_skip(struct cursor *c, uint64_t bytes)
{
    if (bytes > (uint64_t)(c->end - c->at)) {
        c->failed = true;
        c->at = c->end;
        return;
    }
    c->at += bytes;
}

/* Little endian, of at most eight bytes. */
static uint64_t entries_number(struct cursor *c, unsigned bytes)
{
    uint64_t value = 0;
    const uint8_t *from = c->at;
    entries_skip(c, bytes);
    if (!c->failed)
        memcpy(&value, from, bytes);
    return value;
}

static uint64_t entries_uleb(struct cursor *c)
{
    uint64_t value = 0;
    for (unsigned shift = 0; c->at < c->end; shift += 7) {
        const uint8_t byte = *c->at++;
        if (shift < 64)
            value |= (uint64_t)(byte & 0x7f) << shift;
        if (!(byte & 0x80))
            return value;
    }
    c->failed = true;
    return 0;
}

/* ------------------------------------------------------------------ forms */

struct layout_of_unit {
    unsigned version, address_bytes, offset_bytes;
};

/* Bytes of an attribute of this form; VARIES: its value says, or the form is not known. */
static uint32_t form_bytes(uint64_t form, const struct layout_of_unit *unit)
{
    switch (form) {
    case DW_FORM_flag_present:
    case DW_FORM_implicit_const:
        return 0;
    case DW_FORM_data1:
    case DW_FORM_ref1:
    case DW_FORM_flag:
    case DW_FORM_strx1:
    case DW_FORM_addrx1:
        return 1;
    case DW_FORM_data2:
    case DW_FORM_ref2:
    case DW_FORM_strx2:
    case DW_FORM_addrx2:
        return 2;
    case DW_FORM_strx3:
    case DW_FORM_addrx3:
        return 3;
    case DW_FORM_data4:
    case DW_FORM_ref4:
    case DW_FORM_strx4:
    case DW_FORM_addrx4:
    case DW_FORM_ref_sup4:
        return 4;
    case DW_FORM_data8:
    case DW_FORM_ref8:
    case DW_FORM_ref_sig8:
    case DW_FORM_ref_sup8:
        return 8;
    case DW_FORM_data16:
        return 16;
    case DW_FORM_addr:
        return unit->address_bytes;
    case DW_FORM_ref_addr:
        return unit->version <= 2 ? unit->address_bytes : unit->offset_bytes;
    case DW_FORM_sec_offset:
    case DW_FORM_strp:
    case DW_FORM_line_strp:
    case DW_FORM_strp_sup:
    case DW_FORM_GNU_ref_alt:
    case DW_FORM_GNU_strp_alt:
        return unit->offset_bytes;
    default:
        return VARIES;
    }
}

/* The bytes of a block, behind its length; false: the form is none of a block. */
static bool form_block(uint64_t form, struct cursor *c, uint64_t *bytes)
{
    switch (form) {
    case DW_FORM_block1:
        *bytes = entries_number(c, 1);
        return true;
    case DW_FORM_block2:
        *bytes = entries_number(c, 2);
        return true;
    case DW_FORM_block4:
        *bytes = entries_number(c, 4);
        return true;
    case DW_FORM_block:
    case DW_FORM_exprloc:
        *bytes = entries_uleb(c);
        return true;
    default:
        return false;
    }
}

static void form_skip(uint64_t form, struct cursor *c, const struct layout_of_unit *unit)
{
    const uint32_t fixed = form_bytes(form, unit);
    uint64_t bytes;
    if (fixed != VARIES) {
        entries_skip(c, fixed);
        return;
    }
    if (form_block(form, c, &bytes)) {
        entries_skip(c, bytes);
        return;
    }
    switch (form) {
    case DW_FORM_string:
        while (c->at < c->end && *c->at != 0)
            c->at++;
        entries_skip(c, 1);
        return;
    case DW_FORM_sdata:
    case DW_FORM_udata:
    case DW_FORM_ref_udata:
    case DW_FORM_strx:
    case DW_FORM_addrx:
    case DW_FORM_loclistx:
    case DW_FORM_rnglistx:
    case DW_FORM_GNU_addr_index:
    case DW_FORM_GNU_str_index:
        entries_uleb(c);
        return;
    default:
        c->failed = true;
    }
}

/* ------------------------------------------------------------------ abbreviations */

/* One name and form; false: the last, which is none. *constant: of DW_FORM_implicit_const. */
static bool next_spec(struct cursor *c, uint64_t *name, uint64_t *form, uint64_t *constant)
{
    *name = entries_uleb(c);
    *form = entries_uleb(c);
    if (*form == DW_FORM_implicit_const)
        *constant = entries_uleb(c);
    return !c->failed && (*name != 0 || *form != 0);
}

/* Whether an attribute is DW_AT_sibling in a form that is read here. */
static bool is_sibling(uint64_t name, uint64_t form)
{
    return name == DW_AT_sibling && (form == DW_FORM_ref1 || form == DW_FORM_ref2 || form == DW_FORM_ref4);
}

static void read_specs(struct loader_abbreviation *out, struct cursor *c, const struct layout_of_unit *unit)
{
    uint64_t name, form, constant;
    out->specs = c->at;
    out->sibling = VARIES;
    while (next_spec(c, &name, &form, &constant)) {
        const uint32_t bytes = form_bytes(form, unit);
        if (is_sibling(name, form) && out->sibling == VARIES) {
            out->sibling = out->bytes;
            out->sibling_bytes = bytes;
        }
        out->bytes = out->bytes == VARIES || bytes == VARIES ? VARIES : out->bytes + bytes;
    }
}

static bool entries_reach(struct loader_entries *entries, uint64_t code)
{
    if (code >= MOST_CODES)
        return false;
    while (code >= entries->abbreviation_room)
        if (!c2_reach((void **)&entries->abbreviations, &entries->abbreviation_room, (uint32_t)code,
                      sizeof *entries->abbreviations, 64))
            return false;
    while (entries->abbreviation_count <= code)
        entries->abbreviations[entries->abbreviation_count++] = (struct loader_abbreviation){.tag = 0};
    return true;
}

static bool read_abbreviations(struct loader_entries *entries, struct cursor *c, const struct layout_of_unit *unit)
{
    uint64_t code;
    entries->abbreviation_count = 0;
    while ((code = entries_uleb(c)) != 0) {
        struct loader_abbreviation made = {.tag = (uint32_t)entries_uleb(c)};
        made.children = entries_number(c, 1) != 0;
        read_specs(&made, c, unit);
        if (c->failed || made.tag == 0 || !entries_reach(entries, code))
            return false;
        if (entries->abbreviations[code].tag == 0) /* else the first one goes */
            entries->abbreviations[code] = made;
    }
    return !c->failed;
}

/* ------------------------------------------------------------------ one entry */

/* What is asked of its attributes. */
struct attributes {
    uint64_t language; /* 0: none */
    uint64_t sibling;  /* from the start of the unit; 0: none */
    bool cut;          /* what is behind the sibling was not read */
    uint64_t address;  /* of the location */
    bool fixed;        /* it is that address, */
    bool indexed;      /* or one of those that are counted */
};

static void read_location(struct attributes *out, struct cursor *c, uint64_t form, const struct layout_of_unit *unit)
{
    uint64_t bytes;
    struct cursor ops = *c;
    form_skip(form, c, unit);
    if (c->failed || !form_block(form, &ops, &bytes) || bytes == 0)
        return;
    const uint64_t op = entries_number(&ops, 1);
    out->indexed = op == DW_OP_addrx || op == DW_OP_GNU_addr_index;
    out->fixed = op == DW_OP_addr && bytes == 1 + (uint64_t)unit->address_bytes;
    if (out->fixed)
        out->address = entries_number(&ops, unit->address_bytes);
}

static void read_attribute(struct attributes *out, struct cursor *c, uint64_t name, uint64_t form, uint64_t constant,
                           const struct layout_of_unit *unit)
{
    const uint32_t bytes = form_bytes(form, unit);
    if (name == DW_AT_location) {
        read_location(out, c, form, unit);
    } else if (name == DW_AT_language && form == DW_FORM_implicit_const) {
        out->language = constant;
    } else if (name == DW_AT_language && (form == DW_FORM_data1 || form == DW_FORM_data2 || form == DW_FORM_data4)) {
        out->language = entries_number(c, bytes);
    } else if (name == DW_AT_language) {
        c->failed = true; /* in no form that compilers use */
    } else if (is_sibling(name, form)) {
        out->sibling = entries_number(c, bytes);
    } else {
        form_skip(form, c, unit);
    }
}

static struct attributes read_attributes(struct cursor *c, const struct loader_abbreviation *of,
                                         const uint8_t *abbreviations_end, const struct layout_of_unit *unit)
{
    struct attributes out = {.language = 0};
    struct cursor specs = {.at = of->specs, .end = abbreviations_end};
    uint64_t name, form, constant = 0;
    while (!c->failed && next_spec(&specs, &name, &form, &constant))
        read_attribute(&out, c, name, form, constant, unit);
    c->failed |= specs.failed;
    return out;
}

/* ------------------------------------------------------------------ a unit */

struct walk {
    struct loader_entries *entries;
    struct layout_of_unit unit;
    const uint8_t *start;             /* of the unit */
    uint64_t offset;                  /* of that in the section */
    struct cursor c;                  /* to the end of the section */
    const uint8_t *abbreviations_end; /* of that section */
    const struct loader_scopes_wanted *wanted;
    unsigned depth;   /* of scopes that are open; 0: the unit is over */
    unsigned skipped; /* of entries in one that is none */
};

static bool is_wanted_scope(const struct walk *w, uint32_t tag)
{
    return w->depth <= w->wanted->depth && w->wanted->is_scope(w->wanted->self, (int)tag);
}

static bool entries_note(struct walk *w, uint64_t die, uint32_t tag, const struct attributes *of)
{
    struct loader_entries *entries = w->entries;
    if (tag == DW_TAG_variable && !of->fixed && !of->indexed)
        return true;
    if (!c2_grow((void **)&entries->list, &entries->room, entries->count, sizeof *entries->list))
        return false;
    entries->list[entries->count++] = (struct loader_entry){
        .die = die, .address = of->address, .common = tag == DW_TAG_common_block, .fixed = of->fixed};
    return true;
}

/* Over the children of an entry that is no scope. */
static bool pass_over(struct walk *w, const struct attributes *of)
{
    const bool ahead = of->sibling > (uint64_t)(w->c.at - w->start) && of->sibling < (uint64_t)(w->c.end - w->start);
    if (ahead)
        w->c.at = w->start + of->sibling;
    else
        w->skipped++;
    return ahead || !of->cut;
}

static const struct loader_abbreviation *abbreviation_of(const struct loader_entries *entries, uint64_t code)
{
    return code < entries->abbreviation_count && entries->abbreviations[code].tag != 0 ? &entries->abbreviations[code]
                                                                                       : NULL;
}

/* An entry of which nothing is asked but where it ends, with what lies in it if it is no scope. */
static struct attributes pass_attributes(struct walk *w, const struct loader_abbreviation *of, bool scope)
{
    struct attributes attributes = {.language = 0};
    if (of->children && !scope && of->sibling != VARIES) {
        entries_skip(&w->c, of->sibling);
        attributes.sibling = entries_number(&w->c, of->sibling_bytes);
        attributes.cut = true;
    } else if (of->bytes != VARIES && (!of->children || scope)) {
        entries_skip(&w->c, of->bytes);
    } else {
        attributes = read_attributes(&w->c, of, w->abbreviations_end, &w->unit);
    }
    return attributes;
}

static bool entries_walk(struct walk *w)
{
    const uint64_t die = w->offset + (uint64_t)(w->c.at - w->start), code = entries_uleb(&w->c);
    if (code == 0) {
        *(w->skipped != 0 ? &w->skipped : &w->depth) -= 1;
        return !w->c.failed;
    }
    const struct loader_abbreviation *of = abbreviation_of(w->entries, code);
    if (!of)
        return false;
    const bool noted = w->skipped == 0 && (of->tag == DW_TAG_variable || of->tag == DW_TAG_common_block);
    const bool scope = of->children && w->skipped == 0 && is_wanted_scope(w, of->tag);
    const struct attributes attributes = noted ? read_attributes(&w->c, of, w->abbreviations_end, &w->unit)
                                               : pass_attributes(w, of, scope);
    if (w->c.failed || (noted && !entries_note(w, die, of->tag, &attributes)))
        return false;
    if (scope)
        w->depth++;
    return scope || !of->children || pass_over(w, &attributes);
}

static bool walk_unit(struct walk *w)
{
    const struct loader_abbreviation *of = abbreviation_of(w->entries, entries_uleb(&w->c));
    if (!of)
        return false;
    const struct attributes attributes = read_attributes(&w->c, of, w->abbreviations_end, &w->unit);
    if (w->c.failed)
        return false;
    const bool any = w->wanted->begin(w->wanted->self, attributes.language == 0 ? -1 : (int)attributes.language);
    w->depth = any && of->children;
    while (w->depth != 0)
        if (!entries_walk(w))
            return false;
    return true;
}

/* ------------------------------------------------------------------ sections */

static bool entries_section(struct cursor *out, Elf *elf, const char *wanted)
{
    size_t names;
    GElf_Shdr header;
    *out = (struct cursor){.at = NULL};
    if (elf_getshdrstrndx(elf, &names) != 0)
        return false;
    for (Elf_Scn *section = NULL; (section = elf_nextscn(elf, section));) {
        const char *name = gelf_getshdr(section, &header) ? elf_strptr(elf, names, header.sh_name) : NULL;
        if (!name || strcmp(name, wanted) != 0)
            continue;
        const Elf_Data *data = header.sh_flags & SHF_COMPRESSED || header.sh_type == SHT_NOBITS
                                   ? NULL
                                   : elf_rawdata(section, NULL);
        if (!data || !data->d_buf)
            return false;
        *out = (struct cursor){.at = data->d_buf, .end = (const uint8_t *)data->d_buf + data->d_size};
        return true;
    }
    return false;
}

static void entries_open(struct loader_entries *entries, Dwarf *dwarf)
{
    struct cursor info, abbreviations;
    entries->sought = true;
    Elf *elf = dwarf_getelf(dwarf);
    if (!elf || !entries_section(&info, elf, ".debug_info") || !entries_section(&abbreviations, elf, ".debug_abbrev"))
        return;
    entries->info = info.at;
    entries->info_end = info.end;
    entries->abbrev = abbreviations.at;
    entries->abbrev_end = abbreviations.end;
}

bool loader_entries_read(struct loader_entries *entries, Dwarf *dwarf, Dwarf_Die *unit,
                         const struct loader_scopes_wanted *wanted)
{
    Dwarf_Die same;
    Dwarf_Half version;
    Dwarf_Off abbreviations;
    uint8_t address_bytes, offset_bytes;
    const uint64_t die = dwarf_dieoffset(unit), into = dwarf_cuoffset(unit);
    entries->count = 0;
    if (!entries->sought)
        entries_open(entries, dwarf);
    if (!entries->info || die >= (uint64_t)(entries->info_end - entries->info) || into > die ||
        entries->info + die != unit->addr || /* libdw has other bytes */
        !dwarf_cu_die(unit->cu, &same, &version, &abbreviations, &address_bytes, &offset_bytes, NULL, NULL) ||
        abbreviations >= (uint64_t)(entries->abbrev_end - entries->abbrev) || address_bytes > sizeof(uint64_t))
        return false;
    struct cursor c = {.at = entries->abbrev + abbreviations, .end = entries->abbrev_end};
    struct walk w = {.entries = entries,
                     .unit = {version, address_bytes, offset_bytes},
                     .start = entries->info + (die - into),
                     .offset = die - into,
                     .c = {.at = entries->info + die, .end = entries->info_end},
                     .abbreviations_end = entries->abbrev_end,
                     .wanted = wanted};
    return read_abbreviations(entries, &c, &w.unit) && walk_unit(&w);
}

void loader_entries_release(struct loader_entries *entries)
{
    c2_free(entries->list);
    c2_free(entries->abbreviations);
    *entries = (struct loader_entries){.list = NULL};
}

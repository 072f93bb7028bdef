/* SPDX-License-Identifier: GPL-2.0-or-later
 *
 * capstone: Capstone's functions, in a library that is loaded when the first instruction is read by it: its tables of
 * all processors have 77,000 addresses, all of them relocated when it is loaded, which is a tenth of a short native
 * run. Who includes this has the functions by their names, behind a loader_capstone() that has succeeded.
 */
#ifndef C2_LOADER_CAPSTONE_H
#define C2_LOADER_CAPSTONE_H

#include <capstone/capstone.h>

/* clang-format off */
#define LOADER_CAPSTONE_FUNCTIONS(X) \
    X(close) X(disasm) X(disasm_iter) X(free) X(insn_group) X(malloc) X(open) X(option) X(regs_access)
/* clang-format on */

struct loader_capstone_library {
    void *handle; /* NULL: not loaded yet, and so is all that follows */
#define FUNCTION(name) __typeof__(cs_##name) *name;
    LOADER_CAPSTONE_FUNCTIONS(FUNCTION)
#undef FUNCTION
};
extern struct loader_capstone_library loader_capstone_library;

#define cs_close loader_capstone_library.close
#define cs_disasm loader_capstone_library.disasm
#define cs_disasm_iter loader_capstone_library.disasm_iter
#define cs_free loader_capstone_library.free
#define cs_insn_group loader_capstone_library.insn_group
#define cs_malloc loader_capstone_library.malloc
#define cs_open loader_capstone_library.open
#define cs_option loader_capstone_library.option
#define cs_regs_access loader_capstone_library.regs_access

#endif

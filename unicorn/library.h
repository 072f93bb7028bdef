/* SPDX-License-Identifier: GPL-2.0-or-later
 *
 * library: Unicorn's public functions, in a library that is loaded when the first engine of it is made: it has 30,000
 * symbols, all of them bound when it is loaded, which is more than a short native run costs. In this room the names of
 * the functions are those of the table.
 */
#ifndef C2_UNICORN_LIBRARY_H
#define C2_UNICORN_LIBRARY_H

#include <unicorn/unicorn.h>

#include "base/base.h"

/* clang-format off */
#define UNICORN_FUNCTIONS(X) \
    X(close) X(context_alloc) X(context_free) X(context_restore) X(context_save) X(context_size) X(ctl) X(emu_start) \
    X(emu_stop) X(hook_add) X(hook_del) X(mem_map) X(mem_map_ptr) X(mem_unmap) X(mem_write) X(open) X(reg_read) \
    X(reg_write) X(strerror) X(version)
/* clang-format on */

struct unicorn_library {
    void *handle; /* of dlopen(); NULL: not loaded yet, and so is all that follows */
#define FUNCTION(name) __typeof__(uc_##name) *name;
    UNICORN_FUNCTIONS(FUNCTION)
#undef FUNCTION
};
extern struct unicorn_library unicorn_library;

/* Before anything else of this room is asked for; does nothing the second time. The library stays loaded. Fails with
 * C2_ERR_UNSUPPORTED where the host has no such library, or one without these functions, whose name *err has. */
enum c2_status unicorn_library_load(struct c2_error *err);

#define uc_close unicorn_library.close
#define uc_context_alloc unicorn_library.context_alloc
#define uc_context_free unicorn_library.context_free
#define uc_context_restore unicorn_library.context_restore
#define uc_context_save unicorn_library.context_save
#define uc_context_size unicorn_library.context_size
#define uc_ctl unicorn_library.ctl
#define uc_emu_start unicorn_library.emu_start
#define uc_emu_stop unicorn_library.emu_stop
#define uc_hook_add unicorn_library.hook_add
#define uc_hook_del unicorn_library.hook_del
#define uc_mem_map unicorn_library.mem_map
#define uc_mem_map_ptr unicorn_library.mem_map_ptr
#define uc_mem_unmap unicorn_library.mem_unmap
#define uc_mem_write unicorn_library.mem_write
#define uc_open unicorn_library.open
#define uc_reg_read unicorn_library.reg_read
#define uc_reg_write unicorn_library.reg_write
#define uc_strerror unicorn_library.strerror
#define uc_version unicorn_library.version

#endif

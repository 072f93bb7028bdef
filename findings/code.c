/* SPDX-License-Identifier: GPL-2.0-or-later
 *
 * code: instructions of the program, read from its files and decoded.
 */
#include <string.h>

#include "findings/code.h"

void findings_code_open(struct findings_code *code)
{
    *code = (struct findings_code){.path = NULL};
    ZydisDecoderInit(&code->zydis, ZYDIS_MACHINE_MODE_LONG_64, ZYDIS_STACK_WIDTH_64);
}

void findings_code_close(struct findings_code *code) { loader_code_close(code->file); }

bool findings_code_decode(struct findings_code *code, struct loader_symbols *symbols, struct guest_va pc)
{
    uint8_t bytes[LOADER_LONGEST_INSN];
    const char *path;
    uint64_t address;
    struct c2_error unread;
    if (!loader_linked_of(symbols, pc, &path, &address))
        return false;
    if (!code->path || strcmp(code->path, path) != 0) {
        loader_code_close(code->file);
        code->file = NULL;
        code->path = path;
        if (loader_code_open(&code->file, path, &unread) != C2_OK)
            code->file = NULL;
    }
    if (!code->file)
        return false;
    const size_t count = loader_code_read(code->file, address, bytes, sizeof bytes);
    return count != 0 && ZYAN_SUCCESS(ZydisDecoderDecodeFull(&code->zydis, bytes, count, &code->insn, code->op));
}

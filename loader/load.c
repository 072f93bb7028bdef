/* SPDX-License-Identifier: GPL-2.0-or-later
 *
 * Loading: from a description of a program to mapped guest memory.
 *
 * Model
 *   A program linked at fixed addresses is mapped there. A position independent one is mapped with its lowest page at
 *   MMU_PIE_BASE; its interpreter where the mmu finds room in the low zone. Each segment is a private mapping of the
 *   file, then anonymous pages for the rest of its bss; the end of the page between them is cleared.
 *
 *            address            address+file_bytes         address+bytes
 *       |....##########|##############|#######00000000|00000000000....|
 *        file pages                            ^ cleared here   anonymous pages
 *
 * Invariants
 *   Only the cleared parts and the stack are touched, in the order of loader.h: every other page gets its frame when
 *   the guest first uses it. Gaps between segments stay unmapped.
 * Not modelled
 *   Address randomisation; the vDSO; of PT_GNU_PROPERTY shadow stacks and branch tracking.
 * Source
 *   System V ABI, gABI chapter 5, "Program Loading"; AMD64 supplement.
 */
#include "loader/loader_priv.h"

#include <errno.h>
#include <string.h>
#include <sys/personality.h>

typedef unsigned long long ull;

/* ------------------------------------------------------------------ guest memory */

enum c2_status loader_map_failed(struct c2_error *err, const char *what, uint64_t address, uint64_t bytes,
                                 int64_t answer)
{
    return c2_fail(err, answer == -ENOMEM ? C2_ERR_NO_MEMORY : C2_ERR_IO,
                   "%s: cannot be mapped at 0x%llx (%llu bytes): %s", what, (ull)address, (ull)bytes,
                   strerror((int)-answer));
}

enum c2_status loader_poke(struct mmu *mmu, uint64_t to, const void *from, uint64_t bytes, const char *what,
                           struct c2_error *err)
{
    struct guest_va at = {to};
    if (bytes == 0)
        return C2_OK;
    switch (mmu_touch_range(mmu, at, bytes, MMU_ACCESS_WRITE, &at, err)) {
    case MMU_FAULT_NONE:
        break;
    case MMU_FAULT_FAILED:
        return err ? err->status : C2_ERR_EXHAUSTED;
    case MMU_FAULT_BUS:
        return c2_fail(err, C2_ERR_IO, "%s: became shorter while it was loaded", what);
    default:
        return c2_fail(err, C2_ERR_INTERNAL, "%s: the page at 0x%llx cannot be written", what, (ull)at.v);
    }
    if (from)
        memcpy((void *)(uintptr_t)to, from, bytes);
    else
        memset((void *)(uintptr_t)to, 0, bytes);
    return C2_OK;
}

/* ------------------------------------------------------------------ segments */

static enum c2_status map_file_part(struct mmu *mmu, const struct loader_file *file, const struct loader_segment *s,
                                    uint64_t address, struct c2_error *err)
{
    uint64_t start = c2_align_down(address, C2_PAGE_BYTES), data_end = address + s->file_bytes;
    uint64_t end = c2_align_up(data_end, C2_PAGE_BYTES);
    bool clear = s->bytes > s->file_bytes && data_end < end;
    struct mmu_request request = {
        .address = start,
        .bytes = end - start,
        .prot = clear ? s->prot | MMU_WRITE : s->prot,
        .fixed = true, /* over the last page of the segment below, if they share it */
        .kind = MMU_FILE,
        .host_fd = file->fd,
        .offset = c2_align_down(s->offset, C2_PAGE_BYTES),
        .path = file->real,
    };
    int64_t answer = mmu_map(mmu, &request);
    if (answer < 0)
        return loader_map_failed(err, file->label, start, end - start, answer);
    if (!clear)
        return C2_OK;
    enum c2_status status = loader_poke(mmu, data_end, NULL, end - data_end, file->label, err);
    if (status != C2_OK || (s->prot & MMU_WRITE))
        return status;
    answer = mmu_protect(mmu, start, end - start, s->prot);
    return answer < 0 ? loader_map_failed(err, file->label, start, end - start, answer) : C2_OK;
}

static enum c2_status map_bss_part(struct mmu *mmu, const struct loader_file *file, const struct loader_segment *s,
                                   uint64_t address, struct c2_error *err)
{
    uint64_t start = s->file_bytes ? c2_align_up(address + s->file_bytes, C2_PAGE_BYTES)
                                   : c2_align_down(address, C2_PAGE_BYTES);
    uint64_t end = c2_align_up(address + s->bytes, C2_PAGE_BYTES);
    if (start >= end)
        return C2_OK;
    struct mmu_request request = {
        .address = start,
        .bytes = end - start,
        .prot = s->prot,
        .fixed = true,
        .no_replace = true,
        .kind = MMU_ANONYMOUS,
        .host_fd = -1,
    };
    int64_t answer = mmu_map(mmu, &request);
    return answer < 0 ? loader_map_failed(err, file->label, start, end - start, answer) : C2_OK;
}

/* A program linked at fixed addresses must not hide its interpreter, nor the other way round. */
static enum c2_status check_free(const struct mmu *mmu, const struct loader_file *file, const struct loader_elf *elf,
                                 uint64_t bias, struct c2_error *err)
{
    for (size_t i = 0; i < elf->count; i++) {
        const struct loader_segment *s = &elf->segments[i];
        struct guest_va start = {c2_align_down(s->address + bias, C2_PAGE_BYTES)};
        const struct mmu_area *area = mmu_area_at(mmu_areas(mmu), start, true);
        if (area && area->start.v < s->address + bias + s->bytes)
            return c2_fail(err, C2_ERR_UNSUPPORTED, "%s: its segment at 0x%llx overlaps %s, mapped at 0x%llx",
                           file->label, (ull)(s->address + bias), area->path ? area->path : "something else",
                           (ull)area->start.v);
    }
    return C2_OK;
}

static enum c2_status map_segments(struct mmu *mmu, const struct loader_file *file, const struct loader_elf *elf,
                                   uint64_t bias, struct c2_error *err)
{
    enum c2_status status = loader_elf_check_place(elf, file, bias, err);
    if (status == C2_OK)
        status = check_free(mmu, file, elf, bias, err);
    for (size_t i = 0; i < elf->count && status == C2_OK; i++) {
        const struct loader_segment *s = &elf->segments[i];
        if (s->file_bytes > 0)
            status = map_file_part(mmu, file, s, s->address + bias, err);
        if (status == C2_OK)
            status = map_bss_part(mmu, file, s, s->address + bias, err);
    }
    return status;
}

/* ------------------------------------------------------------------ places */

/* Biases are multiples of the image's alignment, so that its pages keep theirs. */
uint64_t loader_program_bias(const struct loader_elf *elf)
{
    return elf->relocatable ? MMU_PIE_BASE - c2_align_down(elf->low, elf->align) : 0;
}

/* Asks the mmu for room, then gives it back for the segments to take: nothing else maps meanwhile. */
static enum c2_status interpreter_bias(uint64_t *out, struct mmu *mmu, const struct loader_file *file,
                                       const struct loader_elf *elf, struct c2_error *err)
{
    uint64_t low = c2_align_down(elf->low, elf->align), slack = elf->align - C2_PAGE_BYTES;
    struct mmu_request request = {
        .bytes = elf->high - low + slack, .zone = MMU_ZONE_LOW, .kind = MMU_ANONYMOUS, .host_fd = -1};
    *out = 0;
    if (!elf->relocatable)
        return C2_OK;
    int64_t answer = mmu_map(mmu, &request);
    if (answer < 0)
        return c2_fail(err, C2_ERR_NO_MEMORY, "%s: there is no room for its %llu bytes", file->label,
                       (ull)(elf->high - low));
    int64_t released = mmu_unmap(mmu, (uint64_t)answer, request.bytes);
    if (released < 0)
        return loader_map_failed(err, file->label, (uint64_t)answer, request.bytes, released);
    *out = c2_align_up((uint64_t)answer, elf->align) - low;
    return C2_OK;
}

/* ------------------------------------------------------------------ the image */

static enum c2_status load_interpreter(struct loader_image *out, struct mmu *mmu, const struct loader_program *of,
                                       const struct loader_elf *program, struct c2_error *err)
{
    struct loader_file file;
    struct loader_elf elf = {0};
    uint64_t bias = 0;
    if (!program->interpreter)
        return C2_OK;
    enum c2_status status = loader_interpreter_open(&file, program->interpreter, of->directory, &of->file, err);
    if (status == C2_OK)
        status = loader_elf_read(&elf, &file, err);
    if (status == C2_OK)
        status = loader_elf_check_entry(&elf, &file, err);
    if (status == C2_OK)
        status = interpreter_bias(&bias, mmu, &file, &elf, err);
    if (status == C2_OK)
        status = map_segments(mmu, &file, &elf, bias, err);
    if (status == C2_OK) {
        out->interpreter_base = bias;
        out->entry = elf.entry + bias;
    }
    loader_elf_release(&elf);
    loader_file_close(&file);
    return status;
}

static enum c2_status load_program(struct loader_image *out, struct mmu *mmu, const struct loader_program *program,
                                   const struct loader_elf *elf, struct c2_error *err)
{
    const struct loader_file *file = &program->file;
    uint64_t bias = loader_program_bias(elf);
    enum c2_status status = loader_elf_check_entry(elf, file, err);
    if (status == C2_OK)
        status = map_segments(mmu, file, elf, bias, err);
    if (status != C2_OK)
        return status;
    out->program_base = bias;
    out->program_entry = out->entry = elf->entry + bias;
    out->phdr = elf->phdr_loaded ? elf->phdr + bias : 0;
    out->phnum = elf->phnum;
    return load_interpreter(out, mmu, program, elf, err);
}

static enum c2_status load_stack(struct loader_image *out, struct mmu *mmu, const struct loader_program *program,
                                 const struct loader_request *request, bool executable, struct c2_error *err)
{
    struct loader_stack stack;
    const struct loader_start start = {
        .name = program->name,
        .argv = (const char *const *)program->words.items,
        .envp = request->envp,
        .seed = request->seed,
        .phdr = out->phdr,
        .phnum = out->phnum,
        .base = out->interpreter_base,
        .entry = out->program_entry,
        .cpu = request->cpu ? request->cpu : cpu_of_level(CPU_V2),
        .moved = mmu_layout(mmu)->stack_top - MMU_STACK_TOP,
    };
    enum c2_status status = loader_stack_compose(&stack, &start, err);
    if (status == C2_OK)
        status = loader_stack_map(mmu, &stack, executable, err);
    loader_stack_release(&stack);
    out->stack = LOADER_STACK_RSP + start.moved;
    return status;
}

static void load_lay_out(struct mmu *mmu, const struct loader_file *file, const struct loader_elf *elf,
                         uint32_t personality)
{
    const bool behind = personality & ADDR_NO_RANDOMIZE, far = loader_file_names(file, "__tsan_init");
    mmu_lay_out(mmu, &(struct mmu_layout){.heap = behind ? elf->high + loader_program_bias(elf) : MMU_HEAP_BASE,
                                          .mmap_top = far ? MMU_FAR_MMAP_TOP : MMU_MMAP_TOP,
                                          .stack_top = far ? MMU_FAR_STACK_TOP : MMU_STACK_TOP});
}

enum c2_status loader_load(struct loader_image *out, struct mmu *mmu, const struct loader_request *request,
                           struct c2_error *err)
{
    struct loader_program program;
    struct loader_elf elf = {0};
    *out = (struct loader_image){0};
    enum c2_status status = loader_program_open(&program, request, err);
    if (status == C2_OK)
        status = loader_elf_read(&elf, &program.file, err);
    if (status == C2_OK)
        load_lay_out(mmu, &program.file, &elf, request->personality);
    if (status == C2_OK)
        status = load_program(out, mmu, &program, &elf, err);
    if (status == C2_OK)
        status = load_stack(out, mmu, &program, request, elf.exec_stack, err);
    if (status == C2_OK && !(out->path = c2_strdup(program.file.real)))
        status = c2_fail_memory(err, "a path");
    loader_elf_release(&elf);
    loader_program_close(&program);
    if (status != C2_OK)
        loader_image_release(out);
    return status;
}

/* ------------------------------------------------------------------ before anything is lost */

static int errno_of(enum c2_status status)
{
    switch (status) {
    case C2_OK:
        return 0;
    case C2_ERR_NOT_FOUND:
        return ENOENT;
    case C2_ERR_DENIED:
        return EACCES;
    case C2_ERR_NO_MEMORY:
        return ENOMEM;
    case C2_ERR_IO:
        return EIO;
    default:
        return ENOEXEC;
    }
}

/* Of the one that a program asks for: one that is there and no ELF file is ELIBBAD. */
static int interpreter_refusal(const char *path)
{
    struct loader_file file;
    struct loader_elf elf = {0};
    struct c2_error err;
    enum c2_status status = loader_file_open_inside(&file, path, path, &err);
    if (status != C2_OK)
        return errno_of(status);
    status = loader_elf_read(&elf, &file, &err);
    loader_elf_release(&elf);
    loader_file_close(&file);
    return status == C2_OK ? 0 : ELIBBAD;
}

static enum c2_status check_elf(struct loader_elf *elf, const struct loader_file *file, struct c2_error *err)
{
    enum c2_status status = loader_elf_read(elf, file, err);
    if (status == C2_OK)
        status = loader_elf_check_entry(elf, file, err);
    return status == C2_OK ? loader_elf_check_place(elf, file, loader_program_bias(elf), err) : status;
}

int loader_refusal(const struct loader_request *request)
{
    struct loader_program program;
    struct loader_elf elf = {0};
    struct c2_error err;
    enum c2_status status = loader_program_open(&program, request, &err);
    if (status != C2_OK)
        return program.reason != 0 ? program.reason : errno_of(status);
    status = check_elf(&elf, &program.file, &err);
    const int reason = status == C2_OK && elf.interpreter ? interpreter_refusal(elf.interpreter) : errno_of(status);
    loader_elf_release(&elf);
    loader_program_close(&program);
    return reason;
}

void loader_image_release(struct loader_image *image)
{
    c2_free(image->path);
    *image = (struct loader_image){0};
}

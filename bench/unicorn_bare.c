/* SPDX-License-Identifier: GPL-2.0-or-later
 *
 * What Unicorn costs by itself: runs a program without libc (one of tests/program/guests) on bare Unicorn, with empty
 * hooks at every block, load and store, or with none, and prints the seconds.
 * usage: unicorn_bare PROGRAM hooks|none
 */
#include <elf.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unicorn/unicorn.h>

enum { BASE = 0x400000, BYTES = 64 << 20 };

static unsigned long events;

static void die(const char *what)
{
    fprintf(stderr, "unicorn_bare: %s\n", what);
    exit(1);
}

static void on_block(uc_engine *uc, uint64_t pc, uint32_t size, void *self)
{
    (void)uc, (void)pc, (void)size, (void)self;
    events++;
}

static void on_access(uc_engine *uc, uc_mem_type type, uint64_t address, int size, int64_t value, void *self)
{
    (void)uc, (void)type, (void)address, (void)size, (void)value, (void)self;
    events++;
}

static void on_syscall(uc_engine *uc, void *self)
{
    (void)self;
    uc_emu_stop(uc);
}

static uint64_t load(uc_engine *uc, const char *path)
{
    static unsigned char file[1 << 20];
    FILE *stream = fopen(path, "rb");
    if (!stream || fread(file, 1, sizeof file, stream) < sizeof(Elf64_Ehdr))
        die("the program cannot be read");
    fclose(stream);
    const Elf64_Ehdr *header = (const Elf64_Ehdr *)(const void *)file;
    const Elf64_Phdr *segment = (const Elf64_Phdr *)(const void *)(file + header->e_phoff);
    for (int i = 0; i < header->e_phnum; i++)
        if (segment[i].p_type == PT_LOAD && segment[i].p_filesz > 0 &&
            uc_mem_write(uc, segment[i].p_vaddr, file + segment[i].p_offset, segment[i].p_filesz) != UC_ERR_OK)
            die("the program does not lie where such programs lie");
    return header->e_entry;
}

static double seconds(void)
{
    struct timespec now;
    clock_gettime(CLOCK_MONOTONIC, &now);
    return (double)now.tv_sec + (double)now.tv_nsec / 1e9;
}

int main(int argc, char **argv)
{
    uc_engine *uc;
    uc_hook hooks[3];
    uint64_t cr4 = 0x600, stack = BASE + BYTES - 4096; /* SSE on */
    uint32_t mxcsr = 0x1f80;
    if (argc != 3 || (strcmp(argv[2], "hooks") != 0 && strcmp(argv[2], "none") != 0))
        die("usage: unicorn_bare PROGRAM hooks|none");
    if (uc_open(UC_ARCH_X86, UC_MODE_64, &uc) != UC_ERR_OK || uc_mem_map(uc, BASE, BYTES, UC_PROT_ALL) != UC_ERR_OK)
        die("Unicorn cannot be opened");
    uc_reg_write(uc, UC_X86_REG_CR4, &cr4);
    uc_reg_write(uc, UC_X86_REG_MXCSR, &mxcsr);
    uc_reg_write(uc, UC_X86_REG_RSP, &stack);
    uint64_t entry = load(uc, argv[1]);
    uc_hook_add(uc, &hooks[0], UC_HOOK_INSN, (void *)on_syscall, NULL, 1, 0, UC_X86_INS_SYSCALL);
    if (strcmp(argv[2], "hooks") == 0) {
        uc_hook_add(uc, &hooks[1], UC_HOOK_BLOCK, (void *)on_block, NULL, 1, 0);
        uc_hook_add(uc, &hooks[2], UC_HOOK_MEM_READ | UC_HOOK_MEM_WRITE, (void *)on_access, NULL, 1, 0);
    }
    double start = seconds();
    if (uc_emu_start(uc, entry, 0, 0, 0) != UC_ERR_OK)
        die("the program failed");
    printf("%.3f s, %lu events\n", seconds() - start, events);
    uc_close(uc);
    return 0;
}

/* SPDX-License-Identifier: GPL-2.0-or-later
 *
 * What the files of loader/ share: opened files, the plain description of an ELF file that everything after the
 * parsing works on, words of a command line, the initial stack as bytes.
 */
#ifndef C2_LOADER_PRIV_H
#define C2_LOADER_PRIV_H

#include "loader/loader.h"

/* ------------------------------------------------------------------ opened files (find.c) */

struct loader_file {
    int fd;         /* -1: closed */
    uint64_t bytes; /* size when opened */
    char *label;    /* how messages call it: "./app", "/lib/ld.so (interpreter of ./app)" */
    char *real;     /* absolute, links resolved */
};

/* Opens a regular file that may be executed and read. */
enum c2_status loader_file_open(struct loader_file *out, const char *path, const char *label, struct c2_error *err);
/* The same of a path as the guest has it. */
enum c2_status loader_file_open_inside(struct loader_file *out, const char *path, const char *label,
                                       struct c2_error *err);
/* The same for the interpreter that a script or a program names: one that is missing is a fault of the file that
 * names it, not of the command line (C2_ERR_FORMAT). directory: loader_request.directory. */
enum c2_status loader_interpreter_open(struct loader_file *out, const char *path, const char *directory,
                                       const struct loader_file *of, struct c2_error *err);
/* Whether its dynamic symbols have this name, defined or wanted. */
bool loader_file_names(const struct loader_file *file, const char *symbol);
void loader_file_close(struct loader_file *file); /* a closed or zeroed one with fd -1 is fine */
/* Exactly these bytes or an error. */
enum c2_status loader_file_read(const struct loader_file *file, uint64_t offset, void *out, size_t bytes,
                                struct c2_error *err);

/* ------------------------------------------------------------------ ELF as plain data (elf.c) */

struct loader_segment {
    uint64_t address;    /* as linked: add the bias of the mapping */
    uint64_t bytes;      /* in memory, > 0 */
    uint64_t offset;     /* in the file; congruent to address modulo the page size when file_bytes > 0 */
    uint64_t file_bytes; /* <= bytes */
    unsigned prot;       /* enum mmu_prot */
};

struct loader_elf {
    bool relocatable;    /* ET_DYN: may be mapped anywhere */
    bool exec_stack;     /* PT_GNU_STACK asks for an executable stack */
    uint32_t isa_needed; /* bits of GNU_PROPERTY_X86_ISA_1_NEEDED; 0: it has no such note */
    uint64_t entry;      /* as linked */
    uint64_t phdr;       /* address of the program headers as linked; meaningful when phdr_loaded */
    bool phdr_loaded;
    uint16_t phnum;
    uint64_t low, high;              /* whole pages that the segments cover */
    uint64_t align;                  /* the largest p_align, at least a page */
    char *interpreter;               /* NULL: none asked for */
    size_t count;                    /* at least 1 */
    struct loader_segment *segments; /* ascending, no two overlap */
};

/* Of a note of properties, which lies there in the file (property.c). 0: it says nothing of the processor. */
uint32_t loader_isa_needed(const struct loader_file *file, uint64_t offset, uint64_t bytes);
/* Reads and checks the headers of an x86-64 ELF executable or shared object. On failure *out is empty. */
enum c2_status loader_elf_read(struct loader_elf *out, const struct loader_file *file, struct c2_error *err);
void loader_elf_release(struct loader_elf *elf);
/* Whether the entry point lies in an executable segment. */
enum c2_status loader_elf_check_entry(const struct loader_elf *elf, const struct loader_file *file,
                                      struct c2_error *err);
/* Whether every segment may lie at its address + bias in the guest's window. */
enum c2_status loader_elf_check_place(const struct loader_elf *elf, const struct loader_file *file, uint64_t bias,
                                      struct c2_error *err);
/* The linked address of the byte at this offset of the file; code: look in executable segments first. */
bool loader_elf_address(const struct loader_elf *elf, uint64_t offset, bool code, uint64_t *address);
/* Whether mapping the segment shows this offset of the file: whole pages, so the ends of its neighbours too. */
bool loader_segment_shows(const struct loader_segment *segment, uint64_t offset);
bool loader_elf_holds(const struct loader_elf *elf, uint64_t start, uint64_t end); /* all of it, within one segment */

/* ------------------------------------------------------------------ scripts and words (script.c) */

#define LOADER_SCRIPT_DEPTH 4
#define LOADER_SCRIPT_LINE 255 /* bytes of the first line, as the kernel reads them */

/* An owned, NULL-terminated list of words. */
struct loader_words {
    char **items;
    size_t count;
};
enum c2_status loader_words_copy(struct loader_words *out, const char *const *items, struct c2_error *err);
void loader_words_release(struct loader_words *words);

struct loader_script {
    char interpreter[LOADER_SCRIPT_LINE + 1]; /* "" : the file is no script */
    char argument[LOADER_SCRIPT_LINE + 1];    /* "" : none */
};
/* Reads the first line. A file that does not begin with #! gives an empty interpreter and C2_OK. */
enum c2_status loader_script_read(struct loader_script *out, const struct loader_file *file, struct c2_error *err);

struct loader_program {
    int reason;                /* of a failure: the errno that says more than the status; else 0 */
    const char *directory;     /* loader_request.directory, lent */
    struct loader_file file;   /* the ELF file to map */
    char *name;                /* AT_EXECFN: what execve was called with, the script if it is one */
    struct loader_words words; /* argv as the program sees it */
};
/* Finds the program and follows its #! lines. */
enum c2_status loader_program_open(struct loader_program *out, const struct loader_request *request,
                                   struct c2_error *err);
void loader_program_close(struct loader_program *program);

/* ------------------------------------------------------------------ the initial stack (stack.c) */

/* Where the parts lie; every number is the same in every run. */
#define LOADER_STACK_RSP MMU_STACK_BASE /* of the usual layout, which the others are moved against */
#define LOADER_STACK_STRINGS (LOADER_STACK_RSP + LOADER_ARGUMENTS_BYTES / 2)
#define LOADER_STACK_LOW (LOADER_STACK_RSP - MMU_STACK_BYTES)

struct loader_start {
    const char *name;        /* AT_EXECFN */
    const char *const *argv; /* NULL-terminated */
    const char *const *envp;
    uint64_t seed;
    uint64_t phdr, phnum, base, entry; /* AT_PHDR, AT_PHNUM, AT_BASE, AT_ENTRY */
    const struct cpu_model *cpu;       /* never NULL */
    uint64_t moved;                    /* how far above its usual place the stack is */
};
/* The two blocks of bytes to write at LOADER_STACK_RSP and LOADER_STACK_STRINGS, and so far above them. */
struct loader_stack {
    uint64_t moved;
    uint64_t *vectors; /* argc, argv, NULL, envp, NULL, auxv */
    size_t vector_count;
    char *strings;
    size_t string_bytes;
};
enum c2_status loader_stack_compose(struct loader_stack *out, const struct loader_start *start, struct c2_error *err);
void loader_stack_release(struct loader_stack *stack);
/* Maps the stack area and writes the blocks. */
enum c2_status loader_stack_map(struct mmu *mmu, const struct loader_stack *stack, bool executable,
                                struct c2_error *err);

/* ------------------------------------------------------------------ mapping (load.c) */

/* What is added to the linked addresses of a program (not of its interpreter). */
uint64_t loader_program_bias(const struct loader_elf *elf);
/* Writes into mapped guest memory as the kernel would: touches the pages in ascending order, then copies. from NULL:
 * zeroes. */
enum c2_status loader_poke(struct mmu *mmu, uint64_t to, const void *from, uint64_t bytes, const char *what,
                           struct c2_error *err);
/* The message of a failed mmu call. */
enum c2_status loader_map_failed(struct c2_error *err, const char *what, uint64_t address, uint64_t bytes,
                                 int64_t answer);

#endif

/* SPDX-License-Identifier: GPL-2.0-or-later
 *
 * loader: from a program's path to a memory image ready to run (libelf), and from a guest address to names and
 * source lines (libdw).
 */
#ifndef C2_LOADER_H
#define C2_LOADER_H

#include "base/base.h"
#include "cpu/cpu.h"
#include "mmu/mmu.h"

/* The strings and vectors of the initial stack have this much room above the guest's RSP: as much as Linux allows for
 * each. The stack area is MMU_STACK_BYTES below RSP and this above it. */
#define LOADER_ARGUMENTS_BYTES MMU_STACK_ROOM

struct loader_request {
    const char *program;     /* as given on the command line: found as execvp finds it (host PATH) */
    const char *file;        /* of execve, which looks for nothing: where the host has it; else NULL */
    const char *directory;   /* of execve: the guest's own, where interpreters with a relative name lie; else NULL */
    const char *const *argv; /* NULL-terminated, argv[0] included */
    const char *const *envp; /* NULL-terminated, the guest's whole environment */
    uint32_t personality;    /* of personality(2): ADDR_NO_RANDOMIZE acts */
    uint64_t seed;           /* for AT_RANDOM */
    const struct cpu_model *cpu; /* for AT_HWCAP, AT_MINSIGSTKSZ; NULL: x86-64-v2 */
};

/* What the run needs to know of the image. */
struct loader_image {
    char *path;            /* absolute, of the ELF program itself (for a script: its interpreter) */
    uint64_t entry;        /* first instruction: the interpreter's if there is one */
    uint64_t stack;        /* initial RSP: argc lies there */
    uint64_t program_base; /* what was added to the linked addresses; 0 unless position independent */
    uint64_t program_entry;
    uint64_t phdr; /* 0: the program headers are in no segment */
    uint16_t phnum;
    uint64_t interpreter_base; /* AT_BASE; 0: static */
};

/* Maps the program (static, static PIE or dynamic with its interpreter, `#!` scripts up to 4 deep) and lays out the
 * initial stack. The stack and everything on it is the same for the same program, arguments and environment:
 * strings and auxv lie in an area of fixed size, so that RSP does not move with the environment. Pages that the
 * kernel would write get their frames in this order: ends of segments before their bss (program, then interpreter),
 * strings, vectors. The heap is at its usual place, with ADDR_NO_RANDOMIZE behind the program's bss, as on Linux; a
 * program with a thread sanitizer, which wants low and high addresses alone, has stack and mappings in the far window.
 * On failure the mmu may hold a part of the image and is good only for mmu_destroy.
 * Status: C2_ERR_NOT_FOUND (exit 127), C2_ERR_DENIED / C2_ERR_FORMAT / C2_ERR_UNSUPPORTED (exit 126); the message says
 * what is wrong with the file: not ELF, 32-bit, other machine, truncated, segments outside the window ... */
enum c2_status loader_load(struct loader_image *out, struct mmu *mmu, const struct loader_request *request,
                           struct c2_error *err);
void loader_image_release(struct loader_image *image);
/* What execve(2) says of the request while nothing is lost yet: 0 or an errno. Maps nothing. */
int loader_refusal(const struct loader_request *request);
/* The level of processors that the program of the request needs, by its note of properties; CPU_V2 where it has none,
 * or needs less. Statuses as of loader_load. */
enum c2_status loader_needed_cpu(enum cpu_level *out, const struct loader_request *request, struct c2_error *err);
/* The path that execvp(3) would hand to execve(2) for this name; the caller frees it. */
enum c2_status loader_find(char **out, const char *program, struct c2_error *err);

/* ------------------------------------------------------ symbols of a program by name, before it is loaded */

/* Where the symbol will lie. Below file_end its pages are a mapping of the program's file, from there on anonymous. */
struct loader_static {
    uint64_t start, bytes, file_end;
};
struct loader_statics;
/* The program that loader_load would map for this request; statuses as there. */
enum c2_status loader_statics_open(struct loader_statics **out, const struct loader_request *request,
                                   struct c2_error *err);
void loader_statics_close(struct loader_statics *statics);
/* C2_ERR_NOT_FOUND, with *err untouched: there is no such symbol. C2_ERR_INVALID: it has no one extent; says why. */
enum c2_status loader_statics_find(struct loader_static *out, const struct loader_statics *statics, const char *name,
                                   struct c2_error *err);
/* The names that can be found, for suggestions; lent until close. */
enum c2_status loader_statics_names(struct loader_statics *statics, const char *const **out, size_t *count,
                                    struct c2_error *err);
const char *loader_statics_program(const struct loader_statics *statics); /* basename; lent until close */

/* ------------------------------------------------------------------ names of addresses
 * Everything that lies in a file mapping is found by the mapping's path and offset, so libraries loaded later need
 * no announcement. Separate debug files (build-id, .gnu_debuglink) are used where installed. */
struct loader_symbols;
/* areas: what is mapped, of the guest or of a replica; lent until destroy. */
enum c2_status loader_symbols_create(struct loader_symbols **out, const struct mmu_areas *areas, struct c2_error *err);
void loader_symbols_destroy(struct loader_symbols *symbols);
/* The program has ended, and another one may follow it: all that was lent is gone, and areas are not looked at any
 * more. Only loader_symbols_take and loader_symbols_destroy may follow. */
void loader_symbols_retire(struct loader_symbols *symbols);
/* As loader_symbols_create, and what files say need not be read again where the retired ones have read it, which are
 * taken from there (NULL: there are none). They answer as new ones do. */
enum c2_status loader_symbols_take(struct loader_symbols **out, struct loader_symbols **retired,
                                   const struct mmu_areas *areas, struct c2_error *err);
/* Lines and types of the files that have been asked about will be asked for: other threads begin to unpack debug files.
 * wait: they are ready for it when this returns. */
void loader_symbols_foresee(struct loader_symbols *symbols, bool wait);

/* Names of code that lies in no file: of a perf map (START SIZE NAME, a line each) or a jitdump, as compilers write
 * them that make code while the program runs. From here on, for what is asked then. C2_ERR_NOT_FOUND, C2_ERR_FORMAT:
 * the file cannot be read, or is neither, and there are none. */
enum c2_status loader_symbols_jit(struct loader_symbols *symbols, const char *path, struct c2_error *err);

struct loader_place {
    const char *object;   /* basename of the mapped file, or NULL */
    const char *function; /* demangled; NULL when unknown (stripped): then object and offset are all there is */
    uint64_t offset;      /* from the function's start; without function, the address in the object as linked (what
                             objdump shows); in a file that is no ELF its offset; without object the pc */
    const char *file;     /* source file, NULL without line table */
    int line;             /* 0 without line table */
};
/* Strings are lent until loader_symbols_destroy. Always fills *out; never a wrong name: what is not known is NULL. */
void loader_place_of(struct loader_symbols *symbols, struct guest_va pc, struct loader_place *out);
/* The same without file and line, so without a look at debug information. */
void loader_symbol_of(struct loader_symbols *symbols, struct guest_va pc, struct loader_place *out);

/* One of the functions that an instruction belongs to. */
struct loader_frame {
    const char *function; /* demangled; NULL: unknown */
    const char *file;     /* source file with its directory, as addr2line prints it; NULL: unknown, then no line */
    const char *base;     /* the file's basename, as reports print it; lies in file */
    int line, column;     /* column 0: unknown */
};
/* The chain of inlined calls at the pc: first the function whose line the instruction comes from, last the one that
 * holds the code. Of frames other than the first the line is that of the call. Returns how many there are, at least 1
 * (which may be all NULL); the first `room` are filled, and room is at least 1. Strings are lent until
 * loader_symbols_destroy. Names here are those of the source ("sum"); loader_place_of gives symbols ("sum.part.0"). */
size_t loader_frames_of(struct loader_symbols *symbols, struct guest_va pc, struct loader_frame *frames, size_t room);
/* loader_place_of the call that returns to `site`. Where the compiler has inlined functions, the line is that of the
 * one whose variable takes the result; unknown, of the one that holds the code. */
void loader_call_place_of(struct loader_symbols *symbols, struct guest_va site, struct loader_place *out);
/* Names that the function called may have in the source. None: it is not known to return what is asked for. */
#define LOADER_CALLEES 8u
struct loader_callees {
    const char *names[LOADER_CALLEES];
    size_t count;
};
/* The variable that takes the result of that call, or an expression of the source that does; without callees, the
 * object that the call makes. NULL: not known. *kept: it is no local variable. Lent until loader_symbols_destroy. */
const char *loader_receiver(struct loader_symbols *symbols, struct guest_va site, const struct loader_callees *callees,
                            bool *kept);
/* The names that the function around pc, and those inlined there, have in calls; after those in `out`. */
void loader_callees_add(struct loader_symbols *symbols, struct guest_va pc, struct loader_callees *out);
/* A function of the standard library of C++ (in the namespaces std and __gnu_cxx) or of Rust (its crates), by its
 * symbol. */
bool loader_is_library(const char *symbol);

/* The file that the pc is mapped from, by its whole path, and the address that it has there as linked (what objdump
 * shows); false: in no file, or in one that is no ELF. The path is lent until loader_symbols_destroy. */
bool loader_linked_of(struct loader_symbols *symbols, struct guest_va pc, const char **path, uint64_t *address);

/* The name of the function at pc as the symbol table has it (C++: mangled; a version may follow); NULL: unknown. Lent
 * until loader_symbols_destroy. */
const char *loader_symbol_name_of(struct loader_symbols *symbols, struct guest_va pc);

/* Run-time entry of the function that the pc lies in, for grouping; false if it is unknown. */
bool loader_function_entry(struct loader_symbols *symbols, struct guest_va pc, struct guest_va *out);
/* Tells every name of every function in the code of the file that is mapped at `at`: aliases one by one, a version
 * (@...) at their end. resolver: the entry is that of an IFUNC's resolver, which returns the function's own. The name
 * is lent for the call. Fails as the listener does, or without memory. */
struct loader_entry_listener {
    void *self;
    enum c2_status (*entry)(void *self, const char *name, struct guest_va entry, bool resolver, struct c2_error *err);
};
enum c2_status loader_function_entries(struct loader_symbols *symbols, struct guest_va at,
                                       const struct loader_entry_listener *listener, struct c2_error *err);

/* The name that reports show for a symbol: without a version, demangled. NULL without memory. Lent until
 * loader_symbols_destroy. */
const char *loader_shown_name(struct loader_symbols *symbols, const char *symbol);

/* Tells where in the code of the file that is mapped at `at` a line of the source begins: once in each function, and in
 * each inlined copy of one, that has code of it. file: a path, or its last parts. The answer is added to: known is set
 * where the file is one of the sources, and nearest is the line with code that is nearest to `line` (0: none). */
struct loader_line_answer {
    bool known;
    int nearest;
};
struct loader_line_listener {
    void *self;
    enum c2_status (*entry)(void *self, struct guest_va entry, struct c2_error *err);
};
enum c2_status loader_line_entries(struct loader_symbols *symbols, struct guest_va at, const char *file, int line,
                                   struct loader_line_answer *answer, const struct loader_line_listener *listener,
                                   struct c2_error *err);

/* ------------------------------------------------------------------ the files that a program is linked with
 * Looked for before it runs, as its dynamic linker will (libraries.c). */
struct loader_libraries;
/* What is to be known of the files, beside their names: symbol tables have megabytes. */
enum { LOADER_CALLS = 1, LOADER_LEAKS = 2 };
/* program: the ELF file, a path of the host's; envp: the guest's. Fails only without memory. */
enum c2_status loader_libraries_find(struct loader_libraries **out, const char *program, const char *const *envp,
                                     unsigned about, struct c2_error *err);
void loader_libraries_release(struct loader_libraries *libraries); /* takes NULL */
/* LOADER_CALLS: whether all that is executed, but for what the program makes itself, lies in these files: each was
 * found, and none calls for libraries by name or for other programs. */
bool loader_libraries_closed(const struct loader_libraries *libraries);
/* Whether the program's dynamic linker, glibc's, finds the same files without /etc/ld.so.cache: what it looks for there
 * lies beside the C library, where it looks next. */
bool loader_libraries_need_no_cache(const struct loader_libraries *libraries);
size_t loader_libraries_count(const struct loader_libraries *libraries); /* at least 1, the program */
const char *loader_libraries_name(const struct loader_libraries *libraries, size_t number); /* basename */
/* LOADER_CALLS: whether the program starts threads by how many processors there are: by OpenMP, or as it asks for them
 * itself. */
enum loader_threading { LOADER_PLAIN, LOADER_ASKS_PROCESSORS, LOADER_OPENMP };
/* LOADER_LEAKS: whether a leak sanitizer is linked, as a library or into the program. */
bool loader_libraries_look_for_leaks(const struct loader_libraries *libraries);
enum loader_threading loader_libraries_threading(const struct loader_libraries *libraries);
/* Tells every name of every function in the files, and in those that the C library may load by itself; some twice.
 * shown: as loader_shown_name. Both are lent for the call. */
struct loader_name_listener {
    void *self;
    enum c2_status (*name)(void *self, const char *symbol, const char *shown, struct c2_error *err);
};
enum c2_status loader_libraries_functions(const struct loader_libraries *libraries,
                                          const struct loader_name_listener *listener, struct c2_error *err);
/* The same with variables: static and local ones, parameters, members of structures. */
enum c2_status loader_libraries_variables(const struct loader_libraries *libraries,
                                          const struct loader_name_listener *listener, struct c2_error *err);
/* Whether code begins on this line of the source; *answer as loader_line_entries. */
enum c2_status loader_libraries_line(bool *found, const struct loader_libraries *libraries, const char *file, int line,
                                     struct loader_line_answer *answer, struct c2_error *err);
/* Whether there is debug information of the ELF file, in it or beside it; of another file there is none to miss. */
enum c2_status loader_has_debug(bool *out, const char *path, struct c2_error *err);

/* ------------------------------------------------------------------ modules and their variables
 * A module is an ELF file that is mapped as its program headers say: every segment with bytes of the file is there. */

/* Run-time extent of the module that the address lies in: whole pages, from the first segment's to the last one's, bss
 * included. name: its basename, lent until loader_symbols_destroy. False: in no module. */
bool loader_module_extent(struct loader_symbols *symbols, struct guest_va at, uint64_t *start, uint64_t *bytes,
                          const char **name);

/* One static variable. A `static` within a function has the compiler's name ("count.0"); names of C++ are demangled.
 * Texts are lent until loader_symbols_destroy; so long, too, the id is good, whatever is unmapped. */
struct loader_variable_id {
    struct loader_module *module; /* NULL: of no variable */
    size_t number;
};
struct loader_variable {
    const char *name, *module; /* module: basename */
    uint64_t start, bytes;     /* run-time address */
    struct loader_variable_id id;
};
/* Calls `each` for every static variable of the module at `at`, ascending by start, none overlapping: of symbols with
 * one start the longest counts, and of equal ones the name that symtab.c chooses (global, fewest underscores, shortest,
 * first in the alphabet); one that starts within another is left out. Thread-local variables and symbols without a
 * size have no extent. An address in no module: no calls and C2_OK. */
enum c2_status loader_variables(struct loader_symbols *symbols, struct guest_va at,
                                void (*each)(void *self, const struct loader_variable *variable), void *self,
                                struct c2_error *err);
/* The type of a variable. */
struct loader_type_id {
    struct loader_module *module; /* NULL: unknown */
    uint64_t die;
};
/* Costs as the declaration does. */
struct loader_type_id loader_variable_type(struct loader_symbols *symbols, struct loader_variable_id id);
/* Of the variable that takes the result of the call that returns to `site`; unknown, if no debug information says which
 * that is. */
struct loader_type_id loader_receiver_type(struct loader_symbols *symbols, struct guest_va site);
/* The array that something of this type is; pointed: that it points to, or holds (arrays.c). */
#define LOADER_DIMENSIONS 8u
enum loader_notation { LOADER_C, LOADER_FORTRAN, LOADER_RUST };
struct loader_dimension {
    int64_t first; /* index */
    uint64_t length;
};
struct loader_array {
    enum loader_notation notation;
    bool pointed;
    const char *element; /* "double", "struct body"; NULL: it has no name */
    uint64_t element_bytes;
    uint32_t count;                                        /* 0: a pointer to elements, or what holds them */
    struct loader_dimension dimensions[LOADER_DIMENSIONS]; /* the one whose step through memory is the longest first */
};
/* NULL: it is none, or not known. Lent until loader_symbols_destroy; the same for the same type. */
const struct loader_array *loader_array_of(struct loader_symbols *symbols, struct loader_type_id type, bool pointed);
/* Bytes from one element of a dimension to the next. */
uint64_t loader_array_step(const struct loader_array *array, uint32_t dimension);
/* "a[512][520]", "a(520, 512)", "A: [[f64; 520]; 512]": as its source writes it, with so many more elements in one of
 * its dimensions. Returns buffer. */
char *loader_array_text(char *buffer, size_t bytes, const char *name, const struct loader_array *array,
                        uint32_t dimension, uint64_t more);
/* The structure (or class) that something of this type is, or is an array of; pointed: that it points to, or holds. A
 * common block of Fortran is one as well, and may be larger than others. */
#define LOADER_STRUCT_BYTES 65536u
struct loader_field {
    const char *name; /* "pos"; "a, b" where members share bytes */
    uint32_t start, bytes;
    struct loader_type_id type; /* unknown where members share bytes */
};
struct loader_struct {
    const char *name; /* "struct body", of C++ "body", a common block "/fields/" */
    uint32_t bytes;
    const struct loader_field *fields; /* ascending, none overlapping */
    uint32_t field_count;              /* at least one */
};
/* NULL: it is none, or not known. Lent until loader_symbols_destroy; the same for the same type. */
const struct loader_struct *loader_struct_of(struct loader_symbols *symbols, struct loader_type_id type, bool pointed);
/* "double A[400][400]"; NULL when no DWARF tells the type, for the id of no variable, and without memory. The first
 * question about a module reads the types of all its variables: for reports, not for a running program. */
const char *loader_variable_declaration(struct loader_symbols *symbols, struct loader_variable_id id);

void loader_symbols_check(const struct loader_symbols *symbols);
void loader_symbols_dump(const struct loader_symbols *symbols, FILE *to); /* objects seen so far and what they offer */

/* "main (matmul.c:41)", "memcpy+0x1c in libc.so.6", "0x401234 in app", "0x1234"; returns buffer. */
char *loader_place_text(char *buffer, size_t bytes, struct guest_va pc, const struct loader_place *place);
/* Whether a file is called by its whole path, or by the end of it from a slash on. */
bool loader_names_file(const char *path, const char *file);
/* A source file that is not the user's: headers of the system and of compilers, and Rust's library, whose files have
 * the names that its makers, or those of a distribution, gave them. */
bool loader_is_system_file(const char *file);
/* Code of a file below /usr/lib or /lib, which the user does not change. */
bool loader_is_system_code(struct loader_symbols *symbols, struct guest_va pc);

/* ------------------------------------------------------------------ callers (unwind.c) */
struct loader_registers {
    uint64_t pc;
    uint64_t gpr[16]; /* by their numbers in instructions; RBX, RSP, RBP and R12 to R15 count */
};
struct loader_memory {
    void *self;
    bool (*read)(void *self, uint64_t address, uint64_t *out); /* false: it cannot be read */
};
/* From where a call returns to (pc) within a function to where that function returns to, with the registers there.
 * False: the file does not say how; *registers is as it was. */
bool loader_unwind(struct loader_symbols *symbols, struct loader_registers *registers,
                   const struct loader_memory *memory);
void loader_unwind_forget(struct loader_symbols *symbols); /* other code may lie at the addresses asked about */

/* ------------------------------------------------------------------ what lies in frames (locals.c)
 * The layout of a function's frame, by a number that stays good whatever is unmapped. */
#define LOADER_NO_LAYOUT UINT64_MAX
struct loader_local {
    const char *name;        /* "W"; of variables that share a place "T, U"; NULL: the frame as a whole */
    const char *declaration; /* "double W[1024][64]"; NULL: unknown */
    struct loader_type_id type;
    const char *function; /* demangled; NULL: of a thread-local variable */
    const char *file;     /* NULL: unknown */
    int line;             /* of the declaration; 0: unknown */
    uint64_t bytes;       /* 0: the program decides */
};
/* Of the function that begins at `entry`; LOADER_NO_LAYOUT: none does, or nothing large lies in its frame. Strings are
 * lent until loader_symbols_destroy. */
enum c2_status loader_layout_at(struct loader_symbols *symbols, struct guest_va entry, uint64_t *number,
                                struct c2_error *err);
/* A number that is no function's any more: of code that has been unmapped. Nothing lies there. */
enum c2_status loader_layout_gone(struct loader_symbols *symbols, uint64_t *number, struct c2_error *err);
/* Of the thread-local variables of the program whose code is at `at`; "rsp" is then the thread pointer. */
enum c2_status loader_layout_threads(struct loader_symbols *symbols, struct guest_va at, uint64_t *number,
                                     struct c2_error *err);
/* An instruction of the function that moves RSP by what it has computed: alloca, variable-length arrays. */
struct loader_change {
    uint64_t offset; /* of the place, from the entry */
    bool before;     /* RSP is about to move there (it may move in steps, one before each) */
    bool behind;     /* it has moved */
    uint32_t local;  /* what it makes */
};
uint32_t loader_layout_changes(const struct loader_symbols *symbols, uint64_t layout); /* how many places */
const struct loader_change *loader_layout_change(const struct loader_symbols *symbols, uint64_t layout,
                                                 uint32_t number);
uint32_t loader_layout_count(const struct loader_symbols *symbols, uint64_t layout); /* of its locals */
const struct loader_local *loader_layout_local(const struct loader_symbols *symbols, uint64_t layout, uint32_t number);
/* Where a local begins when the function is entered with this RSP; false: it cannot be said. */
bool loader_layout_extent(const struct loader_symbols *symbols, uint64_t number, uint32_t local, uint64_t rsp,
                          uint64_t *start);

/* ------------------------------------------------------------------ what functions are called with (parameters.c) */
enum loader_passed { LOADER_SIGNED, LOADER_UNSIGNED, LOADER_BOOLEAN, LOADER_POINTER };
struct loader_parameter {
    const char *name; /* NULL: it has none. Lent until loader_symbols_destroy */
    enum loader_passed kind;
    uint8_t bytes; /* of the register that are its value: the lowest 1, 2, 4 or 8 */
};
/* The parameter that lies in an integer register (1 is RDI, then RSI, RDX, RCX, R8, R9) where the function at `entry`
 * is entered; false: no debug information says so. */
bool loader_parameter_in(struct loader_symbols *symbols, struct guest_va entry, unsigned number,
                         struct loader_parameter *out);
/* The register of the parameter of this name; 0: none is known to be in one. */
unsigned loader_parameter_named(struct loader_symbols *symbols, struct guest_va entry, const char *name);

/* ------------------------------------------------------------------ instructions as text */
#define LOADER_LONGEST_INSN 15
/* AT&T syntax into buffer; returns the instruction's length. 0: the bytes are none, or Capstone cannot be loaded, then
 * "(bytes 0f ff ...)", or there are none, then "". */
size_t loader_disassemble(char *buffer, size_t size, const uint8_t *bytes, size_t count, uint64_t address);

/* A handle of Capstone's (csh, loader/capstone.h) that shows operands, lent for the life of the symbols; 0 where it
 * fails. Its tables, which it makes at the first instruction, take longer than most functions. */
enum c2_status loader_capstone(size_t *out, struct loader_symbols *symbols, struct c2_error *err);
/* The number that instructions have for capstone's general register; with `parts`, for one that it is a part of. 16:
 * another one. */
unsigned loader_capstone_register(unsigned id, bool parts);
unsigned loader_zydis_register(int reg, bool parts); /* the same of a ZydisRegister */

/* The code in an ELF file on disk, by addresses as linked. */
struct loader_code;
enum c2_status loader_code_open(struct loader_code **out, const char *path, struct c2_error *err);
/* Returns how many of the bytes at address lie in an executable segment. */
size_t loader_code_read(const struct loader_code *code, uint64_t address, uint8_t *out, size_t bytes);
void loader_code_close(struct loader_code *code); /* takes NULL */

#endif

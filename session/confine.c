/* SPDX-License-Identifier: GPL-2.0-or-later
 *
 * confine: --sandbox once more, by the host's kernel, for the case that the guest's (syscalls/sandbox.c) or the engine
 * has a hole.
 *
 * Model
 *   Files   Landlock: from here on this thread, on which the guest runs, changes files below the writable directories
 *           and in the folders of the files that are to be written, and no others; of devices it writes to those that
 *           the guest may use. What is open stays open.
 *   Calls   A seccomp filter for all threads: no sockets, no other programs, no mounts, no clocks set, nothing that
 *           reaches into other processes or the kernel. They fail with EPERM. A process of the guest is one of the
 *           host's, made by fork, which has the same filter.
 *   A kernel without the one or the other leaves it out: the guest's own rules hold in any case.
 *
 * Not modelled
 *   What Landlock of this kernel does not know: before its version 2 files move and get names within a directory only,
 *   before version 3 a file can be cut by its path.
 */
#include <errno.h>
#include <fcntl.h>
#include <linux/landlock.h>
#include <sched.h>
#include <seccomp.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "base/root.h"
#include "session/session_priv.h"

/* ------------------------------------------------------------------ files */

#ifndef LANDLOCK_ACCESS_FS_TRUNCATE
#define LANDLOCK_ACCESS_FS_TRUNCATE (1ull << 14) /* Linux 6.2, uapi/linux/landlock.h */
#endif

/* All that changes something, as far as this version of Landlock knows it. */
static uint64_t changes_of(long version)
{
    uint64_t changes = LANDLOCK_ACCESS_FS_WRITE_FILE | LANDLOCK_ACCESS_FS_REMOVE_DIR | LANDLOCK_ACCESS_FS_REMOVE_FILE |
                       LANDLOCK_ACCESS_FS_MAKE_CHAR | LANDLOCK_ACCESS_FS_MAKE_DIR | LANDLOCK_ACCESS_FS_MAKE_REG |
                       LANDLOCK_ACCESS_FS_MAKE_SOCK | LANDLOCK_ACCESS_FS_MAKE_FIFO | LANDLOCK_ACCESS_FS_MAKE_BLOCK |
                       LANDLOCK_ACCESS_FS_MAKE_SYM;
    if (version >= 2)
        changes |= LANDLOCK_ACCESS_FS_REFER;
    if (version >= 3)
        changes |= LANDLOCK_ACCESS_FS_TRUNCATE;
    return changes;
}

struct ruleset {
    int descriptor;
    uint64_t changes;
    bool failed;
};

/* What lies below the path may change; a path that is not there needs no rule. */
static void allow(void *self, const char *path)
{
    struct ruleset *rules = self;
    struct stat st;
    struct landlock_path_beneath_attr rule = {.parent_fd = open(path, O_PATH | O_CLOEXEC)};
    const uint64_t of_files = LANDLOCK_ACCESS_FS_WRITE_FILE | LANDLOCK_ACCESS_FS_TRUNCATE;
    if (rule.parent_fd < 0 || fstat(rule.parent_fd, &st) < 0)
        return;
    rule.allowed_access = rules->changes & (S_ISDIR(st.st_mode) ? rules->changes : of_files);
    rules->failed |= syscall(SYS_landlock_add_rule, rules->descriptor, LANDLOCK_RULE_PATH_BENEATH, &rule, 0) < 0;
    close(rule.parent_fd);
}

static enum c2_status confine_files(const char *const *writable, struct c2_error *err)
{
    static const char *const devices[] = {"/dev/null", "/dev/zero", "/dev/full", "/dev/random", "/dev/urandom"};
    const long version = syscall(SYS_landlock_create_ruleset, NULL, 0, LANDLOCK_CREATE_RULESET_VERSION);
    if (version < 1)
        return C2_OK;
    const struct landlock_ruleset_attr handled = {.handled_access_fs = changes_of(version)};
    struct ruleset rules = {.changes = handled.handled_access_fs};
    rules.descriptor = (int)syscall(SYS_landlock_create_ruleset, &handled, sizeof handled.handled_access_fs, 0);
    if (rules.descriptor < 0)
        return c2_fail(err, C2_ERR_IO, "--sandbox: Landlock: %s", strerror(errno));
    allow(&rules, c2_root_start());
    for (size_t i = 0; writable && writable[i]; i++)
        allow(&rules, writable[i]);
    for (size_t i = 0; i < sizeof devices / sizeof devices[0]; i++)
        allow(&rules, devices[i]);
    c2_outfile_folders(allow, &rules);
    rules.failed |= syscall(SYS_landlock_restrict_self, rules.descriptor, 0) < 0;
    const int reason = errno;
    close(rules.descriptor);
    return rules.failed ? c2_fail(err, C2_ERR_IO, "--sandbox: Landlock: %s", strerror(reason)) : C2_OK;
}

/* ------------------------------------------------------------------ calls */

/* clang-format off */
static const int refused[] = {
    SCMP_SYS(socket), SCMP_SYS(socketpair), SCMP_SYS(connect), SCMP_SYS(bind), SCMP_SYS(listen), SCMP_SYS(accept),
    SCMP_SYS(accept4), SCMP_SYS(vfork), SCMP_SYS(execve), SCMP_SYS(execveat), SCMP_SYS(ptrace),
    SCMP_SYS(process_vm_readv), SCMP_SYS(process_vm_writev), SCMP_SYS(process_madvise), SCMP_SYS(kcmp),
    SCMP_SYS(pidfd_open), SCMP_SYS(pidfd_getfd), SCMP_SYS(pidfd_send_signal), SCMP_SYS(mount), SCMP_SYS(umount2),
    SCMP_SYS(move_mount), SCMP_SYS(open_tree), SCMP_SYS(fsopen), SCMP_SYS(fsmount), SCMP_SYS(mount_setattr),
    SCMP_SYS(pivot_root), SCMP_SYS(chroot), SCMP_SYS(setns), SCMP_SYS(unshare), SCMP_SYS(swapon), SCMP_SYS(swapoff),
    SCMP_SYS(reboot), SCMP_SYS(kexec_load), SCMP_SYS(kexec_file_load), SCMP_SYS(init_module), SCMP_SYS(finit_module),
    SCMP_SYS(delete_module), SCMP_SYS(bpf), SCMP_SYS(perf_event_open), SCMP_SYS(userfaultfd), SCMP_SYS(io_uring_setup),
    SCMP_SYS(open_by_handle_at), SCMP_SYS(fanotify_init), SCMP_SYS(quotactl), SCMP_SYS(acct), SCMP_SYS(syslog),
    SCMP_SYS(keyctl), SCMP_SYS(add_key), SCMP_SYS(request_key), SCMP_SYS(settimeofday), SCMP_SYS(clock_settime),
    SCMP_SYS(clock_adjtime), SCMP_SYS(adjtimex), SCMP_SYS(sethostname), SCMP_SYS(setdomainname), SCMP_SYS(iopl),
    SCMP_SYS(ioperm), SCMP_SYS(vhangup), SCMP_SYS(migrate_pages), SCMP_SYS(move_pages)};
/* clang-format on */

static int confine_refuse(scmp_filter_ctx filter, int call)
{
    return seccomp_rule_add(filter, SCMP_ACT_ERRNO(EPERM), call, 0);
}

/* Where argument `number`, masked, has (or has not) this value. */
static int refuse_if(scmp_filter_ctx filter, int call, unsigned number, enum scmp_compare how, uint64_t a, uint64_t b)
{
    const struct scmp_arg_cmp condition = {.arg = number, .op = how, .datum_a = a, .datum_b = b};
    return seccomp_rule_add_array(filter, SCMP_ACT_ERRNO(EPERM), call, 1, &condition);
}

static int confine_add_rules(scmp_filter_ctx filter)
{
    enum { STI = 0x5412 /* TIOCSTI, asm-generic/ioctls.h */, LINUX = 0x541c /* TIOCLINUX */ };
    const uint64_t own = (uint64_t)getpid();
    static const uint64_t namespaces[] = {CLONE_NEWNS,   CLONE_NEWCGROUP, CLONE_NEWUTS, CLONE_NEWIPC,
                                          CLONE_NEWUSER, CLONE_NEWPID,    CLONE_NEWNET};
    int failed = 0;
    for (size_t i = 0; i < sizeof refused / sizeof refused[0]; i++)
        failed |= confine_refuse(filter, refused[i]);
    for (size_t i = 0; i < sizeof namespaces / sizeof namespaces[0]; i++)
        failed |= refuse_if(filter, SCMP_SYS(clone), 0, SCMP_CMP_MASKED_EQ, namespaces[i], namespaces[i]);
    /* Its flags are in memory, where no filter sees them; the C library then makes threads by clone. */
    failed |= seccomp_rule_add(filter, SCMP_ACT_ERRNO(ENOSYS), SCMP_SYS(clone3), 0);
    failed |= refuse_if(filter, SCMP_SYS(kill), 0, SCMP_CMP_NE, own, 0);
    failed |= refuse_if(filter, SCMP_SYS(tgkill), 0, SCMP_CMP_NE, own, 0);
    failed |= refuse_if(filter, SCMP_SYS(rt_sigqueueinfo), 0, SCMP_CMP_NE, own, 0);
    failed |= refuse_if(filter, SCMP_SYS(ioctl), 1, SCMP_CMP_MASKED_EQ, UINT32_MAX, STI);
    failed |= refuse_if(filter, SCMP_SYS(ioctl), 1, SCMP_CMP_MASKED_EQ, UINT32_MAX, LINUX);
    failed |= refuse_if(filter, SCMP_SYS(mknod), 1, SCMP_CMP_MASKED_EQ, S_IFMT, S_IFCHR);
    failed |= refuse_if(filter, SCMP_SYS(mknod), 1, SCMP_CMP_MASKED_EQ, S_IFMT, S_IFBLK);
    failed |= refuse_if(filter, SCMP_SYS(mknodat), 2, SCMP_CMP_MASKED_EQ, S_IFMT, S_IFCHR);
    failed |= refuse_if(filter, SCMP_SYS(mknodat), 2, SCMP_CMP_MASKED_EQ, S_IFMT, S_IFBLK);
    return failed;
}

static enum c2_status confine_calls(struct c2_error *err)
{
    if (prctl(PR_GET_SECCOMP, 0, 0, 0, 0) < 0 && errno == EINVAL)
        return C2_OK;
    scmp_filter_ctx filter = seccomp_init(SCMP_ACT_ALLOW);
    if (!filter)
        return c2_fail_memory(err, "the sandbox");
    int failed = seccomp_attr_set(filter, SCMP_FLTATR_CTL_TSYNC, 1);
    failed |= confine_add_rules(filter);
    const int status = failed == 0 ? seccomp_load(filter) : failed;
    seccomp_release(filter);
    return status == 0 ? C2_OK : c2_fail(err, C2_ERR_IO, "--sandbox: the seccomp filter: %s", strerror(-status));
}

enum c2_status session_confine(const char *const *writable, struct c2_error *err)
{
    if (prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0) < 0)
        return c2_fail(err, C2_ERR_IO, "--sandbox: %s", strerror(errno));
    const enum c2_status status = confine_files(writable, err);
    return status == C2_OK ? confine_calls(err) : status;
}

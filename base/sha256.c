/* SPDX-License-Identifier: GPL-2.0-or-later
 *
 * SHA-256 (FIPS 180-4) by libgcrypt, in hexadecimal as sha256sum prints it. The library is loaded at the first hash:
 * most runs have none.
 */
#include "base/base.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <gcrypt.h>
#include <string.h>
#include <unistd.h>

#define DIGEST_BYTES ((C2_SHA256_TEXT - 1) / 2)
#define PART_BYTES ((size_t)1 << 18) /* read at once from a file */

/* clang-format off */
#define GCRYPT_FUNCTIONS(X) \
    X(check_version) X(control) X(md_close) X(md_copy) X(md_hash_buffer) X(md_open) X(md_read) X(md_write)
/* clang-format on */

static struct {
    void *handle; /* NULL: not loaded yet, and so is all that follows */
#define FUNCTION(name) __typeof__(gcry_##name) *name;
    GCRYPT_FUNCTIONS(FUNCTION)
#undef FUNCTION
} gcrypt;

struct c2_sha256 {
    gcry_md_hd_t handle;
};

static enum c2_status load_gcrypt(struct c2_error *err)
{
#define FUNCTION(name) {"gcry_" #name, (void **)&gcrypt.name},
    static const struct c2_library_function functions[] = {GCRYPT_FUNCTIONS(FUNCTION)};
#undef FUNCTION
    static const struct c2_library library = {"the library of hashes", C2_GCRYPT_SONAME, &gcrypt.handle, functions,
                                              sizeof functions / sizeof *functions};
    return c2_library_load(&library, err);
}

/* No secrets are kept, so none of the memory that the library would lock. */
static enum c2_status make_ready(struct c2_error *err)
{
    enum c2_status status = load_gcrypt(err);
    if (status != C2_OK || gcrypt.control(GCRYCTL_INITIALIZATION_FINISHED_P))
        return status;
    if (!gcrypt.check_version(NULL))
        return c2_fail(err, C2_ERR_INTERNAL, "libgcrypt cannot compute SHA-256");
    gcrypt.control(GCRYCTL_DISABLE_SECMEM, 0);
    gcrypt.control(GCRYCTL_INITIALIZATION_FINISHED, 0);
    return C2_OK;
}

enum c2_status c2_sha256_create(struct c2_sha256 **out, struct c2_error *err)
{
    *out = c2_calloc(1, sizeof **out);
    if (!*out)
        return c2_fail_memory(err, "a hash");
    enum c2_status status = make_ready(err);
    if (status == C2_OK && gcrypt.md_open(&(*out)->handle, GCRY_MD_SHA256, 0) != 0)
        status = c2_fail(err, C2_ERR_INTERNAL, "libgcrypt cannot compute SHA-256");
    if (status == C2_OK)
        return C2_OK;
    c2_free(*out);
    *out = NULL;
    return status;
}

void c2_sha256_destroy(struct c2_sha256 *sum)
{
    if (sum)
        gcrypt.md_close(sum->handle);
    c2_free(sum);
}

void c2_sha256_add(struct c2_sha256 *sum, const void *bytes, size_t count)
{
    gcrypt.md_write(sum->handle, bytes, count);
}

static void sha256_put_text(char out[C2_SHA256_TEXT], const unsigned char *digest)
{
    for (size_t i = 0; i < DIGEST_BYTES; i++)
        snprintf(out + 2 * i, 3, "%02x", digest[i]);
}

/* Of a copy, for the library's own ends when it is asked. */
enum c2_status c2_sha256_text(char out[C2_SHA256_TEXT], const struct c2_sha256 *sum, struct c2_error *err)
{
    gcry_md_hd_t copy;
    if (gcrypt.md_copy(&copy, sum->handle) != 0)
        return c2_fail_memory(err, "a hash");
    sha256_put_text(out, gcrypt.md_read(copy, GCRY_MD_SHA256));
    gcrypt.md_close(copy);
    return C2_OK;
}

enum c2_status c2_sha256_bytes(char out[C2_SHA256_TEXT], const void *bytes, size_t count, struct c2_error *err)
{
    unsigned char digest[DIGEST_BYTES];
    enum c2_status status = make_ready(err);
    if (status != C2_OK)
        return status;
    gcrypt.md_hash_buffer(GCRY_MD_SHA256, digest, bytes, count);
    sha256_put_text(out, digest);
    return C2_OK;
}

/* 0, or why the file cannot be read. */
static int sha256_add_file(struct c2_sha256 *sum, uint64_t *bytes, int fd, unsigned char *part)
{
    for (*bytes = 0;;) {
        const ssize_t got = pread(fd, part, PART_BYTES, (off_t)*bytes);
        if (got < 0 && errno == EINTR)
            continue;
        if (got <= 0)
            return got < 0 ? errno : 0;
        c2_sha256_add(sum, part, (size_t)got);
        *bytes += (uint64_t)got;
    }
}

enum c2_status c2_sha256_file(char out[C2_SHA256_TEXT], uint64_t *bytes, int fd, struct c2_error *err)
{
    struct c2_sha256 *sum = NULL;
    unsigned char *part = c2_alloc(PART_BYTES);
    enum c2_status status = part ? c2_sha256_create(&sum, err) : c2_fail_memory(err, "the content of a file");
    if (status == C2_OK) {
        const int reason = sha256_add_file(sum, bytes, fd, part);
        status = reason == 0 ? c2_sha256_text(out, sum, err) : c2_fail(err, C2_ERR_IO, "%s", strerror(reason));
    }
    c2_sha256_destroy(sum);
    c2_free(part);
    return status;
}

static void add_names(struct c2_sha256 *sum, uint64_t *bytes, DIR *entries)
{
    const struct dirent *entry;
    for (*bytes = 0; (entry = readdir(entries)); *bytes += strlen(entry->d_name) + 1) {
        c2_sha256_add(sum, entry->d_name, strlen(entry->d_name));
        c2_sha256_add(sum, "\n", 1);
    }
}

enum c2_status c2_sha256_names(char out[C2_SHA256_TEXT], uint64_t *bytes, int directory, struct c2_error *err)
{
    struct c2_sha256 *sum;
    const int again = openat(directory, ".", O_RDONLY | O_DIRECTORY | O_CLOEXEC); /* with a position of its own */
    DIR *entries = again >= 0 ? fdopendir(again) : NULL;
    if (!entries) {
        const int reason = errno;
        if (again >= 0)
            close(again);
        return c2_fail(err, C2_ERR_IO, "%s", strerror(reason));
    }
    enum c2_status status = c2_sha256_create(&sum, err);
    if (status == C2_OK) {
        add_names(sum, bytes, entries);
        status = c2_sha256_text(out, sum, err);
    }
    c2_sha256_destroy(sum);
    closedir(entries);
    return status;
}

// Library for LD_PRELOAD that makes one file operation of a program fail.
//
// FRAZIL_FAULT_DIR    folder; operations on it and on all below it count
// FRAZIL_FAULT_ONLY   only operations on paths below it that contain this text count
// FRAZIL_FAULT_READS  if set, reading operations count, and no others
// FRAZIL_FAULT_AT     number of the operation, from 1
// FRAZIL_FAULT_KIND   kill:       the process is killed before the operation
//                     torn:       a write takes half of its bytes, then the process is killed; else as kill
//                     power_cut:  as kill, and files lose what was not synced
//                     lost_names: so they do, and folders lose changes of names that were not synced
//                     eio, enospc: the operation fails
//                     short:      a write takes half of its bytes
// FRAZIL_FAULT_UNSYNCED  "files" or "folders": a sync of these has no effect
// FRAZIL_FAULT_LOG    file that gets a line for each operation that counts: its name and path
//
// The C library's functions are replaced that write, sync, or change names; the campaign compares the log
// with the system calls that strace sees.
#define _GNU_SOURCE
#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <pthread.h>
#include <signal.h>
#include <stdarg.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/uio.h>
#include <unistd.h>

enum { MAX_FILES = 4096, MAX_NAMES = 4096 };

// A file that the process has opened for writing, and the length that is on disk.
struct file {
    char path[PATH_MAX];
    dev_t dev;
    ino_t ino;
    off_t synced;
};

// A change of a name that is not on disk: `from` is the name before, `to` the name after, `kept` the file
// that had `to` before; empty if there is none.
struct name {
    char from[PATH_MAX], to[PATH_MAX], kept[PATH_MAX];
};

static struct file *files[MAX_FILES];
static struct name *names[MAX_NAMES];
static int n_files, n_names, n_kept, n_operations;
static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;

static const char *setting(const char *name, const char *otherwise) {
    const char *value = getenv(name);
    return value ? value : otherwise;
}

static int is(const char *kind) { return strcmp(setting("FRAZIL_FAULT_KIND", "none"), kind) == 0; }

static int counts(const char *path, int is_reading) {
    const char *dir = getenv("FRAZIL_FAULT_DIR");
    if (!dir || !path || is_reading != (getenv("FRAZIL_FAULT_READS") != NULL)) return 0;
    size_t n = strlen(dir);
    return strncmp(path, dir, n) == 0 && (path[n] == '/' || path[n] == 0);
}

// Returns the absolute path of `path` relative to the folder `at`.
static const char *absolute(int at, const char *path, char *to) {
    char link[64], base[PATH_MAX];
    if (!path || path[0] == '/') return path;
    if (at == AT_FDCWD) {
        if (!getcwd(base, sizeof base)) return path;
    } else {
        snprintf(link, sizeof link, "/proc/self/fd/%d", at);
        ssize_t n = readlink(link, base, sizeof base - 1);
        if (n < 0) return path;
        base[n] = 0;
    }
    if (snprintf(to, PATH_MAX, "%s/%s", base, path) >= PATH_MAX) return path;
    return to;
}

static const char *of_fd(int fd, char *path) {
    char link[64];
    snprintf(link, sizeof link, "/proc/self/fd/%d", fd);
    ssize_t n = readlink(link, path, PATH_MAX - 1);
    path[n < 0 ? 0 : n] = 0;
    return path;
}

static void copy(char *to, const char *from) { snprintf(to, PATH_MAX, "%s", from); }

static struct file *file_of(const struct stat *now) {
    for (int i = 0; i < n_files; ++i)
        if (files[i]->ino == now->st_ino && files[i]->dev == now->st_dev) return files[i];
    return NULL;
}

static void forget_file(const char *path) {
    for (int i = 0; i < n_files; ++i)
        if (strcmp(files[i]->path, path) == 0) {
            free(files[i]);
            files[i--] = files[--n_files];
        }
}

static void track(const char *path, int fd, int flags) {
    struct stat now;
    if (fstat(fd, &now) || !S_ISREG(now.st_mode)) return;
    struct file *file = file_of(&now);
    if (!file && n_files < MAX_FILES && (file = calloc(1, sizeof *file))) {
        files[n_files++] = file;
        file->dev = now.st_dev;
        file->ino = now.st_ino;
        // Earlier contents are on disk.
        file->synced = now.st_size;
    }
    if (!file) return;
    copy(file->path, path);
    if (flags & O_TRUNC) file->synced = 0;
}

static void lose_what_is_not_synced(void) {
    for (int i = 0; i < n_files; ++i) {
        struct stat now;
        if (stat(files[i]->path, &now) == 0 && now.st_size > files[i]->synced)
            syscall(SYS_truncate, files[i]->path, files[i]->synced);
    }
}

// Keeps the file at `path` under another name; returns that, or nothing if there is no file.
static void keep(const char *path, char *kept) {
    kept[0] = 0;
    if (!is("lost_names") || access(path, F_OK)) return;
    snprintf(kept, PATH_MAX, "%s.lost", getenv("FRAZIL_FAULT_DIR"));
    syscall(SYS_mkdirat, AT_FDCWD, kept, 0755);
    snprintf(kept, PATH_MAX, "%s.lost/%d", getenv("FRAZIL_FAULT_DIR"), n_kept++);
    if (syscall(SYS_linkat, AT_FDCWD, path, AT_FDCWD, kept, 0)) kept[0] = 0;
}

static void changed(const char *from, const char *to, const char *kept) {
    struct name *name;
    if (!is("lost_names") || n_names == MAX_NAMES || !(name = calloc(1, sizeof *name))) return;
    copy(name->from, from);
    copy(name->to, to);
    copy(name->kept, kept);
    names[n_names++] = name;
}

static int is_in(const char *path, const char *folder) {
    size_t n = strlen(folder);
    return strncmp(path, folder, n) == 0 && path[n] == '/' && !strchr(path + n + 1, '/');
}

// The names in a folder are on disk.
static void keep_names(const char *folder) {
    int n = 0;
    for (int i = 0; i < n_names; ++i) {
        if (is_in(names[i]->to[0] ? names[i]->to : names[i]->from, folder)) free(names[i]);
        else names[n++] = names[i];
    }
    n_names = n;
}

static void lose_names(void) {
    char lost[PATH_MAX];
    snprintf(lost, sizeof lost, "%s.lost", getenv("FRAZIL_FAULT_DIR"));
    syscall(SYS_mkdirat, AT_FDCWD, lost, 0755);
    while (n_names > 0) {
        struct name *name = names[--n_names];
        if (!name->from[0]) {
            // A folder may not be empty.
            snprintf(lost, sizeof lost, "%s.lost/%d", getenv("FRAZIL_FAULT_DIR"), n_kept++);
            if (syscall(SYS_unlinkat, AT_FDCWD, name->to, 0) &&
                syscall(SYS_unlinkat, AT_FDCWD, name->to, AT_REMOVEDIR))
                syscall(SYS_renameat2, AT_FDCWD, name->to, AT_FDCWD, lost, 0);
        } else if (name->to[0]) {
            syscall(SYS_renameat2, AT_FDCWD, name->to, AT_FDCWD, name->from, 0);
        }
        const char *before = name->to[0] ? name->to : name->from;
        if (name->kept[0]) syscall(SYS_renameat2, AT_FDCWD, name->kept, AT_FDCWD, before, 0);
    }
}

enum { HALF = -1 };

// Counts an operation; returns the error number with which it fails, 0 to go on, HALF for half a write. The
// lock is held.
static int fault(const char *operation, const char *path, int is_write) {
    const char *below = path + strlen(setting("FRAZIL_FAULT_DIR", ""));
    if (!strstr(below, setting("FRAZIL_FAULT_ONLY", ""))) return 0;
    const char *log = getenv("FRAZIL_FAULT_LOG");
    if (log) {
        char line[PATH_MAX + 64];
        int n = snprintf(line, sizeof line, "%s %s\n", operation, path);
        int fd = syscall(SYS_openat, AT_FDCWD, log, O_WRONLY | O_CREAT | O_APPEND, 0644);
        if (fd >= 0) {
            syscall(SYS_write, fd, line, (size_t)n);
            syscall(SYS_close, fd);
        }
    }
    if (++n_operations != atoi(setting("FRAZIL_FAULT_AT", "0"))) return 0;
    if (is("power_cut") || is("lost_names")) lose_what_is_not_synced();
    if (is("lost_names")) lose_names();
    int is_kill = is("kill") || is("power_cut") || is("lost_names") || (is("torn") && !is_write);
    if (is_kill) kill(getpid(), SIGKILL);
    if (is("eio")) return EIO;
    if (is("enospc")) return ENOSPC;
    return (is("short") || is("torn")) && is_write ? HALF : 0;
}

static long failed(int error) {
    errno = error;
    return -1;
}

// Counts an operation on `path` and runs it; `done` follows on success.
#define OPERATION(type, name, path, is_write, call, half, done)      \
    if (!counts(path, 0)) return (type)(call);                       \
    pthread_mutex_lock(&lock);                                       \
    int error = fault(name, path, is_write);                         \
    type result = (type)(error > 0 ? failed(error) : error == HALF ? (half) : (call)); \
    if (error == HALF && is("torn")) kill(getpid(), SIGKILL);        \
    if (result >= 0) { done; }                                       \
    pthread_mutex_unlock(&lock);                                     \
    return result

static int open_any(int at, const char *short_path, int flags, mode_t mode) {
    char buffer[PATH_MAX];
    const char *path = absolute(at, short_path, buffer);
    int is_reading = (flags & O_ACCMODE) == O_RDONLY;
    if (!counts(path, is_reading)) return (int)syscall(SYS_openat, at, short_path, flags, mode);
    pthread_mutex_lock(&lock);
    int is_new = access(path, F_OK) != 0;
    int error = fault("open", path, 0);
    int fd = (int)(error > 0 ? failed(error) : syscall(SYS_openat, at, short_path, flags, mode));
    if (fd >= 0 && !is_reading) {
        track(path, fd, flags);
        if (is_new) changed("", path, "");
    }
    pthread_mutex_unlock(&lock);
    return fd;
}

#define MODE(flags, last)                                  \
    mode_t mode = 0;                                       \
    if ((flags) & (O_CREAT | O_TMPFILE)) {                 \
        va_list list;                                      \
        va_start(list, last);                              \
        mode = va_arg(list, mode_t);                       \
        va_end(list);                                      \
    }

#define OPEN(name)                                          \
    int name(const char *path, int flags, ...) {            \
        MODE(flags, flags)                                  \
        return open_any(AT_FDCWD, path, flags, mode);       \
    }
#define OPEN_AT(name)                                       \
    int name(int at, const char *path, int flags, ...) {    \
        MODE(flags, flags)                                  \
        return open_any(at, path, flags, mode);             \
    }
OPEN(open)
OPEN(open64)
OPEN_AT(openat)
OPEN_AT(openat64)
int creat(const char *path, mode_t mode) { return open(path, O_CREAT | O_WRONLY | O_TRUNC, mode); }
int creat64(const char *path, mode_t mode) { return creat(path, mode); }

static size_t half_of(size_t n) { return n > 1 ? n / 2 : n; }

ssize_t write(int fd, const void *bytes, size_t n) {
    char path[PATH_MAX];
    of_fd(fd, path);
    OPERATION(ssize_t, "write", path, 1, syscall(SYS_write, fd, bytes, n),
              syscall(SYS_write, fd, bytes, half_of(n)), );
}

ssize_t pwrite64(int fd, const void *bytes, size_t n, off64_t at) {
    char path[PATH_MAX];
    of_fd(fd, path);
    OPERATION(ssize_t, "pwrite64", path, 1, syscall(SYS_pwrite64, fd, bytes, n, at),
              syscall(SYS_pwrite64, fd, bytes, half_of(n), at), );
}

ssize_t pwrite(int fd, const void *bytes, size_t n, off_t at) { return pwrite64(fd, bytes, n, at); }

ssize_t writev(int fd, const struct iovec *parts, int n) {
    char path[PATH_MAX];
    of_fd(fd, path);
    struct iovec first = n > 0 ? parts[0] : (struct iovec){0};
    first.iov_len = half_of(first.iov_len);
    OPERATION(ssize_t, "writev", path, 1, syscall(SYS_writev, fd, parts, n),
              syscall(SYS_writev, fd, &first, 1), );
}

ssize_t pwritev64(int fd, const struct iovec *parts, int n, off64_t at) {
    // A caller may write any part of it.
    return n > 0 ? pwrite64(fd, parts[0].iov_base, parts[0].iov_len, at) : 0;
}

ssize_t pwritev(int fd, const struct iovec *parts, int n, off_t at) { return pwritev64(fd, parts, n, at); }

ssize_t copy_file_range(int from, off64_t *from_at, int to, off64_t *to_at, size_t n, unsigned flags) {
    char path[PATH_MAX];
    of_fd(to, path);
    OPERATION(ssize_t, "copy_file_range", path, 1,
              syscall(SYS_copy_file_range, from, from_at, to, to_at, n, flags),
              syscall(SYS_copy_file_range, from, from_at, to, to_at, half_of(n), flags), );
}

ssize_t sendfile64(int to, int from, off64_t *at, size_t n) {
    char path[PATH_MAX];
    of_fd(to, path);
    OPERATION(ssize_t, "sendfile", path, 1, syscall(SYS_sendfile, to, from, at, n),
              syscall(SYS_sendfile, to, from, at, half_of(n)), );
}

ssize_t sendfile(int to, int from, off_t *at, size_t n) { return sendfile64(to, from, at, n); }

static void synced(int fd, const char *path) {
    struct stat now;
    if (fstat(fd, &now)) return;
    const char *kind = S_ISDIR(now.st_mode) ? "folders" : "files";
    if (strcmp(setting("FRAZIL_FAULT_UNSYNCED", ""), kind) == 0) return;
    struct file *file = file_of(&now);
    if (file) file->synced = now.st_size;
    if (S_ISDIR(now.st_mode)) keep_names(path);
}

int fsync(int fd) {
    char path[PATH_MAX];
    of_fd(fd, path);
    if (!counts(path, 0)) {
        int result = (int)syscall(SYS_fsync, fd);
        // It may be the folder in which the first new one is.
        if (result == 0) synced(fd, path);
        return result;
    }
    OPERATION(int, "fsync", path, 0, syscall(SYS_fsync, fd), 0, synced(fd, path));
}

int fdatasync(int fd) {
    char path[PATH_MAX];
    of_fd(fd, path);
    OPERATION(int, "fdatasync", path, 0, syscall(SYS_fdatasync, fd), 0, synced(fd, path));
}

static void shortened(int fd, off64_t length) {
    struct stat now;
    struct file *file = fstat(fd, &now) ? NULL : file_of(&now);
    if (file && file->synced > length) file->synced = length;
}

int ftruncate64(int fd, off64_t length) {
    char path[PATH_MAX];
    of_fd(fd, path);
    OPERATION(int, "ftruncate", path, 0, syscall(SYS_ftruncate, fd, length), 0, shortened(fd, length));
}

int ftruncate(int fd, off_t length) { return ftruncate64(fd, length); }

int truncate64(const char *short_path, off64_t length) {
    char buffer[PATH_MAX];
    const char *path = absolute(AT_FDCWD, short_path, buffer);
    OPERATION(int, "truncate", path, 0, syscall(SYS_truncate, short_path, length), 0, );
}

int truncate(const char *path, off_t length) { return truncate64(path, length); }

int fallocate64(int fd, int mode, off64_t at, off64_t n) {
    char path[PATH_MAX];
    of_fd(fd, path);
    OPERATION(int, "fallocate", path, 0, syscall(SYS_fallocate, fd, mode, at, n), 0, );
}

int fallocate(int fd, int mode, off_t at, off_t n) { return fallocate64(fd, mode, at, n); }

static void renamed(const char *from, const char *to, const char *kept) {
    forget_file(to);
    for (int i = 0; i < n_files; ++i)
        if (strcmp(files[i]->path, from) == 0) copy(files[i]->path, to);
    changed(from, to, kept);
}

int renameat2(int from_at, const char *short_from, int to_at, const char *short_to, unsigned flags) {
    char buffers[2][PATH_MAX], kept[PATH_MAX] = "";
    const char *from = absolute(from_at, short_from, buffers[0]), *to = absolute(to_at, short_to, buffers[1]);
    if (counts(to, 0)) keep(to, kept);
    OPERATION(int, "rename", to, 0, syscall(SYS_renameat2, from_at, short_from, to_at, short_to, flags), 0,
              renamed(from, to, kept));
}

int renameat(int from_at, const char *from, int to_at, const char *to) {
    return renameat2(from_at, from, to_at, to, 0);
}

int rename(const char *from, const char *to) { return renameat2(AT_FDCWD, from, AT_FDCWD, to, 0); }

static void removed(const char *path, const char *kept) {
    forget_file(path);
    changed(path, "", kept);
}

int unlinkat(int at, const char *short_path, int flags) {
    char buffer[PATH_MAX], kept[PATH_MAX] = "";
    const char *path = absolute(at, short_path, buffer);
    if (counts(path, 0)) keep(path, kept);
    OPERATION(int, "unlink", path, 0, syscall(SYS_unlinkat, at, short_path, flags), 0, removed(path, kept));
}

int unlink(const char *path) { return unlinkat(AT_FDCWD, path, 0); }
int rmdir(const char *path) { return unlinkat(AT_FDCWD, path, AT_REMOVEDIR); }

int mkdirat(int at, const char *short_path, mode_t mode) {
    char buffer[PATH_MAX];
    const char *path = absolute(at, short_path, buffer);
    OPERATION(int, "mkdir", path, 0, syscall(SYS_mkdirat, at, short_path, mode), 0, changed("", path, ""));
}

int mkdir(const char *path, mode_t mode) { return mkdirat(AT_FDCWD, path, mode); }

int linkat(int from_at, const char *from, int to_at, const char *short_to, int flags) {
    char buffer[PATH_MAX];
    const char *to = absolute(to_at, short_to, buffer);
    OPERATION(int, "link", to, 0, syscall(SYS_linkat, from_at, from, to_at, short_to, flags), 0,
              changed("", to, ""));
}

int link(const char *from, const char *to) { return linkat(AT_FDCWD, from, AT_FDCWD, to, 0); }

// Reads fail only.
#define READING(name, call)                                          \
    char path[PATH_MAX];                                             \
    if (!getenv("FRAZIL_FAULT_READS") || !counts(of_fd(fd, path), 1)) return call; \
    pthread_mutex_lock(&lock);                                       \
    int error = fault(name, path, 0);                                \
    pthread_mutex_unlock(&lock);                                     \
    return error > 0 ? failed(error) : (call)

ssize_t read(int fd, void *bytes, size_t n) { READING("read", syscall(SYS_read, fd, bytes, n)); }
ssize_t pread64(int fd, void *bytes, size_t n, off64_t at) {
    READING("pread64", syscall(SYS_pread64, fd, bytes, n, at));
}

ssize_t pread(int fd, void *bytes, size_t n, off_t at) { return pread64(fd, bytes, n, at); }

ssize_t readv(int fd, const struct iovec *parts, int n) {
    READING("readv", syscall(SYS_readv, fd, parts, n));
}

off64_t lseek64(int fd, off64_t at, int from) { READING("lseek", syscall(SYS_lseek, fd, at, from)); }
off_t lseek(int fd, off_t at, int from) { return lseek64(fd, at, from); }

// Library for LD_PRELOAD that makes one file operation of a program fail.
//
// FRAZIL_FAULT_DIR   folder whose files count
// FRAZIL_FAULT_AT    number of the operation, from 1
// FRAZIL_FAULT_KIND  kill:      the process is killed before the operation
//                    power_cut: so it is, and files lose what was not synced
//                    eio, enospc: the operation fails
//                    short:     a write takes half of its bytes
// FRAZIL_FAULT_LOG   file to which a byte is appended for each operation that counts
//
// Operations that count: open for writing, write, writev, fsync, fdatasync, ftruncate, rename, unlink, mkdir.
#define _GNU_SOURCE
#include <dlfcn.h>
#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <pthread.h>
#include <signal.h>
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/uio.h>
#include <unistd.h>

enum { MAX_FILES = 512 };

// A file that the process has opened for writing, and the length that is on disk.
struct file {
    char path[PATH_MAX];
    off_t synced;
    int fd;
};

static struct file files[MAX_FILES];
static int n_files, n_operations;
static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;

static void *next(const char *name) { return dlsym(RTLD_NEXT, name); }

static int counts(const char *path) {
    const char *dir = getenv("FRAZIL_FAULT_DIR");
    return dir && path && strncmp(path, dir, strlen(dir)) == 0;
}

static struct file *of_fd(int fd) {
    for (int i = 0; i < n_files; ++i)
        if (files[i].fd == fd) return &files[i];
    return NULL;
}

static struct file *of_path(const char *path) {
    for (int i = 0; i < n_files; ++i)
        if (strcmp(files[i].path, path) == 0) return &files[i];
    return NULL;
}

// Returns the file that another descriptor is open for, too.
static struct file *of_inode(int fd) {
    struct stat here, there;
    if (fstat(fd, &here)) return NULL;
    for (int i = 0; i < n_files; ++i)
        if (stat(files[i].path, &there) == 0 && there.st_ino == here.st_ino && there.st_dev == here.st_dev)
            return &files[i];
    return NULL;
}

static void lose_what_is_not_synced(void) {
    for (int i = 0; i < n_files; ++i) {
        struct stat now;
        if (stat(files[i].path, &now) == 0 && now.st_size > files[i].synced && truncate(files[i].path, files[i].synced)) {}
    }
}

// Counts an operation; returns the error number with which it fails, 0 to go on, -1 for half a write. The lock
// is held.
static int fault(int is_write) {
    static const char *kind;
    static int at;
    if (!kind) {
        kind = getenv("FRAZIL_FAULT_KIND") ? getenv("FRAZIL_FAULT_KIND") : "none";
        at = getenv("FRAZIL_FAULT_AT") ? atoi(getenv("FRAZIL_FAULT_AT")) : 0;
    }
    const char *log = getenv("FRAZIL_FAULT_LOG");
    if (log) {
        int (*plain_open)(const char *, int, ...) = next("open64");
        ssize_t (*plain_write)(int, const void *, size_t) = next("write");
        int fd = plain_open(log, O_WRONLY | O_CREAT | O_APPEND, 0644);
        if (fd >= 0) {
            if (plain_write(fd, ".", 1)) {}
            ((int (*)(int))next("close"))(fd);
        }
    }
    if (++n_operations != at) return 0;
    if (strcmp(kind, "kill") == 0) kill(getpid(), SIGKILL);
    if (strcmp(kind, "power_cut") == 0) {
        lose_what_is_not_synced();
        kill(getpid(), SIGKILL);
    }
    if (strcmp(kind, "eio") == 0) return EIO;
    if (strcmp(kind, "enospc") == 0) return ENOSPC;
    return strcmp(kind, "short") == 0 && is_write ? -1 : 0;
}

static int failed(int error) {
    errno = error;
    return -1;
}

static void track(const char *path, int fd, int flags) {
    struct file *file = of_path(path);
    struct stat now;
    if (!file && n_files < MAX_FILES) {
        file = &files[n_files++];
        strncpy(file->path, path, PATH_MAX - 1);
        // What was there before is on disk.
        file->synced = fstat(fd, &now) == 0 ? now.st_size : 0;
    }
    if (!file) return;
    if (flags & O_TRUNC) file->synced = 0;
    file->fd = fd;
}

static int open_any(int at, const char *path, int flags, mode_t mode) {
    int (*plain)(int, const char *, int, ...) = next("openat64");
    if (!counts(path) || (flags & O_ACCMODE) == O_RDONLY) return plain(at, path, flags, mode);
    pthread_mutex_lock(&lock);
    int error = fault(0);
    int fd = error > 0 ? failed(error) : plain(at, path, flags, mode);
    if (fd >= 0) track(path, fd, flags);
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

int open(const char *path, int flags, ...) { MODE(flags, flags) return open_any(AT_FDCWD, path, flags, mode); }
int open64(const char *path, int flags, ...) { MODE(flags, flags) return open_any(AT_FDCWD, path, flags, mode); }
int openat(int at, const char *path, int flags, ...) { MODE(flags, flags) return open_any(at, path, flags, mode); }
int openat64(int at, const char *path, int flags, ...) { MODE(flags, flags) return open_any(at, path, flags, mode); }

int close(int fd) {
    int (*plain)(int) = next("close");
    pthread_mutex_lock(&lock);
    struct file *file = of_fd(fd);
    if (file) file->fd = -1;
    pthread_mutex_unlock(&lock);
    return plain(fd);
}

ssize_t write(int fd, const void *bytes, size_t n) {
    ssize_t (*plain)(int, const void *, size_t) = next("write");
    pthread_mutex_lock(&lock);
    int error = of_fd(fd) ? fault(1) : 0;
    ssize_t written = error > 0 ? failed(error) : plain(fd, bytes, error < 0 && n > 1 ? n / 2 : n);
    pthread_mutex_unlock(&lock);
    return written;
}

ssize_t writev(int fd, const struct iovec *parts, int n) {
    ssize_t (*plain)(int, const struct iovec *, int) = next("writev");
    pthread_mutex_lock(&lock);
    int error = of_fd(fd) ? fault(1) : 0;
    ssize_t written = error > 0 ? failed(error) : plain(fd, parts, error < 0 ? 1 : n);
    pthread_mutex_unlock(&lock);
    return written;
}

static int sync_any(int fd, const char *name) {
    int (*plain)(int) = next(name);
    pthread_mutex_lock(&lock);
    struct file *file = of_inode(fd);
    int error = file ? fault(0) : 0;
    int result = error > 0 ? failed(error) : plain(fd);
    struct stat now;
    if (file && result == 0 && fstat(fd, &now) == 0) file->synced = now.st_size;
    pthread_mutex_unlock(&lock);
    return result;
}

int fsync(int fd) { return sync_any(fd, "fsync"); }
int fdatasync(int fd) { return sync_any(fd, "fdatasync"); }

static int truncate_any(int fd, off_t length) {
    int (*plain)(int, off_t) = next("ftruncate64");
    pthread_mutex_lock(&lock);
    struct file *file = of_fd(fd);
    int error = file ? fault(0) : 0;
    int result = error > 0 ? failed(error) : plain(fd, length);
    if (file && result == 0 && file->synced > length) file->synced = length;
    pthread_mutex_unlock(&lock);
    return result;
}

int ftruncate(int fd, off_t length) { return truncate_any(fd, length); }
int ftruncate64(int fd, off_t length) { return truncate_any(fd, length); }

int rename(const char *from, const char *to) {
    int (*plain)(const char *, const char *) = next("rename");
    if (!counts(to)) return plain(from, to);
    pthread_mutex_lock(&lock);
    int error = fault(0);
    int result = error > 0 ? failed(error) : plain(from, to);
    if (result == 0) {
        struct file *old = of_path(to), *renamed = of_path(from);
        if (old && old != renamed) *old = files[--n_files];
        // The last entry may have moved.
        renamed = of_path(from);
        if (renamed) strncpy(renamed->path, to, PATH_MAX - 1);
    }
    pthread_mutex_unlock(&lock);
    return result;
}

int unlink(const char *path) {
    int (*plain)(const char *) = next("unlink");
    if (!counts(path)) return plain(path);
    pthread_mutex_lock(&lock);
    int error = fault(0);
    int result = error > 0 ? failed(error) : plain(path);
    struct file *file = of_path(path);
    if (file && result == 0) *file = files[--n_files];
    pthread_mutex_unlock(&lock);
    return result;
}

int mkdir(const char *path, mode_t mode) {
    int (*plain)(const char *, mode_t) = next("mkdir");
    if (!counts(path)) return plain(path, mode);
    pthread_mutex_lock(&lock);
    int error = fault(0);
    int result = error > 0 ? failed(error) : plain(path, mode);
    pthread_mutex_unlock(&lock);
    return result;
}

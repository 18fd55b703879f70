/*
 * Stands between a real process and its C library, and lies about one part of the system at a time. What it says comes
 * from a file that a test may rewrite at any moment: six whole numbers,
 *   wall, boot   added to the wall clock and to the time since boot, nanoseconds; the monotonic clock is left alone, so a
 *                larger boot alone is what a suspension looks like
 *   type         what statfs says the file system is; 0 the truth
 *   flock        0 works, -1 says yes and does nothing, else the error that it fails with
 *   inotify      0 works, else the error that inotify_init1 fails with
 *   busy         so many renames, from the beginning, fail with EBUSY
 */
#define _GNU_SOURCE
#include <dlfcn.h>
#include <errno.h>
#include <fcntl.h>
#include <stdarg.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/file.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/time.h>
#include <sys/vfs.h>
#include <time.h>
#include <unistd.h>

enum { WALL, BOOT, TYPE, FLOCK, INOTIFY, BUSY, COUNT };

static const volatile int64_t *lies;
static const int64_t none[COUNT];

__attribute__((constructor)) static void begin(void) {
  const char *path = getenv("SHIM_LIES");
  int fd = path == NULL ? -1 : (int)syscall(SYS_openat, AT_FDCWD, path, O_RDONLY | O_CLOEXEC);
  void *mapped = fd < 0 ? MAP_FAILED : mmap(NULL, sizeof none, PROT_READ, MAP_SHARED, fd, 0);
  if (fd >= 0) close(fd);
  lies = mapped == MAP_FAILED ? none : mapped;
}

static int64_t lie(int which) { return lies == NULL ? 0 : lies[which]; }

static void add(struct timespec *time, int64_t ns) {
  int64_t all = time->tv_sec * 1000000000LL + time->tv_nsec + ns;
  time->tv_sec = all / 1000000000LL;
  time->tv_nsec = all % 1000000000LL;
}

int clock_gettime(clockid_t clock, struct timespec *time) {
  static int (*real)(clockid_t, struct timespec *);
  if (real == NULL) real = (int (*)(clockid_t, struct timespec *))dlsym(RTLD_NEXT, "clock_gettime");
  int result = real(clock, time);
  if (result != 0) return result;
  if (clock == CLOCK_REALTIME || clock == CLOCK_REALTIME_COARSE) add(time, lie(WALL));
  if (clock == CLOCK_BOOTTIME) add(time, lie(BOOT));
  return 0;
}

int gettimeofday(struct timeval *restrict time, void *restrict zone) {
  (void)zone;
  struct timespec now;
  clock_gettime(CLOCK_REALTIME, &now);
  time->tv_sec = now.tv_sec;
  time->tv_usec = now.tv_nsec / 1000;
  return 0;
}

/* The uptime is read from a file: it gets one with the other time in it. */
static int uptime(void) {
  struct timespec now;
  clock_gettime(CLOCK_BOOTTIME, &now);
  int fd = memfd_create("uptime", MFD_CLOEXEC);
  if (fd < 0) return -1;
  char text[64];
  int length = snprintf(text, sizeof text, "%lld.%02ld 0.00\n", (long long)now.tv_sec, now.tv_nsec / 10000000);
  if (write(fd, text, length) != length || lseek(fd, 0, SEEK_SET) != 0) return -1;
  return fd;
}

static int opened(const char *path, int flags, mode_t mode) {
  if (lie(BOOT) != 0 && strcmp(path, "/proc/uptime") == 0) return uptime();
  return (int)syscall(SYS_openat, AT_FDCWD, path, flags, mode);
}

#define OPEN(name)                            \
  int name(const char *path, int flags, ...) { \
    va_list rest;                             \
    va_start(rest, flags);                    \
    mode_t mode = va_arg(rest, mode_t);       \
    va_end(rest);                             \
    return opened(path, flags, mode);         \
  }
OPEN(open)
OPEN(open64)

int statfs(const char *path, struct statfs *about) {
  int result = (int)syscall(SYS_statfs, path, about);
  if (result == 0 && lie(TYPE) != 0) about->f_type = lie(TYPE);
  return result;
}

/* The same thing on machines of 64 bits, under the name that large files gave it. */
int statfs64(const char *path, struct statfs64 *about) { return statfs(path, (struct statfs *)about); }

int flock(int fd, int operation) {
  int64_t told = lie(FLOCK);
  if (told == 0) return (int)syscall(SYS_flock, fd, operation);
  if (told == -1) return 0;
  errno = (int)told;
  return -1;
}

int inotify_init1(int flags) {
  if (lie(INOTIFY) == 0) return (int)syscall(SYS_inotify_init1, flags);
  errno = (int)lie(INOTIFY);
  return -1;
}

int rename(const char *from, const char *to) {
  static int64_t failed;
  if (failed >= lie(BUSY)) return (int)syscall(SYS_renameat2, AT_FDCWD, from, AT_FDCWD, to, 0);
  failed++;
  errno = EBUSY;
  return -1;
}

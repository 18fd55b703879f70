/*
 * The same lease, in C: what the operations of @agentmux/lease-store cost when nothing stands between them and the
 * kernel. Same files, same checks, same durability. Linux only. Not a product: it trusts what it reads.
 *
 *   peer FOLDER                    takes commands on stdin, one a line, and answers each with one line:
 *     hold KEY                     claims KEY for ten minutes             -> ok
 *     drop KEY                     releases it                            -> ok
 *     verify KEY N, renew KEY N    N times, of a KEY it holds             -> N durations, nanoseconds
 *     refused KEY N                N claims of a KEY a live process holds -> N durations
 *     pairs KEY N                  N claims, each with its release        -> N pairs of durations
 *   peer FOLDER contend KEY AUDIT MODE SECONDS PAUSE_US
 *                                  an older build: waits for the lock inside the kernel. MODE look: reads the lease
 *                                  under the lock; MODE claim: also claims it when it is free, appends begin and end
 *                                  to AUDIT and releases it. Pauses after each. Prints: tries claims longest_wait_us
 */
#define _GNU_SOURCE
#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/file.h>
#include <sys/random.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

#define TTL_MS 600000
#define MAX_KEYS 16
#define UUID 37

enum answer { GRANTED, REFUSED, HELD, LOST };

static char folder[PATH_MAX / 2];
static char owner[UUID];
static char host_boot_id[64];
static char host_name[256];
static long long pid_ns, time_ns, own_start_ticks;
static int lock_flags = LOCK_EX | LOCK_NB;
static int lease_ttl_ms = TTL_MS;

struct key {
  char name[128], lease[PATH_MAX], lease_tmp[PATH_MAX], lock[PATH_MAX], epoch[PATH_MAX], epoch_tmp[PATH_MAX];
  char claim[UUID];
  long long number, acquired_ms;
};
static struct key keys[MAX_KEYS];
static int key_count;

static void die(const char *what) {
  perror(what);
  exit(69);
}

static long long clock_ms(clockid_t id) {
  struct timespec now;
  clock_gettime(id, &now);
  return now.tv_sec * 1000LL + now.tv_nsec / 1000000;
}

static long long now_ns(void) {
  struct timespec now;
  clock_gettime(CLOCK_MONOTONIC, &now);
  return now.tv_sec * 1000000000LL + now.tv_nsec;
}

static void fresh_uuid(char out[UUID]) {
  unsigned char b[16];
  if (getrandom(b, sizeof b, 0) != sizeof b) die("getrandom");
  b[6] = (b[6] & 0x0f) | 0x40;
  b[8] = (b[8] & 0x3f) | 0x80;
  snprintf(out, UUID, "%02x%02x%02x%02x-%02x%02x-%02x%02x-%02x%02x-%02x%02x%02x%02x%02x%02x", b[0], b[1], b[2], b[3],
           b[4], b[5], b[6], b[7], b[8], b[9], b[10], b[11], b[12], b[13], b[14], b[15]);
}

static int open_safe(const char *path, int flags) {
  return open(path, flags | O_NOFOLLOW | O_NONBLOCK | O_CLOEXEC, 0644);
}

/* The text of a small file; -1 if it is not there. */
static long read_file(const char *path, char *text, size_t room) {
  int fd = open_safe(path, O_RDONLY);
  if (fd < 0) return -1;
  long length = read(fd, text, room - 1);
  if (length < 0) die(path);
  text[length] = 0;
  close(fd);
  return length;
}

static void replace_file(const char *path, const char *tmp, const char *text, size_t length, int durable) {
  int fd = open_safe(tmp, O_WRONLY | O_CREAT | O_EXCL);
  if (fd < 0 && errno == EEXIST) {
    unlink(tmp);
    fd = open_safe(tmp, O_WRONLY | O_CREAT | O_EXCL);
  }
  if (fd < 0) die(tmp);
  if (write(fd, text, length) != (ssize_t)length) die(tmp);
  if (durable && fsync(fd)) die(tmp);
  close(fd);
  if (rename(tmp, path)) die(path);
}

static void sync_folder(void) {
  int fd = open(folder, O_RDONLY | O_CLOEXEC);
  if (fd < 0 || fsync(fd)) die(folder);
  close(fd);
}

/* Takes the lock of the file that the path names now; -1 if it is taken. */
static int take_lock(const struct key *key) {
  for (;;) {
    int fd = open_safe(key->lock, O_RDWR);
    if (fd < 0) die(key->lock);
    if (flock(fd, lock_flags)) {
      if (errno == EINTR) continue;
      if (errno != EWOULDBLOCK) die(key->lock);
      close(fd);
      return -1;
    }
    struct stat opened, named;
    if (fstat(fd, &opened)) die(key->lock);
    if (stat(key->lock, &named) == 0 && opened.st_ino == named.st_ino && opened.st_dev == named.st_dev) return fd;
    close(fd);
  }
}

/* Where the value of a field begins; NULL if it is absent. */
static const char *field(const char *text, const char *name) {
  const char *at = strstr(text, name);
  return at == NULL ? NULL : at + strlen(name);
}

static long long whole(const char *text, const char *name) {
  const char *at = field(text, name);
  return at == NULL ? 0 : strtoll(at, NULL, 10);
}

static int equals(const char *text, const char *name, const char *value) {
  const char *at = field(text, name);
  size_t length = strlen(value);
  return at != NULL && *at == '"' && strncmp(at + 1, value, length) == 0 && at[1 + length] == '"';
}

static int is_ours(const struct key *key, const char *text) {
  return equals(text, "\"instance_id\": ", key->name) && equals(text, "\"owner_boot_id\": ", owner) &&
         equals(text, "\"block_id\": ", "bench") && equals(text, "\"claim_id\": ", key->claim);
}

/* Field 22 of /proc/PID/stat; 0 if the process is gone or a zombie. */
static long long start_ticks(long long pid) {
  char path[64], text[2048];
  snprintf(path, sizeof path, "/proc/%lld/stat", pid);
  if (read_file(path, text, sizeof text) < 0) return 0;
  char *at = strrchr(text, ')');
  if (at == NULL || at[2] == 'Z' || at[2] == 'X') return 0;
  at += 2;
  for (int skip = 0; skip < 19 && at != NULL; skip++) at = strchr(at + 1, ' ');
  return at == NULL ? 0 : strtoll(at, NULL, 10);
}

static int is_live(const char *text) {
  long long renewed = whole(text, "\"renewed_boot_ms\": "), ttl = whole(text, "\"ttl_ms\": ");
  if (equals(text, "\"host_boot_id\": ", host_boot_id) && whole(text, "\"pid_ns\": ") == pid_ns) {
    long long pid = whole(text, "\"pid\": ");
    if (pid > 0 && start_ticks(pid) != whole(text, "\"pid_start_ticks\": ")) return 0;
  }
  return clock_ms(CLOCK_BOOTTIME) - renewed < ttl;
}

static int format_lease(const struct key *key, char *text, size_t room) {
  long long wall = clock_ms(CLOCK_REALTIME);
  return snprintf(text, room,
                  "{\n  \"instance_id\": \"%s\",\n  \"owner_boot_id\": \"%s\",\n  \"block_id\": \"bench\",\n"
                  "  \"session_id\": null,\n  \"pid\": %d,\n  \"acquired_at_ms\": %lld,\n  \"renewed_at_ms\": %lld,\n"
                  "  \"epoch\": %lld,\n  \"hostname\": \"%s\",\n  \"pid_start_s\": 0,\n  \"channel\": \"stable\",\n"
                  "  \"version\": \"1.0.0\",\n  \"claim_id\": \"%s\",\n  \"host_boot_id\": \"%s\",\n"
                  "  \"pid_ns\": %lld,\n  \"time_ns\": %lld,\n  \"pid_start_ticks\": %lld,\n"
                  "  \"renewed_boot_ms\": %lld,\n  \"ttl_ms\": %d,\n  \"driver_pid\": 0,\n"
                  "  \"driver_start_ticks\": 0\n}\n",
                  key->name, owner, (int)getpid(), key->acquired_ms, wall, key->number, host_name, key->claim,
                  host_boot_id, pid_ns, time_ns, own_start_ticks, clock_ms(CLOCK_BOOTTIME), lease_ttl_ms);
}

static enum answer claim(struct key *key) {
  char text[4096], counter[64];
  int lock = take_lock(key);
  if (lock < 0) return REFUSED;
  if (read_file(key->lease, text, sizeof text) >= 0 && is_live(text)) {
    close(lock);
    return REFUSED;
  }
  key->number = read_file(key->epoch, counter, sizeof counter) > 0 ? strtoll(counter, NULL, 10) + 1 : 1;
  int length = snprintf(counter, sizeof counter, "%lld\n", key->number);
  replace_file(key->epoch, key->epoch_tmp, counter, length, 1);
  fresh_uuid(key->claim);
  key->acquired_ms = clock_ms(CLOCK_REALTIME);
  length = format_lease(key, text, sizeof text);
  replace_file(key->lease, key->lease_tmp, text, length, 1);
  sync_folder();
  close(lock);
  return GRANTED;
}

static enum answer verify(const struct key *key) {
  char text[4096];
  int lock = take_lock(key);
  int ours = lock >= 0 && read_file(key->lease, text, sizeof text) >= 0 && is_ours(key, text);
  if (lock >= 0) close(lock);
  return ours ? HELD : LOST;
}

/* As renewals are usually written: a temporary file renamed over the old one, not synced. */
static enum answer renew(const struct key *key) {
  char text[4096];
  int lock = take_lock(key);
  int ours = lock >= 0 && read_file(key->lease, text, sizeof text) >= 0 && is_ours(key, text);
  if (ours) replace_file(key->lease, key->lease_tmp, text, format_lease(key, text, sizeof text), 0);
  if (lock >= 0) close(lock);
  return ours ? HELD : LOST;
}

static enum answer release(const struct key *key) {
  char text[4096];
  int lock = take_lock(key);
  int ours = lock >= 0 && read_file(key->lease, text, sizeof text) >= 0 && is_ours(key, text);
  if (ours && unlink(key->lease)) die(key->lease);
  if (lock >= 0) close(lock);
  return ours ? HELD : LOST;
}

static struct key *key_named(const char *name) {
  for (int i = 0; i < key_count; i++)
    if (strcmp(keys[i].name, name) == 0) return &keys[i];
  if (key_count == MAX_KEYS) die("too many keys");
  struct key *key = &keys[key_count++];
  snprintf(key->name, sizeof key->name, "%s", name);
  snprintf(key->lease, sizeof key->lease, "%s/%s.lease.json", folder, name);
  snprintf(key->lease_tmp, sizeof key->lease_tmp, "%s/%s.lease.json.tmp", folder, name);
  snprintf(key->lock, sizeof key->lock, "%s/%s.lock", folder, name);
  snprintf(key->epoch, sizeof key->epoch, "%s/%s.epoch", folder, name);
  snprintf(key->epoch_tmp, sizeof key->epoch_tmp, "%s/%s.epoch.tmp", folder, name);
  close(open_safe(key->lock, O_RDWR | O_CREAT));
  return key;
}

static void expect(enum answer got, enum answer wanted, const char *what) {
  if (got == wanted) return;
  fprintf(stderr, "%s: answer %d, not %d\n", what, got, wanted);
  exit(70);
}

static long long namespace_inode(const char *path) {
  struct stat stats;
  return stat(path, &stats) == 0 ? (long long)stats.st_ino : 0;
}

static void learn_host(void) {
  fresh_uuid(owner);
  if (read_file("/proc/sys/kernel/random/boot_id", host_boot_id, sizeof host_boot_id) > 0)
    host_boot_id[strcspn(host_boot_id, "\n")] = 0;
  gethostname(host_name, sizeof host_name - 1);
  pid_ns = namespace_inode("/proc/self/ns/pid");
  time_ns = namespace_inode("/proc/self/ns/time");
  own_start_ticks = start_ticks(getpid());
}

static void serve(void) {
  char line[512], verb[16], name[128];
  while (fgets(line, sizeof line, stdin) != NULL) {
    long count = 1;
    if (sscanf(line, "%15s %127s %ld", verb, name, &count) < 2) continue;
    struct key *key = key_named(name);
    if (strcmp(verb, "hold") == 0) {
      expect(claim(key), GRANTED, "hold");
      puts("ok");
    } else if (strcmp(verb, "drop") == 0) {
      expect(release(key), HELD, "drop");
      puts("ok");
    } else {
      long long *took = calloc(2 * count, sizeof *took);
      long done = 0;
      for (long i = 0; i < count; i++) {
        long long started = now_ns();
        if (strcmp(verb, "verify") == 0) {
          expect(verify(key), HELD, "verify");
        } else if (strcmp(verb, "renew") == 0) {
          expect(renew(key), HELD, "renew");
        } else if (strcmp(verb, "refused") == 0) {
          expect(claim(key), REFUSED, "refused");
        } else {
          expect(claim(key), GRANTED, "claim");
          took[done++] = now_ns() - started;
          started = now_ns();
          expect(release(key), HELD, "release");
        }
        took[done++] = now_ns() - started;
      }
      for (long i = 0; i < done; i++) printf("%lld ", took[i]);
      puts("");
      free(took);
    }
    fflush(stdout);
  }
}

static void append(int audit, const char *what, const struct key *key) {
  char line[128];
  int length = snprintf(line, sizeof line, "%s %lld %s\n", what, key->number, key->claim);
  if (write(audit, line, length) != length) die("audit");
}

static void contend(char **argv) {
  struct key *key = key_named(argv[3]);
  int audit = open(argv[4], O_WRONLY | O_APPEND | O_CREAT | O_CLOEXEC, 0644);
  int claims_too = strcmp(argv[5], "claim") == 0;
  long long until = now_ns() + (long long)(atof(argv[6]) * 1e9), longest = 0;
  struct timespec pause = {0, atol(argv[7]) * 1000};
  long tries = 0, granted = 0;
  char text[4096];
  lock_flags = LOCK_EX;
  while (now_ns() < until) {
    long long started = now_ns();
    tries++;
    if (!claims_too) {
      int lock = take_lock(key);
      long long waited = now_ns() - started;
      if (waited > longest) longest = waited;
      read_file(key->lease, text, sizeof text);
      close(lock);
    } else if (claim(key) == GRANTED) {
      granted++;
      append(audit, "begin", key);
      append(audit, "end", key);
      expect(release(key), HELD, "release");
    }
    if (pause.tv_nsec > 0) nanosleep(&pause, NULL);
  }
  printf("%ld %ld %lld\n", tries, granted, longest / 1000);
}

int main(int argc, char **argv) {
  if (argc < 2) return 64;
  snprintf(folder, sizeof folder, "%s", argv[1]);
  learn_host();
  if (argc == 8 && strcmp(argv[2], "contend") == 0) {
    lease_ttl_ms = 15000;
    contend(argv);
  } else {
    serve();
  }
  return 0;
}

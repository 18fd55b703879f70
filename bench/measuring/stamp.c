/* The child whose start is measured: prints the monotonic clock, nanoseconds, first thing, and exits. */
#include <stdio.h>
#include <time.h>

int main(void) {
  struct timespec now;
  clock_gettime(CLOCK_MONOTONIC, &now);
  printf("%lld\n", now.tv_sec * 1000000000LL + now.tv_nsec);
  return 0;
}

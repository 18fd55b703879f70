/*
 * The agent of a pane, as light as one can be: reads its input until the end. With an argument it answers each line
 * with one of its own, unbuffered, as an agent does that answers a turn.
 */
#include <string.h>
#include <unistd.h>

static const char answer[] = "an answer of about as many characters as a line on a screen has, sixty to eighty\n";

int main(int argc, char **argv) {
  char input[65536];
  ssize_t length;
  (void)argv;
  while ((length = read(0, input, sizeof input)) > 0) {
    if (argc < 2) continue;
    for (const char *at = input, *end = input + length; (at = memchr(at, '\n', end - at)) != NULL; at++) {
      if (write(1, answer, sizeof answer - 1) < 0) return 1;
    }
  }
  return 0;
}

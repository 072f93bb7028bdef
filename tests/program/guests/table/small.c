/* SPDX-License-Identifier: GPL-2.0-or-later
 *
 * No headers: compiled, assembled and linked in a moment. */
#ifdef PART
int twice(int n) { return 2 * n; }
#else
int puts(const char *);
#ifdef PROJECT
int twice(int n);
#else
static int twice(int n) { return n + n; }
#endif
int main(int argc, char **argv) { return puts(argv[argc - 1]) < 0 ? 1 : twice(argc); }
#endif

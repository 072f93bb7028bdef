/* SPDX-License-Identifier: GPL-2.0-or-later
 *
 * Functions of one name: an old version and the default one, and (once a symbol is renamed) two local ones.
 */
__attribute__((noinline)) int old_answer(void)
{
    return 1;
}

__attribute__((noinline)) int new_answer(void)
{
    return 2;
}
__asm__(".symver old_answer, answer@V1");
__asm__(".symver new_answer, answer@@V2");

__attribute__((noinline)) int older(void)
{
    return 3;
}
__asm__(".symver older, gone@V1");

__attribute__((noinline)) static int alone(int n)
{
    return n + 4;
}

__attribute__((noinline)) static int other(int n)
{
    return n * alone(n);
}

int main(int argc, char **argv)
{
    (void)argv;
    return old_answer() + new_answer() + older() + other(argc);
}

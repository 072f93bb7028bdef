/* SPDX-License-Identifier: GPL-2.0-or-later
 *
 * Parameters of every kind, for contexts.py, which says what each is called with.
 */
namespace kinds {
struct large { long part[4]; };
struct point {
    int value;
    int get(int k, bool deep) const { return deep ? k + value : k; }
};
enum colour { RED, GREEN };

/* RDI u, RSI flag, RDX p, RCX number, R8 word, R9 tone; d is in XMM0 */
__attribute__((noinline)) int all(double d, unsigned char u, bool flag, point *p, long number, unsigned word, colour tone)
{
    return d > 0 ? u + flag + p->get(3, flag) + (int)number + (int)word + tone : 0;
}
/* RDI is where the result goes */
__attribute__((noinline)) large made(int n) { return {{n, n, n, n}}; }
}

int main()
{
    kinds::point s = {4};
    int sum = 0;
    for (int i = -3; i < 9; i++)
        sum += kinds::all(i, (unsigned char)(250 + i), i & 1, &s, i * 1000000000000L, 4000000000u, kinds::GREEN);
    sum += (int)kinds::made(7).part[1] + (int)kinds::made(9).part[2];
    return sum == 12345;
}

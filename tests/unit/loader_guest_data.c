/* SPDX-License-Identifier: GPL-2.0-or-later
 *
 * Static variables of all kinds of types and places. The tests know each by its declaration.
 */
#include <stddef.h>
#include <stdint.h>

struct node {
    struct node *next;
    int value;
};
union either {
    int number;
    float real;
};
enum color { RED, GREEN };
typedef struct {
    double x, y;
} point;

double A[40][30];
int counter = 7;
struct node *head;
struct node nodes[5];
union either one_of;
enum color color = GREEN;
point corner[2] = {{1, 2}, {3, 4}};
uint64_t sum = 1;
const char text[] = "nine char";
const char *const names[3] = {"a", "b", "c"};
char *volatile moving;
void *anything = &counter;
int (*handler)(int, const char *);
void (*table[4])(void);
int (*row)[30];
int (*(*maker)(void))(int, ...);
struct {
    int left, right;
} pair;
static unsigned char local_table[256] = {1};
_Bool flag = 1;
_Thread_local int per_thread = 5;
double weak_data __attribute__((weak)) = 3;

/* Two names of one range: the global goes before the local, then the one with fewer underscores. */
int _under_name = 11;
extern int plain_name __attribute__((alias("_under_name")));
extern int plain __attribute__((alias("_under_name")));

/* `part` starts within `both`; `shorter` is the beginning of `longer`. */
__asm__(".data\n.globl both, part, longer, shorter\n"
        ".type both, @object\n.size both, 16\n.type part, @object\n.size part, 4\n"
        ".type longer, @object\n.size longer, 12\n.type shorter, @object\n.size shorter, 8\n"
        ".type unsized, @object\n"
        "both: .long 1, 2\npart: .long 3, 4\nlonger:\nshorter: .long 5, 6, 7\nunsized: .long 8\n.text\n");

static int next(void)
{
    static int count = 100;
    static char scratch[64];
    scratch[count & 63]++;
    return count++ + scratch[0];
}

static int again(void)
{
    static int count = 200;
    return count--;
}

/* Two functions of one name in two files would both be local; `twice` is only one. */
__attribute__((noinline)) static int twice(int n)
{
    return 2 * n + local_table[n & 255];
}

int main(int argc, char **argv)
{
    (void)argv;
    head = nodes;
    moving = NULL;
    A[1][argc] = sum + (uint64_t)flag;
    pair.left = one_of.number = per_thread;
    return twice(argc) + next() + again() + (handler != NULL) + (table[0] != NULL) + (row != NULL) + (maker != NULL);
}

/* SPDX-License-Identifier: GPL-2.0-or-later
 *
 * race COUNT: opens way/file for writing COUNT times, whatever `way` is meanwhile, and says what came of it.
 */
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

int main(int argc, char **argv)
{
    int made = 0, refused = 0, others = 0;
    for (int i = argc > 1 ? atoi(argv[1]) : 0; i > 0; i--) {
        int fd = open("way/file", O_WRONLY | O_CREAT, 0600);
        made += fd >= 0;
        refused += fd < 0 && errno == EROFS;
        others += fd < 0 && errno != EROFS;
        if (fd >= 0) {
            if (write(fd, "x", 1) != 1)
                return 1;
            close(fd);
        }
        unlink("way/file");
    }
    printf("%d made, %d refused, %d others\n", made, refused, others);
    return 0;
}

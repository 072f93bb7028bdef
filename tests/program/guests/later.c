/* SPDX-License-Identifier: GPL-2.0-or-later
 *
 * Calls a function of a library that it loads for each call: three times.
 */
#include <dlfcn.h>

int main(void)
{
    typedef int encode(const unsigned char *bytes, unsigned long count, char *out, unsigned long room);
    char text[64] = "";
    for (int i = 0; i < 3; i++) {
        void *library = dlopen("libresolv.so.2", RTLD_NOW);
        encode *function = library ? (encode *)dlsym(library, "__b64_ntop") : 0;
        if (!function || function((const unsigned char *)"abcdef", 6, text, sizeof text) != 8)
            return 1;
        dlclose(library);
    }
    return text[0] != 'Y';
}

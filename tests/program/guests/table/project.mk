# SPDX-License-Identifier: GPL-2.0-or-later
project: stencil.o main.o
	$(CC) -o $@ $^
	./$@
main.o: main.c
	$(CC) -O1 -c -o $@ $<
stencil.o: stencil.c
	$(CC) -O1 -Dmain=stencil -c -o $@ $<
main.c:
	echo 'int stencil(void); int main(void) { return stencil(); }' >$@

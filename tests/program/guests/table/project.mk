# SPDX-License-Identifier: GPL-2.0-or-later
project: main.o part.o
	$(CC) -o $@ $^
	./$@ made || test $$? = 4
main.o: main.c
	$(CC) -O1 -DPROJECT -c -o $@ $<
part.o: small.c
	$(CC) -O1 -DPART -c -o $@ $<
main.c:
	cp small.c $@

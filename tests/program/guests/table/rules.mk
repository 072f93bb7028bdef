# SPDX-License-Identifier: GPL-2.0-or-later
all: one two
one two: fixture.txt
	cp $< $@

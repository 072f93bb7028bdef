# SPDX-License-Identifier: GPL-2.0-or-later
	.globl f
f:	mov $1, %eax
	add f(%rip), %rax
	ret
	.data
	.quad f, 1f
1:	.asciz "text"

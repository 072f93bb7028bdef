! SPDX-License-Identifier: GPL-2.0-or-later
!
! Tuned: a picture that is all arithmetic: a few dozen rounds in registers for each byte that is stored, in order.
program mandelbrot
  implicit none
  integer, parameter :: width = 256, height = 160
  integer(1) :: picture(width, height)
  character(len=12) :: word
  integer :: x, y, round, limit = 250
  real(8) :: a, b, re, im, t
  call get_command_argument(1, word)
  if (word /= '') read (word, *) limit
  do y = 1, height
    do x = 1, width
      a = (x - 180) / 90d0
      b = (y - 80) / 80d0
      re = 0; im = 0
      do round = 1, limit
        t = re * re - im * im + a
        im = 2 * re * im + b
        re = t
        if (re * re + im * im > 4) exit
      end do
      picture(x, y) = int(iand(round, 63), 1)
    end do
  end do
  print '(i0)', sum(int(picture))
end program

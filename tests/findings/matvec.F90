! SPDX-License-Identifier: GPL-2.0-or-later
!
! Lesson: matrix times vector, row by row as on paper, runs across the columns that Fortran stores.
! Truth: the inner loop over j strides a column of a, 1440 bytes, over 6000 columns: 375 KiB of lines before the next i
! wants the same lines again, and L2 has 256 KiB. With i inside, a is read as it lies, and y stays in L1D.
#ifndef COLUMNS
#define COLUMNS 6000
#endif
module product
  implicit none
  integer, parameter :: rows = 180
  real(8) :: a(rows, COLUMNS), x(COLUMNS), y(rows)
contains
  subroutine multiply()
    integer :: i, j
#ifdef CURED
    do j = 1, COLUMNS
      do i = 1, rows
        y(i) = y(i) + a(i, j) * x(j)
      end do
    end do
#else
    do i = 1, rows
      do j = 1, COLUMNS
        y(i) = y(i) + a(i, j) * x(j) ! here
      end do
    end do
#endif
  end subroutine
end module

program matvec
  use product
  implicit none
  character(len=12) :: word
  integer :: i, j, round, rounds = 4
  call get_command_argument(1, word)
  if (word /= '') read (word, *) rounds
  y = 0
  do j = 1, COLUMNS
    x(j) = mod(j, 3)
    do i = 1, rows
      a(i, j) = i - mod(j, 5)
    end do
  end do
  do round = 1, rounds
    call multiply()
  end do
  print '(f0.0)', sum(y)
end program

! SPDX-License-Identifier: GPL-2.0-or-later
!
! Lesson: Fortran stores columns; the first index belongs into the inner loop.
! Truth: the inner loop over j strides a column, 1600 bytes: 6000 lines, 375 KiB, before the next i wants the same lines
! again, and L2 has 256 KiB. The loop around it strides 8 bytes.
#ifndef COLUMNS
#define COLUMNS 6000
#endif
module field
  implicit none
  integer, parameter :: rows = 200
  real(8) :: a(rows, COLUMNS)
contains
  real(8) function weighted_sum(weight)
    real(8), intent(in) :: weight
    integer :: i, j
    weighted_sum = 0
#ifdef CURED
    do j = 1, COLUMNS
      do i = 1, rows
        weighted_sum = weighted_sum + weight * a(i, j)
      end do
    end do
#else
    do i = 1, rows
      do j = 1, COLUMNS
        weighted_sum = weighted_sum + weight * a(i, j) ! here
      end do
    end do
#endif
  end function
end module

program row_walk
  use field
  implicit none
  character(len=12) :: word
  integer :: i, j, round, rounds = 6
  real(8) :: total = 0
  call get_command_argument(1, word)
  if (word /= '') read (word, *) rounds
  do j = 1, COLUMNS
    do i = 1, rows
      a(i, j) = mod(i, 7) + mod(j, 5)
    end do
  end do
  do round = 1, rounds
    total = total + weighted_sum(real(round, 8))
  end do
  print '(f0.0)', total
end program

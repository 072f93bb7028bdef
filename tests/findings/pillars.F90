! SPDX-License-Identifier: GPL-2.0-or-later
!
! Lesson: the columns of a Fortran array, a power of two long, meet in one set where a loop goes along a row.
! Truth: prefix sums along a row of 64 numbers, 8 KiB from one to the next: 64 lines, 4 KiB, in one set of L1D, of 8
! ways. Each of the six stages loads them again. Each row begins with what the last one gave, so no loop over the rows
! can go inside; columns that are a line longer cure it.
#ifdef CURED
#define LEADING 1032
#else
#define LEADING 1024
#endif
module hall
  implicit none
  integer(8) :: pillars(LEADING, 64)
contains
  subroutine scan(row, carry)
    integer, intent(in) :: row
    integer(8), intent(inout) :: carry
    integer :: span, k
    pillars(row, 1) = pillars(row, 1) + carry
    span = 1
    do while (span < 64)
      do k = 64, span + 1, -1
        pillars(row, k) = pillars(row, k) + pillars(row, k - span) ! here
      end do
      span = span * 2
    end do
    carry = pillars(row, 64)
  end subroutine
end module

program main
  use hall
  implicit none
  character(len=12) :: word
  integer(8) :: carry = 1
  integer :: row, round, rounds = 4
  call get_command_argument(1, word)
  if (word /= '') read (word, *) rounds
  pillars = 0
  do round = 1, rounds
    do row = 1, 1024
      call scan(row, carry)
    end do
  end do
  print '(i0)', carry
end program

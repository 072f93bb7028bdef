! SPDX-License-Identifier: GPL-2.0-or-later
!
! Lesson: of what lies in a common block it is the columns of one array that compete.
! Truth: prefix sums along a row of 64 numbers, 8 KiB from one to the next: 64 lines, 4 KiB, in one set of L1D, of 8
! ways. Each of the six stages loads them again, and each row begins with what the last one gave. Columns that are a
! line longer cure it. The small array before it in the block has no part in that.
#ifdef CURED
#define LENGTH 1032
#else
#define LENGTH 1024
#endif
subroutine scan(row, carry)
  implicit none
  integer, intent(in) :: row
  integer(8), intent(inout) :: carry
  integer(8) :: bias, height
  common /terrain/ bias(8), height(LENGTH, 64)
  integer :: span, k
  height(row, 1) = height(row, 1) + carry + bias(1)
  span = 1
  do while (span < 64)
    do k = 64, span + 1, -1
      height(row, k) = height(row, k) + height(row, k - span) ! here
    end do
    span = span * 2
  end do
  carry = height(row, 64)
end subroutine

program old_grids
  implicit none
  integer(8) :: bias, height, carry = 1
  common /terrain/ bias(8), height(LENGTH, 64)
  character(len=12) :: word
  integer :: row, round, rounds = 4
  call get_command_argument(1, word)
  if (word /= '') read (word, *) rounds
  bias = 7
  height = 0
  do round = 1, rounds
    do row = 1, 1024
      call scan(row, carry)
    end do
  end do
  print '(i0)', carry
end program

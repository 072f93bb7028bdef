! SPDX-License-Identifier: GPL-2.0-or-later
!
! Lesson: of three loops, the one of the first index belongs inside; the middle one is not near enough.
! Truth: the inner loop over k strides a plane of 100 * 60 numbers, 48 KB, that over j a column, that over i 8 bytes,
! and i is outermost: 80 * 60 lines, 300 KiB, pass before the next i wants the same lines again, and L2 has 256 KiB.
#ifndef DEPTH
#define DEPTH 80
#endif
module field
  implicit none
  integer, parameter :: width = 100, height = 60
  integer(8) :: heat(width, height, DEPTH)
contains
  subroutine warm(by)
    integer(8), intent(in) :: by
    integer :: i, j, k
#ifdef CURED
    do k = 1, DEPTH
      do j = 1, height
        do i = 1, width
          heat(i, j, k) = ieor(heat(i, j, k), by) + by
        end do
      end do
    end do
#else
    do i = 1, width
      do j = 1, height
        do k = 1, DEPTH
          heat(i, j, k) = ieor(heat(i, j, k), by) + by ! here
        end do
      end do
    end do
#endif
  end subroutine
end module

program planes
  use field
  implicit none
  character(len=12) :: word
  integer :: round, rounds = 7
  call get_command_argument(1, word)
  if (word /= '') read (word, *) rounds
  heat = 1
  do round = 1, rounds
    call warm(int(round, 8))
  end do
  print '(i0)', sum(heat)
end program

! SPDX-License-Identifier: GPL-2.0-or-later
!
! Lesson: each statement on whole arrays is a pass over them.
! Truth: eight statements a step on three arrays of 240 KB each; L2 has 256 KiB, so that each statement loads its
! arrays from L3 again. All steps on 5,000 elements, then on the next (120 KB), find them in L2.
#ifndef LENGTH
#define LENGTH 30000
#endif
#ifdef CURED
#define SPAN 5000
#else
#define SPAN LENGTH
#endif
module waves
  implicit none
  integer(8) :: u(LENGTH), v(LENGTH), w(LENGTH)
contains
  subroutine step(u, v, w)
    integer(8), intent(inout) :: u(SPAN), v(SPAN), w(SPAN)
    u = u + v ! here
    w = w - u ! here
    v = v + w ! here
    u = u - w ! here
    w = w + v ! here
    v = v - u ! here
    u = u + w ! here
    w = w - v ! here
  end subroutine
end module

program sweeps
  use waves
  implicit none
  character(len=12) :: word
  integer :: i, first, round, rounds = 8
  call get_command_argument(1, word)
  if (word /= '') read (word, *) rounds
  do i = 1, LENGTH
    u(i) = i; v(i) = mod(i, 7); w(i) = mod(i, 3)
  end do
  do first = 1, LENGTH, SPAN
    do round = 1, rounds
      call step(u(first), v(first), w(first))
    end do
  end do
  print '(i0)', sum(u) + 3 * sum(v) + 5 * sum(w)
end program

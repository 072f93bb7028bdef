! SPDX-License-Identifier: GPL-2.0-or-later
!
! Lesson: what lies one behind the other in a common block of a program of old is named in its procedures.
! Truth: 14 arrays of 4096 bytes, of which the first 1 KiB is in use: 14 KiB in all, half of L1D. But element k of all
! of them lies in one set of 8 ways, and the formula for k wants all 14: each load misses. A line more in each array
! keeps them apart. Where the block is declared in a module (common_block.F90) only its size is known.
#ifdef CURED
#define LENGTH 520
#else
#define LENGTH 512
#endif
subroutine step(weight)
  implicit none
  integer(8), intent(in) :: weight
  integer(8) :: u, v, w, t, p, q, r, s, d, e, f, g, h, z, flux
  common /fields/ u(LENGTH), v(LENGTH), w(LENGTH), t(LENGTH), p(LENGTH), q(LENGTH), r(LENGTH), s(LENGTH), &
    d(LENGTH), e(LENGTH), f(LENGTH), g(LENGTH), h(LENGTH), z(LENGTH)
  common /result/ flux(128)
  integer :: k
  do k = 1, 128
    flux(k) = flux(k) + ieor(u(k) + v(k), w(k) + t(k)) & ! here
      + weight * ieor(p(k) + q(k), r(k) + s(k)) & ! here
      + ieor(d(k) + e(k), f(k) + g(k)) - ieor(h(k), z(k)) ! here
  end do
end subroutine

program old_fields
  implicit none
  integer(8) :: u, v, w, t, p, q, r, s, d, e, f, g, h, z, flux
  common /fields/ u(LENGTH), v(LENGTH), w(LENGTH), t(LENGTH), p(LENGTH), q(LENGTH), r(LENGTH), s(LENGTH), &
    d(LENGTH), e(LENGTH), f(LENGTH), g(LENGTH), h(LENGTH), z(LENGTH)
  common /result/ flux(128)
  character(len=12) :: word
  integer :: k, round, rounds = 1500
  call get_command_argument(1, word)
  if (word /= '') read (word, *) rounds
  do k = 1, 128
    u(k) = k; w(k) = 3 * k; q(k) = mod(k, 7); s(k) = 11; e(k) = k * k; g(k) = 5; z(k) = k - 1
    v(k) = 0; t(k) = 1; p(k) = 2; r(k) = 3; d(k) = 4; f(k) = 5; h(k) = 6; flux(k) = 0
  end do
  do round = 1, rounds
    call step(int(round, 8))
  end do
  print '(i0)', sum(flux)
end program

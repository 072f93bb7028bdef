! SPDX-License-Identifier: GPL-2.0-or-later
!
! Lesson: one component of an array of derived types is one word out of each element.
! Truth: 30,000 atoms of 96 bytes; their charges are 8 bytes of each: 1.9 MB of lines for 240 KB. The charges by
! themselves, in an array of their own, are an eighth of the lines.
module molecule
  implicit none
  integer, parameter :: count = 30000
  type atom
#ifndef CURED
    real(8) :: charge
#endif
    real(8) :: position(3), velocity(3)
    character(len=40) :: name
  end type
  type(atom) :: atoms(count)
#ifdef CURED
  real(8) :: charges(count)
#define CHARGE(i) charges(i)
#else
#define CHARGE(i) atoms(i)%charge
#endif
contains
  real(8) function total_charge(unit)
    real(8), intent(in) :: unit
    integer :: i
    total_charge = 0
    do i = 1, count
      total_charge = total_charge + unit * CHARGE(i) ! here
    end do
  end function
end module

program charges_of_atoms
  use molecule
  implicit none
  character(len=12) :: word
  integer :: i, round, rounds = 40
  real(8) :: total = 0
  call get_command_argument(1, word)
  if (word /= '') read (word, *) rounds
  do i = 1, count
    atoms(i)%position = i
  end do
  do i = 1, count
    CHARGE(i) = mod(i, 5) - 2
  end do
  do round = 1, rounds
    total = total + total_charge(real(round, 8))
  end do
  print '(f0.0)', total + atoms(count / 2)%position(1)
end program

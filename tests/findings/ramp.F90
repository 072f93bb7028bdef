! SPDX-License-Identifier: GPL-2.0-or-later
!
! Lesson: numbers that are written once, one after the other, can only become smaller.
! Truth: two million small numbers are written once, in order, as real(8): each line misses once, cold, and is filled
! whole. As integer(1) they are an eighth of the lines.
#ifdef CURED
#define NUMBER integer(1)
#else
#define NUMBER real(8)
#endif
module table
  implicit none
contains
  integer function fill(ramp)
    NUMBER, intent(out) :: ramp(:)
    integer :: i, height
    fill = 0
    do i = 1, size(ramp)
      height = iand(ieor(i, ishft(i, -5)), 63) - 32
      fill = fill + height
      ramp(i) = int(height, 1) ! here
    end do
  end function
end module

program ramp_table
  use table
  implicit none
  character(len=12) :: word
  integer :: count = 2000000
  NUMBER, allocatable :: ramp(:)
  call get_command_argument(1, word)
  if (word /= '') read (word, *) count
  allocate (ramp(count))
  print '(i0)', fill(ramp)
  print '(i0)', int(ramp(count / 2))
end program

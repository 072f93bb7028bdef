! SPDX-License-Identifier: GPL-2.0-or-later
!
! Lesson: links by index are links: the next index is in the line that misses.
! Truth: 60,000 cells of an index and a value, 16 bytes, in arrays of Fortran, linked in a random order: each step of
! the walk waits for a line anywhere in 960 KB, and L2 has 256 KiB. Numbered in the order of the walk, four follow each
! other in a line.
module chain
  implicit none
  integer, parameter :: count = 60000
  type cell
    integer(8) :: next, amount
  end type
  type(cell) :: cells(count)
  integer(8) :: first
contains
  subroutine join()
    integer(8), allocatable :: order(:)
    integer :: i
#ifndef CURED
    integer(8) :: random, moved
    integer :: other
#endif
    allocate (order(count))
    do i = 1, count
      order(i) = i
    end do
#ifndef CURED
    random = 1
    do i = count, 2, -1
      random = iand(random * 1103515245_8 + 12345_8, 2147483647_8)
      other = 1 + int(mod(random / 64, int(i, 8)))
      moved = order(i)
      order(i) = order(other)
      order(other) = moved
    end do
#endif
    first = 0
    do i = count, 1, -1
      cells(order(i)) = cell(first, mod(i, 100))
      first = order(i)
    end do
  end subroutine

  integer(8) function walk(factor)
    integer(8), intent(in) :: factor
    integer(8) :: at
    walk = 0
    at = first
    do while (at /= 0)
      walk = walk + cells(at)%amount * factor ! here
      at = cells(at)%next ! here
    end do
  end function
end module

program cells_in_a_chain
  use chain
  implicit none
  character(len=12) :: word
  integer :: round, rounds = 20
  integer(8) :: total = 0
  call get_command_argument(1, word)
  if (word /= '') read (word, *) rounds
  call join()
  do round = 1, rounds
    total = total + walk(int(round, 8))
  end do
  print '(i0)', total
end program

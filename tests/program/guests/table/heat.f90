! SPDX-License-Identifier: GPL-2.0-or-later
! Heat in a rod, in Fortran.
program heat
  real(8) :: u(100), v(100)
  integer :: i, t
  u = 0d0
  u(1) = 1d0
  u(100) = 2d0
  v = u
  do t = 1, 200
    do i = 2, 99
      v(i) = 0.5d0 * (u(i - 1) + u(i + 1))
    end do
    u = v
  end do
  print '(4f12.8)', u(2), u(50), u(99), sum(u)
  write (*, *) 'coldest', minval(u), minloc(u)
end program

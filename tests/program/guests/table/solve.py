# SPDX-License-Identifier: GPL-2.0-or-later
import numpy

a = numpy.arange(64.0).reshape(8, 8) + numpy.eye(8) * 50
print(numpy.round(numpy.linalg.solve(a, numpy.ones(8)), 12), numpy.round(numpy.linalg.det(a / 50), 9))
print((numpy.ones((150, 150)) @ numpy.ones((150, 150))).sum(), numpy.round(numpy.fft.fft(numpy.arange(8)).real, 9))

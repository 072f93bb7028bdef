# SPDX-License-Identifier: GPL-2.0-or-later
import numpy
print(numpy.linspace(0, 1, 5).sum(), numpy.longdouble(2) ** 0.5, numpy.finfo(numpy.longdouble).eps)
print(numpy.power(numpy.longdouble(1.7), numpy.longdouble(2.3)).astype(float), numpy.fft.fft([1, 2, 3, 4]))
print(numpy.random.default_rng(7).random(3), numpy.sin(numpy.arange(4)), numpy.arange(12).reshape(3, 4).T @ [1, 2, 3])

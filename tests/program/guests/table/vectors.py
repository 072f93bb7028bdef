# SPDX-License-Identifier: GPL-2.0-or-later
"""What numpy has code of several processors for."""
import numpy

numbers = numpy.arange(1, 5001, dtype=numpy.float64)
matrix = numpy.sin(numbers[:900]).reshape(30, 30)
print(numpy.sum(numbers * numbers), numpy.sqrt(numbers[::97]).tolist()[:9])
print(numpy.exp(numbers[:50] / 9).tolist()[::7], numpy.log(numbers.astype(numpy.float32))[::501].tolist())
print(numpy.linalg.det(matrix + numpy.eye(30)), (matrix @ matrix).trace())
print(numpy.sort((numbers * 7919 % 5003).astype(numpy.int32))[::500].tolist(), numpy.argmax(matrix))
print(numpy.fft.rfft(numbers[:64])[:5].tolist(), numpy.unique((numbers % 17).astype(numpy.int64)).tolist())
print(numpy.where(numbers % 3 == 0, numbers, -numbers).sum(), numpy.cumsum(numbers.astype(numpy.int16))[-1])

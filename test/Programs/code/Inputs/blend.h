// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// A function of another unit.
#ifndef CRSAN_TEST_PROGRAMS_BLEND_H
#define CRSAN_TEST_PROGRAMS_BLEND_H

/// Writes the mean of two words, of which the second is a later thread's. May
/// synchronise in a way that the caller knows nothing of.
__device__ void blend(unsigned *Cells, unsigned I, unsigned N, unsigned *Out);

#endif // CRSAN_TEST_PROGRAMS_BLEND_H

// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// A kernel that takes long.
#ifndef CRSAN_TEST_PROGRAMS_BUSY_H
#define CRSAN_TEST_PROGRAMS_BUSY_H

/// Keeps a stream busy for so long that another one is done.
static __global__ void work(unsigned *Out, unsigned Steps) {
  unsigned X = 1;
  for (unsigned I = 0; I < Steps; ++I)
    X = X * 0x9e3779b9 + (X >> 15);
  *Out = X;
}

#endif // CRSAN_TEST_PROGRAMS_BUSY_H

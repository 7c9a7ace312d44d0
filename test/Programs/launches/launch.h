// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Kernels and the sizes of their blocks.
#ifndef CRSAN_TEST_PROGRAMS_LAUNCH_H
#define CRSAN_TEST_PROGRAMS_LAUNCH_H

#include "../check.h"
#include <algorithm>
#include <cmath>

CONSTANT Scaled<64, 1> Grid;

/// Numbers that look random, the same for a seed.
template <typename T = unsigned>
std::vector<T> numbers(size_t N, unsigned Below, unsigned Seed = 1) {
  std::vector<T> Values(N);
  for (T &Value : Values) {
    Seed = Seed * 1664525u + 1013904223u;
    Value = T((Seed >> 8) % Below);
  }
  return Values;
}

/// Whether the kernel could be launched and ended well; says what is wrong.
inline bool isLaunched(const char *Kernel, unsigned Block) {
  cudaError_t Error = cudaGetLastError();
  if (Error == cudaSuccess)
    Error = cudaDeviceSynchronize();
  if (Error != cudaSuccess)
    std::printf("%s, %u threads a block: %s\n", Kernel, Block,
                cudaGetErrorString(Error));
  return Error == cudaSuccess;
}

/// Whether two numbers are one but for how they were rounded.
inline bool isNear(float A, float B) {
  return std::fabs(A - B) <= 1e-3f * std::fmax(1.f, std::fabs(B));
}

/// Launches a kernel with blocks of every size, by \p Run(Block), which says
/// whether the result is right; prints one line of a table for each. The simulated
/// GPU has the smallest and the largest only.
template <typename F> bool tryBlocks(const char *Kernel, F Run) {
  bool Right = true;
  for (unsigned Block = 32; Block <= 1024; Block *= Scaled<2, 32>()) {
    const bool IsRight = Run(Block);
    std::printf("%-16s %5u %s\n", Kernel, Block, IsRight ? "ok" : "WRONG");
    Right &= IsRight;
  }
  return Right;
}

/// Launches a kernel; false, and a line that says why, if that fails.
#define LAUNCH(Kernel, Blocks, Block, ...)                                     \
  (Kernel<<<(Blocks), (Block)>>>(__VA_ARGS__),                                 \
   isLaunched(#Kernel, dim3(Block).x * dim3(Block).y))

#endif // CRSAN_TEST_PROGRAMS_LAUNCH_H

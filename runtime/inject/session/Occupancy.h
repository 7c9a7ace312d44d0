// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Which blocks run at the same time.
//
// Blocks that wait for each other need the whole grid to run at a time. A
// program that sized its grid so may lose that when checks cost registers, and
// then hangs. This file computes whether that may happen.
//
// The rules are those of CUDA's cuda_occupancy.h for compute capability 7.0 and
// newer.
#ifndef CRSAN_INJECT_SESSION_OCCUPANCY_H
#define CRSAN_INJECT_SESSION_OCCUPANCY_H

#include <cstdint>
#include <string>

namespace crsan {

/// The multiprocessors of a device and what each of them holds at a time. All
/// zero where the driver does not tell.
struct Multiprocessors {
  int Count = 0;
  int Threads = 0;
  int Blocks = 0;
  int Registers = 0;           ///< Of 32 bits.
  int SharedBytes = 0;         ///< Reserved ones included.
  int ReservedSharedBytes = 0; ///< Of every block, for the driver.
  int SharedUnit = 128;        ///< In which they are given out to a block.
};

/// What the blocks of a launch need.
struct BlockNeeds {
  int Threads = 0;
  int Registers = 0;       ///< A thread.
  int64_t SharedBytes = 0; ///< Static and dynamic ones.
};

/// How many blocks of a kernel the device runs at a time.
struct Residency {
  BlockNeeds Needs;
  uint64_t Actual = 0;
  uint64_t IfRegistersWereFree = 0;

  /// Whether a grid of so many blocks would run all at once, but for registers.
  bool lacksRegisters(uint64_t Blocks) const {
    return Actual < Blocks && Blocks <= IfRegistersWereFree;
  }
};

/// \p BlocksEach: blocks on each multiprocessor, as the driver counts them.
/// Where it is not registers that limit them, both numbers are the same.
Residency computeResidency(const Multiprocessors &Device,
                           const BlockNeeds &Needs, int BlocksEach);

/// Most registers a thread may have for a grid of so many blocks to run all at
/// once, as --maxrregcount takes them: a multiple of 8. 0 where that is less
/// than code with calls can be compiled for.
int registersThatFit(const Multiprocessors &Device, const BlockNeeds &Needs,
                     uint64_t Blocks);

/// "only 132 of its 264 blocks run at a time, ...", for a grid that lacks
/// registers.
std::string describeShortage(const Multiprocessors &Device,
                             const Residency &Found, uint64_t Blocks);

} // namespace crsan

#endif // CRSAN_INJECT_SESSION_OCCUPANCY_H

// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Which grids are followed, where not all are (Sampled).
//
// A grid that is not followed executes the plain body of its kernel
// (lib/Transforms/PlainBody.h). All its threads have to decide alike: at a
// barrier, a plain body may not meet one with checks. So the decision depends
// on nothing that changes while the grid runs.
#ifndef CRSAN_DEVICE_METADATA_GRIDSAMPLE_H
#define CRSAN_DEVICE_METADATA_GRIDSAMPLE_H

#include "metadata/GridStart.h"

namespace crsan::device {

/// Whether `Grid`, of the kernel `Tag`, is followed: the first grid of a kernel
/// with a probability of 1 in FollowOneIn, and another one with a probability
/// that falls with the number of grids that the context has begun since.
DEVICE bool isFollowed(uint64_t Grid, uint32_t Tag) {
  const Metadata &M = metadata();
  const uint64_t First = firstOfKernel(Grid, Tag);
  const uint64_t Since = Grid > First ? Grid - First : 0;
  const uint64_t OneIn = M.FollowOneIn * (1 + Since);
  uint32_t Draw = (uint32_t(Grid) * 0x9e3779b1u) ^ (Tag * 0x85ebca6bu) ^ M.Salt;
  Draw = (Draw ^ Draw >> 16) * 0x7feb352du;
  Draw = (Draw ^ Draw >> 15) * 0x846ca68bu;
  Draw ^= Draw >> 16;
  return Draw * OneIn >> 32 == 0 && OneIn >> 32 == 0;
}

} // namespace crsan::device

#endif // CRSAN_DEVICE_METADATA_GRIDSAMPLE_H

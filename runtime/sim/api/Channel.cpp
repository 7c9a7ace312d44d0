// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// cudaCreateChannelDesc.
//
// A description alone needs no texture; what takes it stops.

#include "Process.h"

CRSAN_API cudaChannelFormatDesc
cudaCreateChannelDesc(int X, int Y, int Z, int W, cudaChannelFormatKind Kind) {
  return {X, Y, Z, W, Kind};
}

//===- Channel.cpp - cudaCreateChannelDesc --------------------------------===//
//
// Part of CudaRaceSanitizer, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// A description alone needs no texture; what takes it stops.
//
//===----------------------------------------------------------------------===//

#include "Process.h"

CRSAN_API cudaChannelFormatDesc
cudaCreateChannelDesc(int X, int Y, int Z, int W, cudaChannelFormatKind Kind) {
  return {X, Y, Z, W, Kind};
}

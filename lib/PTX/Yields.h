//===- Yields.h - Hints to let other lanes go first -------------*- C++ -*-===//
//
// Part of CudaRaceSanitizer, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// ptxas puts a YIELD where lanes may wait for what other lanes of their warp
// write: at the head of a function or a loop that reads strongly, or updates
// atomically. A lane that executes it releases the lanes that wait for it at
// the end of a branch: these go on without it, and the warp is in two parts,
// where without the check it would be in one (docs/convergence.md). The runtime
// reads strongly and waits for no lane of its own warp, nor do the checks in
// line; so the hint comes out of the runtime, and of functions in which only
// checks read strongly.
//
//===----------------------------------------------------------------------===//
#ifndef CRSAN_PTX_YIELDS_H
#define CRSAN_PTX_YIELDS_H

#include <functional>
#include <span>
#include <string_view>

namespace crsan::ptx {

/// Makes each YIELD a NOP in the functions of an object file of the device's
/// for which `IsWanted` holds, and returns how many there were. What is not an
/// ELF file, or of sections outside of it, stays as it is.
unsigned
removeYields(std::span<char> Object,
             const std::function<bool(std::string_view Function)> &IsWanted);

} // namespace crsan::ptx

#endif // CRSAN_PTX_YIELDS_H

//===- Yields.h - Hints to let other lanes go first -------------*- C++ -*-===//
//
// Part of CudaRaceSanitizer, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// ptxas puts a YIELD where lanes may wait for what other lanes of their warp
// write: at the head of a function or a loop that reads strongly, or updates
// atomically. On an H200, lanes that wait for a YIELDing one at the end of a
// branch wait no longer, and it does not join them there: from then on, each
// part of the warp executes everything for itself. The checks in line wait for
// nobody, and the runtime only sleeps while another lane gives a function's
// sites their indices (giveIndices); so where only these read strongly, the
// hint comes out again.
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

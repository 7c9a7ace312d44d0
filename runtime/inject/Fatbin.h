//===- Fatbin.h - The cubins in what a program loads ------------*- C++ -*-===//
//
// Part of CudaRaceSanitizer, under the Apache License v2.0 with LLVM
// Exceptions. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
#ifndef CRSAN_INJECT_FATBIN_H
#define CRSAN_INJECT_FATBIN_H

#include <cstdint>
#include <span>

namespace crsan {

/// The cubin that the driver takes for a device of compute capability
/// Major.Minor from the argument of cuLibraryLoadData or cuModuleLoadData: a
/// wrapped or plain fat binary, or a cubin. Empty if there is none, if it is
/// compressed, or if the driver compiles PTX.
///
/// For code whose image CUPTI does not show.
std::span<const uint8_t> findCubin(const void *Code, int Major, int Minor);

} // namespace crsan

#endif // CRSAN_INJECT_FATBIN_H

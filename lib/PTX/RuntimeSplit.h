//===- RuntimeSplit.h - A module's PTX, without the runtime -----*- C++ -*-===//
//
// Part of CudaRaceSanitizer, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// In whole-program mode ptxas compiles a copy of the device runtime for every
// kernel, and gives every kernel the registers that the copy needs. Assembled
// apart and linked by nvlink, the runtime is compiled once, and within a limit
// of registers of its own.
//
//===----------------------------------------------------------------------===//
#ifndef CRSAN_PTX_RUNTIMESPLIT_H
#define CRSAN_PTX_RUNTIMESPLIT_H

#include <optional>
#include <string>
#include <string_view>

namespace crsan::ptx {

struct RuntimeSplit {
  std::string Program; ///< The user's code, which declares the runtime's names.
  std::string Runtime; ///< The runtime's definitions.
};

/// Splits the PTX of an instrumented module at file scope: objects and
/// functions whose names begin with `__crsan_` are the runtime's, except the
/// module's own sites, windows and table. Nothing if there is no runtime in it,
/// or the text is not understood; it is then to be assembled as it is.
std::optional<RuntimeSplit> splitRuntime(std::string_view PTX);

} // namespace crsan::ptx

#endif // CRSAN_PTX_RUNTIMESPLIT_H

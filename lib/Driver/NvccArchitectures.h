// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// The architectures that -arch, -code and -gencode name.
#ifndef CRSAN_DRIVER_NVCCARCHITECTURES_H
#define CRSAN_DRIVER_NVCCARCHITECTURES_H

#include "llvm/ADT/StringRef.h"
#include "llvm/Support/Error.h"

#include <string>
#include <vector>

namespace crsan::driver {

/// The value of -arch or an item of -code, in clang's words. Clang compiles the
/// same source for a real and its virtual architecture, so that sm_90,
/// compute_90 and lto_90 are one.
llvm::Expected<std::vector<std::string>>
translateArchitecture(llvm::StringRef Name);

/// The value of -gencode.
llvm::Expected<std::vector<std::string>>
translateGenerateCode(llvm::StringRef Value);

/// The value of -code: `sm_80,compute_80`, in brackets or not.
llvm::Expected<std::vector<std::string>> translateCode(llvm::StringRef Value);

/// A line for each architecture of -arch=all, with \p Prefix (`sm_`).
std::string listArchitectures(llvm::StringRef Prefix);

} // namespace crsan::driver

#endif // CRSAN_DRIVER_NVCCARCHITECTURES_H

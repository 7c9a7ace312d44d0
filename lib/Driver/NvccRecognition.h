// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Which commands are written for nvcc.
#ifndef CRSAN_DRIVER_NVCCRECOGNITION_H
#define CRSAN_DRIVER_NVCCRECOGNITION_H

#include "llvm/ADT/ArrayRef.h"

#include <string>

namespace crsan::driver {

/// Whether the words are a command for nvcc: one has a meaning for nvcc and
/// none for clang. With the sanitizer \p On, `--cudart=` is an option of
/// CRSan's.
bool isNvccCommand(llvm::ArrayRef<std::string> Words, bool On);

} // namespace crsan::driver

#endif // CRSAN_DRIVER_NVCCRECOGNITION_H

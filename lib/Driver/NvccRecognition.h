// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Which commands are written for nvcc, and the words that they have.
#ifndef CRSAN_DRIVER_NVCCRECOGNITION_H
#define CRSAN_DRIVER_NVCCRECOGNITION_H

#include "llvm/ADT/ArrayRef.h"

#include <string>
#include <vector>

namespace crsan::driver {

/// Whether the words are a command for nvcc: one has a meaning for nvcc and
/// none for clang. With the sanitizer \p On, `--cudart=` is an option of
/// CRSan's.
bool isNvccCommand(llvm::ArrayRef<std::string> Words, bool On);

/// \p Words between those of NVCC_PREPEND_FLAGS and NVCC_APPEND_FLAGS.
std::vector<std::string>
withNvccEnvironment(const std::vector<std::string> &Words);

} // namespace crsan::driver

#endif // CRSAN_DRIVER_NVCCRECOGNITION_H

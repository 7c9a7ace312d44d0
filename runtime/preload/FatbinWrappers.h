// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Where an executable tells CUDA of its code.
#ifndef CRSAN_PRELOAD_FATBINWRAPPERS_H
#define CRSAN_PRELOAD_FATBINWRAPPERS_H

#include <cstdint>
#include <vector>

namespace crsan {

/// What a compiler makes of a fat binary in a host program
/// (fatbinary_section.h of the toolkit), and what the program's constructor
/// gives to __cudaRegisterFatBinary.
struct FatbinWrapper {
  static constexpr uint32_t Linked = 2; ///< Made by nvcc's device linker.
  uint32_t Magic, Version;
  const void *Data; ///< The fat binary.
  const void *const *Prelinked;
};
static_assert(sizeof(FatbinWrapper) == 24);

/// Those of the executable: all that is in its section .nvFatBinSegment.
std::vector<FatbinWrapper *> wrappersOfExecutable();

/// Makes a wrapper refer to another fat binary, which must live as long as the
/// process. False: its memory cannot be written.
bool replaceData(FatbinWrapper &Wrapper, const void *Data);

} // namespace crsan

#endif // CRSAN_PRELOAD_FATBINWRAPPERS_H

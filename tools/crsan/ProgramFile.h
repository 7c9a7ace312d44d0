// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// What a program needs to run.
#ifndef CRSAN_TOOLS_CRSAN_PROGRAMFILE_H
#define CRSAN_TOOLS_CRSAN_PROGRAMFILE_H

#include <optional>
#include <string>
#include <vector>

namespace crsan {

/// What the dynamic section and the section names of an executable say.
struct ProgramFile {
  std::vector<std::string> Libraries; ///< DT_NEEDED.
  /// DT_RPATH, which the loader searches before LD_LIBRARY_PATH.
  bool HasOldRunPath = false;
  bool HasDeviceCode = false;
  bool IsDynamic = false;

  /// Nothing if the file is no 64-bit ELF program: a script, for one.
  static std::optional<ProgramFile> read(const std::string &Path);

  /// The CUDA runtime that it is linked to: "libcudart.so.13", or "".
  std::string cudaRuntime() const;
};

} // namespace crsan

#endif // CRSAN_TOOLS_CRSAN_PROGRAMFILE_H

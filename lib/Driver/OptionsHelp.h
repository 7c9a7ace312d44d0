// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// What --help, the man pages and the shells' completion say of the compiler
// options that are CRSan's.
#ifndef CRSAN_DRIVER_OPTIONSHELP_H
#define CRSAN_DRIVER_OPTIONSHELP_H

#include <string>
#include <vector>

namespace crsan::driver {

enum class Compilers { Both, Clang };

/// A compiler option of CRSan's (RaceOptions.def, Modes.def).
struct CompilerOption {
  std::string Spelling;
  Compilers For;
  std::string Description;
};
std::vector<CompilerOption> compilerOptions();

/// What --help says of \p Program in front of the lines of \p Wrapped, the
/// program that it runs. crsan-nvcc (\p IsNvcc) has fewer options.
std::string optionsHelp(const std::string &Program, const std::string &Wrapped,
                        bool IsNvcc);

} // namespace crsan::driver

#endif // CRSAN_DRIVER_OPTIONSHELP_H

// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// nvcc's command line, word by word.
#ifndef CRSAN_NVCC_NVCCLINE_H
#define CRSAN_NVCC_NVCCLINE_H

#include "CommandLine.h"
#include "llvm/ADT/ArrayRef.h"

namespace crsan::nvcc {

using Words = std::vector<std::string>;

/// \p Arguments, with the contents of files that `--options-file` names in
/// place of that option, and the words of NVCC_PREPEND_FLAGS and
/// NVCC_APPEND_FLAGS around them, as nvcc reads them.
Words allWords(const Words &Arguments);

/// The arguments of nvcc, apart. None of them is one of clang's options.
driver::CommandLine parse(const Words &Given);

/// What nvcc is asked for.
class NvccLine {
public:
  explicit NvccLine(const driver::CommandLine &Line) : Line(Line) {}

  /// Whether one of these options is there, in any spelling. \p Names are
  /// nvcc's long ones.
  bool has(llvm::ArrayRef<llvm::StringRef> Names) const;
  /// The values of an option, in order.
  Words values(llvm::StringRef Name) const;

  bool compilesCuda() const;
  /// Whether the command makes an executable or a shared library.
  bool links() const;
  /// Whether the command makes files in which PTX can stand beside machine
  /// code, and does not put it into the machine code (-rdc).
  bool embedsDeviceCode() const;

private:
  const driver::CommandLine &Line;
};

} // namespace crsan::nvcc

#endif // CRSAN_NVCC_NVCCLINE_H

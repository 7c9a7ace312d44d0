// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Clang, and what CRSan brings along.
#ifndef CRSAN_DRIVER_INSTALLATION_H
#define CRSAN_DRIVER_INSTALLATION_H

#include "llvm/Support/Error.h"

#include <string>

namespace crsan::driver {

/// The folder that holds bin/, lib/ and include/crsan/: the build tree, or
/// where CRSan is installed.
struct Installation {
  std::string Root;

  std::string libraryDir() const;   ///< lib, where libcrsan.so is, too
  std::string passPlugin() const;   ///< lib/libCRSanPass.so
  std::string hostRuntime() const;  ///< lib/libcrsan_host.a
  std::string wrappers() const;     ///< lib/libcrsan_wrappers.a
  std::string assembler() const;    ///< bin/crsan-ptxas
  std::string includeDir() const;   ///< include
  std::string compatHeader() const; ///< include/crsan/cuda_compat.h
  std::string clangHeaders() const; ///< include/crsan/clang
  std::string markHeader() const;   ///< include/crsan/instrumented.h
  std::string nvccHeader() const;   ///< include/crsan/from_nvcc.h

  /// \p Argv0 and \p Main as for llvm::sys::fs::getMainExecutable.
  static Installation find(const char *Argv0, void *Main);
};

/// The clang to run: $CRSAN_CLANG, LLVM 22's folder on Debian, then clang-22
/// (or clang++-22) on PATH.
struct Clang {
  std::string Program;
  /// The name does not say C++: ask for it with --driver-mode=g++.
  bool NeedsDriverMode = false;

  static llvm::Expected<Clang> find(bool CXX);
};

} // namespace crsan::driver

#endif // CRSAN_DRIVER_INSTALLATION_H

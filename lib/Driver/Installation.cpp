// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Clang, and what CRSan brings along.
#include "Installation.h"

#include "llvm/ADT/SmallString.h"
#include "llvm/ADT/Twine.h"
#include "llvm/Support/FileSystem.h"
#include "llvm/Support/Path.h"
#include "llvm/Support/Program.h"

#include <cstdlib>

using namespace crsan::driver;
namespace fs = llvm::sys::fs;
namespace path = llvm::sys::path;

static std::string below(llvm::StringRef Root, llvm::StringRef Relative) {
  llvm::SmallString<128> Path(Root);
  path::append(Path, Relative);
  return Path.str().str();
}

std::string Installation::libraryDir() const { return below(Root, "lib"); }
std::string Installation::passPlugin() const {
  return below(Root, "lib/libCRSanPass.so");
}
std::string Installation::hostRuntime() const {
  return below(Root, "lib/libcrsan_host.a");
}
std::string Installation::wrappers() const {
  return below(Root, "lib/libcrsan_wrappers.a");
}
std::string Installation::assembler() const {
  return below(Root, "bin/crsan-ptxas");
}
std::string Installation::includeDir() const { return below(Root, "include"); }
std::string Installation::compatHeader() const {
  return below(Root, "include/crsan/cuda_compat.h");
}

std::string Installation::clangHeaders() const {
  return below(Root, "include/crsan/clang");
}

std::string Installation::markHeader() const {
  return below(Root, "include/crsan/instrumented.h");
}

std::string Installation::nvccHeader() const {
  return below(Root, "include/crsan/from_nvcc.h");
}

Installation Installation::find(const char *Argv0, void *Main) {
  // Resolves links, so that a link to the wrapper elsewhere works.
  llvm::SmallString<128> Real;
  std::string Executable = fs::getMainExecutable(Argv0, Main);
  if (fs::real_path(Executable, Real))
    Real = Executable;
  return {path::parent_path(path::parent_path(Real)).str()};
}

llvm::Expected<Clang> Clang::find(bool CXX) {
  if (const char *Named = getenv("CRSAN_CLANG"); Named && *Named) {
    auto Program = llvm::sys::findProgramByName(Named);
    if (!Program || !fs::can_execute(*Program))
      return llvm::createStringError(
          llvm::Twine("CRSAN_CLANG names '") + Named +
          "', which cannot be run; correct or unset it");
    return Clang{*Program,
                 CXX && !path::filename(*Program).contains("clang++")};
  }
  std::string Debian = below("/usr/lib/llvm-22/bin", CXX ? "clang++" : "clang");
  if (fs::can_execute(Debian))
    return Clang{Debian};
  if (auto Program =
          llvm::sys::findProgramByName(CXX ? "clang++-22" : "clang-22"))
    return Clang{*Program};
  return llvm::createStringError(
      "clang 22 was not found; install clang-22 and clang-tools-22, or set "
      "CRSAN_CLANG to the program");
}

// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// What CUDA users type out of habit.
//
// Options and architectures that clang or ptxas would refuse in terms that do
// not say what to write instead.

#include "Translation.h"

#include "llvm/ADT/SetVector.h"
#include "llvm/ADT/SmallVector.h"
#include "llvm/ADT/StringExtras.h"
#include "llvm/ADT/Twine.h"

using namespace crsan::driver;
using llvm::StringRef;

llvm::Error crsan::driver::checkOffloadLto(const CommandLine &Line) {
  for (const Argument &A : Line.Arguments)
    // Clang 22 hands ptxas a program with debugging switched on.
    if (!A.IsInput && A.spelling().starts_with("-foffload-lto"))
      return llvm::createStringError(
          "'-foffload-lto' does not work with line tables, which CRSan needs; "
          "leave it out (-fgpu-rdc alone works)");
  return llvm::Error::success();
}

llvm::Expected<bool>
crsan::driver::checkArchitectures(const CommandLine &Line) {
  llvm::SetVector<StringRef> Archs;
  bool Named = false;
  for (const Argument &A : Line.Arguments) {
    llvm::SmallVector<StringRef, 4> Parts;
    if (A.matches(options::OPT_offload_arch_EQ))
      for (StringRef Value : A.Values)
        Value.split(Parts, ',');
    for (StringRef Part : Parts)
      Archs.insert(Part.trim());
    Named |= !Parts.empty();
    if (A.matches(options::OPT_no_offload_arch_EQ))
      for (StringRef Value : A.Values) {
        if (Value == "all")
          Archs.clear();
        Archs.remove(Value);
      }
  }
  for (StringRef Arch : Archs) {
    StringRef Digits = Arch;
    unsigned Version = 0;
    if (Digits.consume_front("sm_") && !Digits.consumeInteger(10, Version) &&
        Version < 70)
      return llvm::createStringError(
          llvm::Twine("'") + Arch +
          "' is older than sm_70, the oldest that CRSan works on (CUDA 13 has "
          "sm_75 and up); write --offload-arch=sm_75 or newer");
  }
  return Named && !Archs.empty();
}

// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// What CUDA users type out of habit.
//
// Options and architectures that clang would refuse in terms that do not say
// what to write instead.

#include "Translation.h"

#include "llvm/ADT/SetVector.h"
#include "llvm/ADT/SmallVector.h"
#include "llvm/ADT/StringExtras.h"
#include "llvm/ADT/Twine.h"

using namespace crsan::driver;
using llvm::StringRef;

namespace {
/// An option of nvcc's (also followed by `=value` or, if Joined, by anything)
/// and how clang spells it.
struct NvccOption {
  StringRef Spelling;
  StringRef Clang;
};
} // namespace

static constexpr NvccOption NvccOptions[] = {
    {"-gencode", "--offload-arch=sm_NN, once for each architecture"},
    {"--generate-code", "--offload-arch=sm_NN, once for each architecture"},
    {"-arch", "--offload-arch=sm_NN"},
    {"--gpu-architecture", "--offload-arch=sm_NN"},
    {"-code", "--offload-arch=sm_NN"},
    {"--gpu-code", "--offload-arch=sm_NN"},
    {"-rdc", "-fgpu-rdc"},
    {"--relocatable-device-code", "-fgpu-rdc"},
    {"-dc", "-fgpu-rdc -c"},
    {"--device-c", "-fgpu-rdc -c"},
    {"-dlink", "nothing: linking the objects links device code too"},
    {"--device-link", "nothing: linking the objects links device code too"},
    {"-ptx", "--cuda-device-only -S"},
    {"--ptx", "--cuda-device-only -S"},
    {"-cubin", "--cuda-device-only -c"},
    {"-lineinfo", "-gline-tables-only, which CRSan adds"},
    {"--generate-line-info", "-gline-tables-only, which CRSan adds"},
    {"--device-debug", "-g --cuda-noopt-device-debug"},
    {"-use_fast_math", "-ffast-math -fgpu-approx-transcendentals"},
    {"--use_fast_math", "-ffast-math -fgpu-approx-transcendentals"},
    {"-maxrregcount", "-Xcuda-ptxas --maxrregcount=N"},
    {"--maxrregcount", "-Xcuda-ptxas --maxrregcount=N"},
    {"-Xptxas", "-Xcuda-ptxas OPTION"},
    {"--ptxas-options", "-Xcuda-ptxas OPTION"},
    {"-Xcompiler",
     "the host compiler's option itself: clang is the host compiler"},
    {"--compiler-options",
     "the host compiler's option itself: clang is the host compiler"},
    {"-ccbin", "nothing: clang is the host compiler"},
    {"--compiler-bindir", "nothing: clang is the host compiler"},
    {"--expt-relaxed-constexpr", "nothing: clang allows it"},
    {"-expt-relaxed-constexpr", "nothing: clang allows it"},
    {"--extended-lambda", "nothing: clang allows it"},
    {"-extended-lambda", "nothing: clang allows it"},
    {"--expt-extended-lambda", "nothing: clang allows it"},
    {"-expt-extended-lambda", "nothing: clang allows it"},
};

llvm::Error crsan::driver::checkNvccOptions(const CommandLine &Line) {
  for (const Argument &A : Line.Arguments) {
    if (A.IsInput)
      continue;
    // Clang 22 hands ptxas a program with debugging switched on.
    if (A.spelling().starts_with("-foffload-lto"))
      return llvm::createStringError(
          "'-foffload-lto' does not work with line tables, which CRSan needs; "
          "leave it out (-fgpu-rdc alone works)");
    StringRef Bare = A.spelling().split('=').first;
    for (const NvccOption &Option : NvccOptions)
      if (Bare == Option.Spelling)
        return llvm::createStringError(
            llvm::Twine("'") + llvm::join(A.Words, " ") +
            "' is nvcc's; with clang write " + Option.Clang);
  }
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

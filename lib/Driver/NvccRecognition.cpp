// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Which commands are written for nvcc, and the words that they have.
#include "NvccRecognition.h"
#include "CommandLine.h"
#include "NvccOptions.h"

#include "llvm/ADT/STLExtras.h"

#include <cstdlib>

using namespace crsan::driver;
using llvm::StringRef;

/// Whether clang takes the name of nvcc's option for the beginning of another
/// one, which means nothing: it ignores -d..., -G and -Xcompiler on this host,
/// and no symbol is called se_fast_math, nor a library ineinfo.
static bool isMeaninglessToClang(StringRef ClangName, StringRef Word) {
  return Word == "-lineinfo" || ClangName == "-d" || ClangName == "-u" ||
         ClangName == "-b" || ClangName == "-G" || ClangName == "-arch" ||
         ClangName == "-Xcompiler";
}

static bool makesArchive(llvm::ArrayRef<std::string> Words) {
  const std::optional<std::string> Output =
      CommandLine::parse(Words).last(options::OPT_o);
  return Output && StringRef(*Output).ends_with(".a");
}

bool crsan::driver::isNvccCommand(llvm::ArrayRef<std::string> Words, bool On) {
  for (size_t I = 0; I < Words.size() && Words[I] != "--";) {
    const llvm::ArrayRef<std::string> Rest = Words.drop_front(I);
    const StringRef Word = Rest.front();
    if (Word == "-" || !Word.starts_with("-")) {
      ++I;
      continue;
    }
    const Argument Clang = readOption(Rest);
    I += Clang.Words.size();
    const std::optional<NvccWord> W = readNvccWord(Rest);
    if (!W || W->LacksValue || (On && W->Option->Rule == NvccRule::CudaRuntime))
      continue;
    const bool Exact = W->Option->Long == Word || W->Option->Short == Word;
    if (!Clang.Option ||
        (Exact && isMeaninglessToClang(Clang.Option->getPrefixedName(), Word)))
      return true;
    if ((W->Option->Rule == NvccRule::Language && W->Value == "cu") ||
        (W->Option->Rule == NvccRule::Werror && !Word.contains('=') &&
         isNvccWerror(*W)) ||
        (W->Option->Rule == NvccRule::Library && makesArchive(Words)))
      return true;
  }
  return false;
}

std::vector<std::string>
crsan::driver::withNvccEnvironment(const std::vector<std::string> &Words) {
  auto Variable = [](const char *Name) {
    const char *Value = getenv(Name);
    return splitShellWords(Value ? Value : "");
  };
  std::vector<std::string> All = Variable("NVCC_PREPEND_FLAGS");
  llvm::append_range(All, Words);
  llvm::append_range(All, Variable("NVCC_APPEND_FLAGS"));
  return All;
}

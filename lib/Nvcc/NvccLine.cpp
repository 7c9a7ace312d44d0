// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// nvcc's command line, word by word.
#include "NvccLine.h"

#include "llvm/ADT/STLExtras.h"
#include "llvm/Support/Allocator.h"
#include "llvm/Support/CommandLine.h"
#include "llvm/Support/MemoryBuffer.h"
#include "llvm/Support/StringSaver.h"

#include <cstdlib>

using namespace crsan::nvcc;
using crsan::driver::Argument;
using crsan::driver::CommandLine;
using crsan::driver::InputKind;
using llvm::ArrayRef;
using llvm::StringRef;

static constexpr StringRef ValueOptions[] = {
#define NVCC_VALUE_OPTION(Name) Name,
#include "NvccOptions.def"
};

static bool isOption(StringRef Word) {
  return Word.starts_with("-") && Word.size() > 1;
}

/// The name of an option, without dashes and value.
static StringRef nameOf(StringRef Word) {
  return Word.ltrim('-').split('=').first;
}

static bool takesNextWord(StringRef Word) {
  return isOption(Word) && !Word.contains('=') &&
         llvm::is_contained(ValueOptions, nameOf(Word));
}

static Words split(StringRef Text) {
  llvm::BumpPtrAllocator Allocator;
  llvm::StringSaver Saver(Allocator);
  llvm::SmallVector<const char *, 32> Parts;
  llvm::cl::TokenizeGNUCommandLine(Text, Saver, Parts);
  return Words(Parts.begin(), Parts.end());
}

static Words fromEnvironment(const char *Variable) {
  const char *Text = getenv(Variable);
  return Text ? split(Text) : Words();
}

/// Appends \p Given. A file that cannot be read stays a word, for nvcc to
/// complain about, and so does one in a file.
static void expand(Words &Out, ArrayRef<std::string> Given, bool InFile) {
  for (size_t I = 0; I < Given.size(); ++I) {
    const StringRef Word = Given[I];
    if (InFile || !isOption(Word) ||
        (nameOf(Word) != "options-file" && nameOf(Word) != "optf")) {
      Out.push_back(Given[I]);
      // The value of another option is none of these.
      if (takesNextWord(Word) && I + 1 < Given.size())
        Out.push_back(Given[++I]);
      continue;
    }
    std::string File = Word.split('=').second.str();
    if (!Word.contains('=') && I + 1 < Given.size())
      File = Given[++I];
    if (auto Buffer = llvm::MemoryBuffer::getFile(File))
      expand(Out, split((*Buffer)->getBuffer()), /*InFile=*/true);
    else
      Out.insert(Out.end(), {"--options-file", File});
  }
}

Words crsan::nvcc::allWords(ArrayRef<std::string> Arguments) {
  Words All = fromEnvironment("NVCC_PREPEND_FLAGS");
  llvm::append_range(All, Arguments);
  llvm::append_range(All, fromEnvironment("NVCC_APPEND_FLAGS"));
  Words Out;
  expand(Out, All, /*InFile=*/false);
  return Out;
}

CommandLine crsan::nvcc::parse(const Words &Given) {
  CommandLine Line;
  std::string Language;
  for (size_t I = 0; I < Given.size(); ++I) {
    Argument A;
    A.Words = {Given[I]};
    if (!isOption(Given[I]))
      A.IsInput = true;
    else if (takesNextWord(Given[I]) && I + 1 < Given.size())
      A.Words.push_back(Given[++I]);
    if (!A.IsInput && nameOf(A.spelling()) == "x")
      Language = A.Words.size() > 1 ? A.Words[1]
                                    : A.spelling().split('=').second.str();
    Line.Arguments.push_back(std::move(A));
  }
  // nvcc's -x is for all inputs, wherever it stands.
  for (Argument &A : Line.Arguments)
    if (A.IsInput) {
      A.Language = Language;
      A.Input = Language.empty()   ? driver::kindOfFile(A.spelling())
                : Language == "cu" ? InputKind::Cuda
                                   : InputKind::Host;
    }
  return Line;
}

bool NvccLine::has(ArrayRef<StringRef> Names) const {
  return llvm::any_of(Line.Arguments, [&](const Argument &A) {
    return !A.IsInput && llvm::is_contained(Names, nameOf(A.spelling()));
  });
}

Words NvccLine::values(ArrayRef<StringRef> Names) const {
  Words Found;
  for (const Argument &A : Line.Arguments)
    if (!A.IsInput && llvm::is_contained(Names, nameOf(A.spelling())))
      Found.push_back(A.Words.size() > 1
                          ? A.Words[1]
                          : A.spelling().split('=').second.str());
  return Found;
}

bool NvccLine::compilesCuda() const { return Line.hasInput(InputKind::Cuda); }

bool NvccLine::links() const {
  return Line.hasAnyInput() && !has({"c",
                                     "compile",
                                     "dc",
                                     "device-c",
                                     "dw",
                                     "device-w",
                                     "dlink",
                                     "device-link",
                                     "lib",
                                     "r",
                                     "relocatable-link",
                                     "cubin",
                                     "fatbin",
                                     "ptx",
                                     "cuda",
                                     "E",
                                     "preprocess",
                                     "M",
                                     "generate-dependencies",
                                     "MM",
                                     "generate-nonsystem-dependencies",
                                     "clean",
                                     "clean-targets",
                                     "fdevice-syntax-only"});
}

bool NvccLine::embedsDeviceCode() const {
  const Words Relocatable = values({"rdc", "relocatable-device-code"});
  return compilesCuda() &&
         (Relocatable.empty() || Relocatable.back() != "true") &&
         !has({"dc", "device-c", "cubin", "ptx", "E", "preprocess", "M",
               "generate-dependencies", "MM", "generate-nonsystem-dependencies",
               "clean", "clean-targets", "fdevice-syntax-only"});
}

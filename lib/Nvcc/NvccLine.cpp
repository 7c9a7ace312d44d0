// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// nvcc's command line, word by word.
#include "NvccLine.h"
#include "NvccOptions.h"
#include "NvccRecognition.h"

#include "llvm/ADT/STLExtras.h"
#include "llvm/Support/MemoryBuffer.h"

using namespace crsan;
using namespace crsan::nvcc;
using crsan::driver::Argument;
using crsan::driver::CommandLine;
using crsan::driver::InputKind;
using llvm::ArrayRef;
using llvm::StringRef;

static std::optional<driver::NvccWord> optionIn(ArrayRef<std::string> Words) {
  const StringRef Word = Words.front();
  if (!Word.starts_with("-") || Word == "-")
    return std::nullopt;
  return driver::readNvccWord(Words);
}

/// Appends \p Given. A file that cannot be read stays a word, for nvcc to
/// complain about, and so does one in a file.
static void expand(Words &Out, ArrayRef<std::string> Given, bool InFile) {
  for (size_t I = 0; I < Given.size();) {
    const std::optional<driver::NvccWord> Option =
        optionIn(Given.drop_front(I));
    const size_t Length = Option ? Option->Length : 1;
    if (!InFile && Option && Option->Option->Long == "--options-file")
      if (auto Buffer = llvm::MemoryBuffer::getFile(Option->Value)) {
        expand(Out, driver::splitShellWords((*Buffer)->getBuffer()),
               /*InFile=*/true);
        I += Length;
        continue;
      }
    llvm::append_range(Out, Given.slice(I, Length));
    I += Length;
  }
}

Words crsan::nvcc::allWords(const Words &Arguments) {
  Words Out;
  expand(Out, driver::withNvccEnvironment(Arguments), /*InFile=*/false);
  return Out;
}

CommandLine crsan::nvcc::parse(const Words &Given) {
  CommandLine Line;
  std::string Language;
  for (size_t I = 0; I < Given.size();) {
    const auto Rest = ArrayRef(Given).drop_front(I);
    const std::optional<driver::NvccWord> Option = optionIn(Rest);
    const size_t Length = Option ? Option->Length : 1;
    Argument A;
    A.Words = Rest.take_front(Length).vec();
    A.IsInput = !StringRef(Given[I]).starts_with("-") || Given[I] == "-";
    if (Option && Option->Option->Long == "--x")
      Language = Option->Value;
    Line.Arguments.push_back(std::move(A));
    I += Length;
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
    const std::optional<driver::NvccWord> Option = optionIn(A.Words);
    return Option && llvm::is_contained(Names, Option->Option->Long);
  });
}

Words NvccLine::values(StringRef Name) const {
  Words Found;
  for (const Argument &A : Line.Arguments)
    if (const auto Option = optionIn(A.Words);
        Option && Option->Option->Long == Name)
      Found.push_back(Option->Value);
  return Found;
}

bool NvccLine::compilesCuda() const { return Line.hasInput(InputKind::Cuda); }

bool NvccLine::links() const {
  return Line.hasAnyInput() &&
         !has({"--compile", "--device-c", "--device-w", "--device-link",
               "--lib", "--relocatable-link", "--cubin", "--fatbin", "--ptx",
               "--cuda", "--preprocess", "--generate-dependencies",
               "--generate-nonsystem-dependencies", "--clean-targets",
               "--fdevice-syntax-only"});
}

bool NvccLine::embedsDeviceCode() const {
  const Words Relocatable = values("--relocatable-device-code");
  return compilesCuda() &&
         (Relocatable.empty() || Relocatable.back() != "true") &&
         !has({"--device-c", "--cubin", "--ptx", "--preprocess",
               "--generate-dependencies", "--generate-nonsystem-dependencies",
               "--clean-targets", "--fdevice-syntax-only"});
}

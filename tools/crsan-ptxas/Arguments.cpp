// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// The command lines of crsan-ptxas.

#include "Arguments.h"
#include "llvm/ADT/STLExtras.h"
#include "llvm/ADT/StringExtras.h"
#include "llvm/Support/Allocator.h"
#include "llvm/Support/CommandLine.h"
#include "llvm/Support/MemoryBuffer.h"
#include "llvm/Support/StringSaver.h"

using namespace llvm;

namespace crsan::ptxas {

/// Options of ptxas whose value may be the next word, without dashes. Those
/// that the reader acts on are not among them.
static constexpr StringRef ValueOptions[] = {"Ofast-compile",
                                             "Ofc",
                                             "allow-expensive-optimizations",
                                             "def-load-cache",
                                             "dlcm",
                                             "def-store-cache",
                                             "dscm",
                                             "device-function-maxrregcount",
                                             "func-maxrregcount",
                                             "device-stack-protector",
                                             "entry",
                                             "e",
                                             "fmad",
                                             "force-load-cache",
                                             "flcm",
                                             "force-store-cache",
                                             "fscm",
                                             "machine",
                                             "m",
                                             "maxntid",
                                             "minnctapersm",
                                             "opt-level",
                                             "position-independent-code",
                                             "pic",
                                             "register-usage-level",
                                             "regUsageLevel",
                                             "sanitize",
                                             "split-compile"};

static constexpr StringRef WordOptions[] = {
    "--version", "-V", "--help", "-h", "--list-version", "-version-ls"};

std::string ownHelp() {
  std::string Text = "crsan-ptxas is ptxas, and puts checks for data races "
                     "into PTX that has none:\n\n";
  const auto Add = [&](StringRef Spelling, StringRef Description) {
    Text += ("  " + Spelling + "\n        " + Description + "\n").str();
  };
#define CRSAN_PTXAS_OPTION(Spelling, Description) Add(Spelling, Description);
#define CRSAN_PTXAS_VARIABLE(Name, Description)                                \
  Add(Name " (environment)", Description);
#include "crsan/PtxasOptions.def"
  return Text + "\nThe options of ptxas follow.\n\n";
}

Expected<Mode> modeOf(StringRef Name, StringRef Where) {
  std::string Known;
#define CRSAN_MODE(Enumerator, ModeName, Description)                          \
  if (Name == ModeName)                                                        \
    return Mode::Enumerator;                                                   \
  Known += Known.empty() ? ModeName : ", " ModeName;
#include "crsan/Modes.def"
  return createStringError(Where + "=" + Name + ": choose " + Known);
}

namespace {
/// Of an option that is not known, neither its meaning nor whether its value is
/// the next word is known: it is passed on.
class Reader {
public:
  explicit Reader(ArrayRef<const char *> Words)
      : Saver(Allocator), Rest(Words.rbegin(), Words.rend()) {}
  Expected<Arguments> read();

private:
  std::optional<std::string> value(StringRef Word, ArrayRef<StringRef> Names);
  Expected<bool> readOwn(StringRef Word);
  Expected<bool> readFile(StringRef Word);
  Error readLimit(StringRef Value);
  void readFlag(StringRef Word);

  /// The next word, which the user gave.
  StringRef take() {
    const StringRef Word = Rest.pop_back_val();
    A.Given.push_back(Word.str());
    return Word;
  }

  BumpPtrAllocator Allocator;
  StringSaver Saver;
  SmallVector<const char *, 32> Rest; ///< The next one last.
  Arguments A;
};
} // namespace

/// The value of the option in `Word`, if it has one of these names: the text
/// behind `=`, or the next word.
std::optional<std::string> Reader::value(StringRef Word,
                                         ArrayRef<StringRef> Names) {
  const auto [Name, Joined] = Word.split('=');
  if (!is_contained(Names, Name))
    return std::nullopt;
  if (Name.size() != Word.size() || Rest.empty())
    return Joined.str();
  return take().str();
}

Error Reader::readLimit(StringRef Value) {
  unsigned Most;
  if (Value.getAsInteger(10, Most))
    return createStringError("'--maxrregcount=" + Value +
                             "': the limit of registers is not a number");
  A.Request.MaxRegisters = std::min(A.Request.MaxRegisters, Most);
  return Error::success();
}

/// Options of CRSan's, which ptxas does not get.
Expected<bool> Reader::readOwn(StringRef Word) {
  if (!Word.consume_front("--crsan-"))
    return false;
  const auto [Name, Value] = Word.split('=');
  if (Word == "rewrite")
    A.OnlyRewrites = true;
  else if (Name == "fatbin") {
    A.OnlyRewrites = true;
    for (StringRef Architecture : split(Value, ','))
      A.FatbinFor.push_back(Architecture.str());
  } else if (Name == "toolkit")
    A.Request.Toolkit = Value.str();
  else if (Name == "cicc")
    A.Compiler = Value.str();
  else if (Name == "mode") {
    Expected<Mode> Named = modeOf(Value, "--crsan-mode");
    if (!Named)
      return Named.takeError();
    A.Checks = *Named;
  } else
    return createStringError("unknown option '--crsan-" + Word + "'");
  A.Given.pop_back();
  return true;
}

/// `--options-file`, whose words take its place.
Expected<bool> Reader::readFile(StringRef Word) {
  const auto File = value(Word, {"--options-file", "-optf"});
  if (!File)
    return false;
  auto Buffer = MemoryBuffer::getFile(*File);
  if (!Buffer)
    return createStringError("cannot read '" + *File +
                             "': " + Buffer.getError().message());
  SmallVector<const char *, 16> Words;
  cl::TokenizeGNUCommandLine((*Buffer)->getBuffer(), Saver, Words);
  A.Given.pop_back();
  if (!Word.contains('='))
    A.Given.pop_back();
  Rest.append(Words.rbegin(), Words.rend());
  return true;
}

/// What is passed on.
void Reader::readFlag(StringRef Word) {
  A.AsksForWords |= is_contained(WordOptions, Word);
  A.Request.IsRelocatable |= Word == "-c" || Word == "--compile-only";
  A.Request.IsDebug |= Word == "-g" || Word == "--device-debug";
  A.Request.Flags.push_back(Word.str());
  if (Word.starts_with("-") && !Word.contains('=') &&
      is_contained(ValueOptions, Word.ltrim('-')) && !Rest.empty())
    A.Request.Flags.push_back(take().str());
}

Expected<Arguments> Reader::read() {
  while (!Rest.empty()) {
    const StringRef Word = take();
    Expected<bool> IsDone = readOwn(Word);
    if (IsDone && !*IsDone && A.Compiler.empty())
      IsDone = readFile(Word);
    if (!IsDone)
      return IsDone.takeError();
    if (*IsDone || !A.Compiler.empty())
      continue;
    if (auto File = value(Word, {"--output-file", "-o"}))
      A.Request.Output = *File;
    else if (auto Name = value(Word, {"--gpu-name", "-arch"}))
      A.Request.Architecture = *Name;
    else if (auto Limit = value(Word, {"--maxrregcount", "-maxrregcount"})) {
      if (Error E = readLimit(*Limit))
        return std::move(E);
    } else if (value(Word, {"--input-as-string", "-ias"}))
      A.HasText = true;
    else if (!Word.starts_with("-") || Word == "-")
      A.Inputs.push_back(Word.str());
    else
      readFlag(Word);
  }
  return std::move(A);
}

Expected<Arguments> Arguments::read(ArrayRef<const char *> Words) {
  return Reader(Words).read();
}

} // namespace crsan::ptxas

// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// ptxas for instrumented modules.
//
// crsan-clang has clang run this program in place of ptxas, with ptxas's
// arguments and --crsan-toolkit=ROOT. lib/Assembler does the work.

#include "Assembly.h"
#include "ProjectVersion.h"
#include "llvm/ADT/STLExtras.h"
#include "llvm/ADT/StringSwitch.h"
#include "llvm/Support/raw_ostream.h"
#include <optional>

using namespace llvm;
using crsan::assembler::Request;

namespace {

/// The arguments of ptxas. Of an option that is not named here, neither its
/// meaning nor whether its value is the next word is known: it is passed on.
class ArgumentReader {
public:
  explicit ArgumentReader(ArrayRef<const char *> Arguments) : Rest(Arguments) {}
  Expected<Request> read();

private:
  std::optional<StringRef> value(StringRef Word, ArrayRef<StringRef> Names);
  Error readLimit(StringRef Value);
  Error check() const;

  ArrayRef<const char *> Rest;
  Request R;
};

/// The value of the option in `Word`, if it has one of these names: the text
/// behind `=`, or the next word.
std::optional<StringRef> ArgumentReader::value(StringRef Word,
                                               ArrayRef<StringRef> Names) {
  const auto [Name, Joined] = Word.split('=');
  if (!is_contained(Names, Name))
    return std::nullopt;
  if (Name.size() != Word.size() || Rest.empty())
    return Joined;
  return StringRef(Rest.consume_front());
}

Error ArgumentReader::readLimit(StringRef Value) {
  unsigned Most;
  if (Value.getAsInteger(10, Most))
    return createStringError("'--maxrregcount=" + Value +
                             "': the limit of registers is not a number");
  R.MaxRegisters = std::min(R.MaxRegisters, Most);
  return Error::success();
}

Error ArgumentReader::check() const {
  if (R.Toolkit.empty())
    return createStringError(
        "crsan-ptxas is run by crsan-clang, with --crsan-toolkit=ROOT");
  if (R.Input.empty() || R.Output.empty() || R.Architecture.empty())
    return createStringError("crsan-ptxas needs an input file, --output-file "
                             "and --gpu-name");
  return Error::success();
}

Expected<Request> ArgumentReader::read() {
  while (!Rest.empty()) {
    const StringRef Word = Rest.consume_front();
    if (auto Toolkit = value(Word, {"--crsan-toolkit"}))
      R.Toolkit = Toolkit->str();
    else if (auto File = value(Word, {"--output-file", "-o"}))
      R.Output = File->str();
    else if (auto Name = value(Word, {"--gpu-name", "-arch"}))
      R.Architecture = Name->str();
    else if (auto Limit = value(Word, {"--maxrregcount", "-maxrregcount"})) {
      if (Error E = readLimit(*Limit))
        return std::move(E);
    } else if (!Word.starts_with("-") && R.Input.empty())
      // A further such word is the value of one of the user's options, which
      // clang puts behind the input.
      R.Input = Word.str();
    else {
      R.IsRelocatable |= Word == "-c" || Word == "--compile-only";
      R.IsDebug |= Word == "-g" || Word == "--device-debug";
      R.Flags.push_back(Word.str());
    }
  }
  if (Error E = check())
    return std::move(E);
  R.Flags.push_back("--gpu-name=" + R.Architecture);
  return std::move(R);
}

} // namespace

int main(int Argc, char **Argv) {
  // Of this program alone: clang gives ptxas no such option.
  if (Argc == 2 && StringRef(Argv[1]) == "--version") {
    outs() << crsan::versionLine() << "\n";
    return 0;
  }
  Expected<Request> R = ArgumentReader(ArrayRef(Argv + 1, Argc - 1)).read();
  Error Failure = R ? crsan::assembler::assemble(*R) : R.takeError();
  if (!Failure)
    return 0;
  errs() << "CRSan: " << toString(std::move(Failure)) << "\n";
  return 1;
}

// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// The options that are CRSan's own.
#include "RaceOptions.h"
#include "DeviceCode.h"

#include "llvm/ADT/STLExtras.h"
#include "llvm/ADT/SmallVector.h"
#include "llvm/ADT/StringExtras.h"
#include "llvm/ADT/Twine.h"
#include "llvm/Support/FileSystem.h"

using namespace crsan::driver;
using llvm::StringRef;

static constexpr StringRef Name = "cuda-race";

static constexpr StringRef Modes[] = {
#define CRSAN_MODE(Enumerator, Name, Description) Name,
#include "crsan/Modes.def"
};

/// Every option in the namespace that is ours, for suggestions.
static constexpr StringRef OwnOptions[] = {
#define CRSAN_MODE(Enumerator, Name, Description)                              \
  "-fsanitize-cuda-race-mode=" Name,
#include "crsan/Modes.def"
#define CRSAN_OWN_OPTION(Spelling, Compilers, Description) Spelling,
#include "RaceOptions.def"
};

static llvm::Error unknownOption(StringRef Spelling) {
  StringRef Nearest = OwnOptions[0];
  for (StringRef Option : OwnOptions)
    if (Spelling.edit_distance(Option) < Spelling.edit_distance(Nearest))
      Nearest = Option;
  return llvm::createStringError(
      llvm::Twine("unknown option '") + Spelling + "'; did you mean '" +
      Nearest + "'? (all: " + llvm::join(llvm::ArrayRef(OwnOptions), ", ") +
      ")");
}

/// Takes `cuda-race` out of a comma-separated list; true if it was there. An
/// option whose list becomes empty loses its words and is dropped later.
static bool takeFromList(Argument &A, StringRef Prefix) {
  llvm::SmallVector<StringRef, 4> Parts, Rest;
  A.value(Prefix)->split(Parts, ',');
  for (StringRef Part : Parts)
    if (Part != Name)
      Rest.push_back(Part);
  if (Rest.size() == Parts.size())
    return false;
  std::string Others = llvm::join(Rest, ",");
  if (Others.empty())
    A.Words.clear();
  else
    A.Words = {(Prefix + Others).str()};
  return true;
}

static bool listHas(const Argument &A, StringRef Prefix, StringRef Item) {
  llvm::SmallVector<StringRef, 4> Parts;
  A.value(Prefix)->split(Parts, ',');
  return llvm::is_contained(Parts, Item);
}

namespace {
/// One pass over the line.
class Extraction {
public:
  RaceOptions Options;

  /// Handles one option: empties its words if it was ours alone.
  llvm::Error visit(Argument &A) {
    if (A.value("-fsanitize=") || A.value("-fno-sanitize="))
      visitSanitize(A);
    else if (A.value("-fsanitize-recover=") || A.is("-fsanitize-recover"))
      visitRecover(A, /*Recover=*/true);
    else if (A.value("-fno-sanitize-recover=") || A.is("-fno-sanitize-recover"))
      visitRecover(A, /*Recover=*/false);
    else if (auto File = A.value("-fsanitize-ignorelist="))
      Options.IgnoreLists.push_back(File->str());
    else if (A.is("-fno-sanitize-ignorelist"))
      Options.IgnoreLists.clear();
    else if (auto List = A.value("-fsanitize-trap=");
             List && listHas(A, "-fsanitize-trap=", Name))
      return llvm::createStringError(
          "'-fsanitize-trap=cuda-race' is chosen at run time: set "
          "CRSAN_OPTIONS=trap=1");
    else if (A.spelling().starts_with("-fsanitize-cuda-race") ||
             A.spelling().starts_with("-fno-sanitize-cuda-race"))
      return visitOwn(A);
    return llvm::Error::success();
  }

private:
  void visitSanitize(Argument &A) {
    bool On = A.spelling().starts_with("-fsanitize=");
    StringRef Prefix = On ? "-fsanitize=" : "-fno-sanitize=";
    if (!On && listHas(A, Prefix, "all"))
      Options.Enabled = false;
    if (!takeFromList(A, Prefix))
      return;
    Options.Enabled = On;
    Options.Mentioned = true;
  }

  void visitRecover(Argument &A, bool Recover) {
    StringRef Prefix =
        Recover ? "-fsanitize-recover=" : "-fno-sanitize-recover=";
    bool All = A.spelling().back() != '=' && !A.value(Prefix);
    if (!All && listHas(A, Prefix, "all"))
      All = true;
    if (!All && !takeFromList(A, Prefix))
      return;
    Options.HaltOnError = !Recover;
    Options.Mentioned |= !All;
  }

  llvm::Error visitOwn(Argument &A) {
    StringRef Spelling = A.spelling();
    if (auto Mode = A.value("-fsanitize-cuda-race-mode=")) {
      if (!llvm::is_contained(Modes, *Mode))
        return llvm::createStringError("'-fsanitize-cuda-race-mode=" + *Mode +
                                       "': choose " +
                                       llvm::join(llvm::ArrayRef(Modes), ", "));
      Options.Mode = Mode->str();
    } else if (Spelling == "-fsanitize-cuda-race-compat-header")
      Options.CompatHeader = true;
    else if (Spelling == "-fno-sanitize-cuda-race-compat-header")
      Options.CompatHeader = false;
    else if (Spelling == "-fsanitize-cuda-race-host")
      Options.Host = true;
    else if (Spelling == "-fno-sanitize-cuda-race-host")
      Options.Host = false;
    else
      return unknownOption(Spelling);
    Options.Mentioned = true;
    A.Words.clear();
    return llvm::Error::success();
  }
};
} // namespace

static void dropEmptied(CommandLine &Line) {
  llvm::erase_if(Line.Arguments,
                 [](const Argument &A) { return A.Words.empty(); });
}

/// Options that clang does not have but that nvcc's users give, and those that
/// are clang's but meant for our pass.
static llvm::Error extractEnabledOnly(CommandLine &Line, RaceOptions &Options) {
  bool OthersOn = llvm::any_of(Line.Arguments, [](const Argument &A) {
    return A.value("-fsanitize=").has_value();
  });
  for (Argument &A : Line.Arguments) {
    std::optional<StringRef> Value;
    for (StringRef Prefix : {"--cudart=", "-cudart=", "--cudart", "-cudart"})
      if (!Value)
        Value = A.value(Prefix);
    if (Value) {
      if (*Value != "static" && *Value != "shared" && *Value != "none")
        return llvm::createStringError("'--cudart=" + *Value +
                                       "': choose static, shared or none");
      Options.CudaRuntime = Value->str();
      A.Words.clear();
      continue;
    }
    if (A.matches(options::OPT_mllvm) &&
        StringRef(A.Values.front()).starts_with("-crsan-")) {
      Options.PassOptions.push_back(A.Values.front());
      A.Words.clear();
    }
    if (A.Words.empty())
      continue;
    // Other sanitizers read the same list; without any, clang would not.
    if (A.value("-fsanitize-ignorelist=") && !OthersOn)
      A.Words.clear();
  }
  dropEmptied(Line);
  for (const std::string &File : Options.IgnoreLists)
    if (!llvm::sys::fs::exists(File))
      return llvm::createStringError(llvm::Twine("ignorelist '") + File +
                                     "' does not exist; correct "
                                     "-fsanitize-ignorelist=");
  return llvm::Error::success();
}

llvm::Expected<RaceOptions> RaceOptions::extract(CommandLine &Line,
                                                 bool ForNvcc) {
  Extraction E;
  for (Argument &A : Line.Arguments)
    if (!A.IsInput)
      if (llvm::Error Err = E.visit(A))
        return std::move(Err);
  dropEmptied(Line);
  if (!E.Options.Mentioned && linksInstrumentedCode(Line, ForNvcc))
    E.Options.Enabled = E.Options.Mentioned = true;
  if (E.Options.Enabled || ForNvcc)
    if (llvm::Error Err = extractEnabledOnly(Line, E.Options))
      return std::move(Err);
  return std::move(E.Options);
}

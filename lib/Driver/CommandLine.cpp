// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Clang's command line, word by word.
#include "CommandLine.h"

#include "llvm/ADT/STLExtras.h"
#include "llvm/ADT/StringSwitch.h"
#include "llvm/Option/Arg.h"
#include "llvm/Option/ArgList.h"
#include "llvm/Option/OptTable.h"
#include "llvm/Support/Path.h"

using namespace crsan::driver;
using llvm::StringRef;

std::optional<StringRef> Argument::value(StringRef Prefix) const {
  if (IsInput || !spelling().starts_with(Prefix))
    return std::nullopt;
  if (spelling() == Prefix && Words.size() == 2)
    return StringRef(Words[1]);
  if (Words.size() > 1)
    return std::nullopt;
  return spelling().drop_front(Prefix.size());
}

InputKind crsan::driver::kindOfFile(StringRef Path) {
  return llvm::StringSwitch<InputKind>(llvm::sys::path::extension(Path))
      .Cases({".cu", ".cui"}, InputKind::Cuda)
      .Cases({".c", ".i", ".h", ".m", ".mi"}, InputKind::Host)
      .Cases({".cc", ".cp", ".cpp", ".cxx", ".c++"}, InputKind::Host)
      .Cases({".C", ".CC", ".CPP", ".CXX", ".ii"}, InputKind::Host)
      .Cases({".mm", ".M", ".mii", ".H", ".hh"}, InputKind::Host)
      .Cases({".hpp", ".hxx", ".h++", ".cppm", ".ixx"}, InputKind::Host)
      .Cases({".s", ".S", ".sx", ".asm"}, InputKind::Host)
      .Cases({".ll", ".bc"}, InputKind::Host)
      .Default(InputKind::Linker);
}

static InputKind kindOfLanguage(StringRef Language, StringRef Path) {
  if (Language.empty() || Language == "none")
    return kindOfFile(Path);
  return Language.starts_with("cuda") ? InputKind::Cuda : InputKind::Host;
}

/// Options that clang lacks and that CRSan takes from nvcc's users, whose value
/// may be the next word.
static bool takesNextWord(StringRef Word) {
  return Word == "--cudart" || Word == "-cudart";
}

/// The option that begins at word \p I of \p Words; \p I becomes the index of
/// the word that follows.
static Argument readOption(const llvm::opt::InputArgList &Words, unsigned &I) {
  const unsigned Begin = I;
  const std::unique_ptr<llvm::opt::Arg> Parsed =
      clang::getDriverOptTable().ParseOneArg(
          Words, I, llvm::opt::Visibility(options::ClangOption));
  Argument Option;
  if (Parsed && !Parsed->getOption().matches(options::OPT_UNKNOWN)) {
    Option.Option = Parsed->getOption();
    Option.Values.assign(Parsed->getValues().begin(),
                         Parsed->getValues().end());
  } else if (takesNextWord(Words.getArgString(Begin)))
    I = Begin + 2;
  // A value may be missing, of which clang complains.
  I = std::min(I, Words.getNumInputArgStrings());
  for (unsigned Word = Begin; Word < I; ++Word)
    Option.Words.emplace_back(Words.getArgString(Word));
  return Option;
}

/// More words than any option has.
static constexpr size_t LongestOption = 8;

Argument crsan::driver::readOption(llvm::ArrayRef<std::string> Words) {
  std::vector<const char *> Pointers;
  for (const std::string &Word : Words.take_front(LongestOption))
    Pointers.push_back(Word.c_str());
  const llvm::opt::InputArgList List(Pointers.data(),
                                     Pointers.data() + Pointers.size());
  unsigned I = 0;
  return ::readOption(List, I);
}

CommandLine CommandLine::parse(llvm::ArrayRef<std::string> Words) {
  CommandLine Line;
  std::string Language;
  bool OnlyInputs = false;
  auto AddInput = [&](StringRef Path) {
    Argument Input;
    // No option may start where a name does: ours are added behind.
    Input.Words = {OnlyInputs && Path.starts_with("-") ? ("./" + Path).str()
                                                       : Path.str()};
    Input.IsInput = true;
    Input.Input = kindOfLanguage(Language, Path);
    Input.Language = Language == "none" ? "" : Language;
    Line.Arguments.push_back(std::move(Input));
  };
  std::vector<const char *> Pointers;
  for (const std::string &Word : Words)
    Pointers.push_back(Word.c_str());
  const llvm::opt::InputArgList List(Pointers.data(),
                                     Pointers.data() + Pointers.size());
  for (unsigned I = 0; I < Words.size();) {
    const StringRef Word = Words[I];
    if (OnlyInputs || Word == "-" || !Word.starts_with("-")) {
      AddInput(Word);
      ++I;
    } else if (Word == "--") {
      OnlyInputs = true;
      ++I;
    } else {
      Line.Arguments.push_back(::readOption(List, I));
      if (Line.Arguments.back().matches(options::OPT_x))
        Language = Line.Arguments.back().Values.front();
    }
  }
  return Line;
}

bool CommandLine::has(llvm::opt::OptSpecifier Id) const {
  return llvm::any_of(Arguments,
                      [&](const Argument &A) { return A.matches(Id); });
}

std::optional<std::string> CommandLine::last(llvm::opt::OptSpecifier Id) const {
  for (const Argument &A : llvm::reverse(Arguments))
    if (A.matches(Id) && !A.Values.empty())
      return A.Values.front();
  return std::nullopt;
}

bool CommandLine::hasInput(InputKind Kind) const {
  return llvm::any_of(Arguments, [&](const Argument &A) {
    return A.IsInput && A.Input == Kind;
  });
}

bool CommandLine::hasAnyInput() const {
  return llvm::any_of(Arguments, [](const Argument &A) {
    return A.IsInput || (A.Option && A.Option->hasFlag(options::LinkerInput));
  });
}

static Phase lastPhaseWith(const Argument &A) {
  using namespace options;
  static constexpr std::pair<ID, Phase> Ends[] = {
      {OPT_E, Phase::Preprocess},
      {OPT_M, Phase::Preprocess},
      {OPT_MM, Phase::Preprocess},
      {OPT_fsyntax_only, Phase::SyntaxOnly},
      {OPT_verify_pch, Phase::SyntaxOnly},
      {OPT__analyze, Phase::SyntaxOnly},
      {OPT_emit_ast, Phase::SyntaxOnly},
      {OPT__precompile, Phase::SyntaxOnly},
      {OPT_extract_api, Phase::SyntaxOnly},
      {OPT_S, Phase::Compile},
      {OPT_c, Phase::Assemble},
  };
  for (const auto &[Option, Last] : Ends)
    if (A.matches(Option))
      return Last;
  return Phase::Link;
}

Phase CommandLine::phase() const {
  // Clang stops at the earliest phase that any option asks for.
  Phase Final = Phase::Link;
  for (const Argument &A : Arguments)
    Final = std::min(Final, lastPhaseWith(A));
  return Final;
}

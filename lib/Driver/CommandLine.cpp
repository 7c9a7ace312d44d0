//===- CommandLine.cpp - Clang's command line, word by word ---*- C++ -*-===//
//
// Part of CudaRaceSanitizer, under the Apache License v2.0 with LLVM
// Exceptions. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
#include "CommandLine.h"

#include "llvm/ADT/STLExtras.h"
#include "llvm/ADT/StringSet.h"
#include "llvm/ADT/StringSwitch.h"
#include "llvm/Support/Path.h"

using namespace crsan::driver;
using llvm::StringRef;

/// Clang 22's options whose value is the next word (kinds Separate and
/// JoinedOrSeparate of its option table, when nothing is joined). Apple's and
/// Microsoft's linker options are left out but for those that name files.
static bool takesNextWord(StringRef Word) {
  static const llvm::StringSet<> Options = {
      "--assert", "--classpath", "--config", "--cudart", "--define-macro",
      "--dyld-prefix", "--encoding", "--for-linker", "--force-link",
      "--include-directory", "--include-directory-after", "--include-prefix",
      "--include-with-prefix", "--include-with-prefix-after",
      "--include-with-prefix-before", "--language", "--library-directory",
      "--no-system-header-prefix", "--output", "--param", "--prefix",
      "--print-file-name", "--print-prog-name", "--resource", "--rtlib",
      "--std", "--stdlib", "--sysroot", "--system-header-prefix",
      "--undefine-macro", "--analyzer-output", "-Xanalyzer", "-Xarch_device",
      "-Xarch_host", "-Xassembler", "-Xclang", "-Xclangas", "-Xcuda-fatbinary",
      "-Xcuda-ptxas", "-Xlinker", "-Xopenmp-target", "-Xpreprocessor",
      "-Zlinker-input", "-arch", "-ccc-gcc-name", "-ccc-install-dir", "-cudart",
      "-dependency-dot", "-dependency-file", "-dumpdir", "-e",
      "-fdebug-compilation-dir", "-filelist", "-fmodule-implementation-of",
      "-fmodules-user-build-path", "-fnew-alignment", "-force_load",
      "-framework", "-ftrapv-handler", "-gen-cdb-fragment-path", "-imultilib",
      "-include-pch", "-init", "-install_name", "-mllvm", "-mmlir",
      "-module-dependency-dir", "-mthread-model", "-object-file-name",
      "-resource-dir", "-rpath", "-serialize-diagnostics", "-specs", "-target",
      "-umbrella", "-working-directory", "-z",
      // Joined or separate.
      "-A", "-B", "-D", "-F", "-G", "-I", "-L", "-MF", "-MJ", "-MQ", "-MT",
      "-T", "-U", "-V", "-b", "-cxx-isystem", "-idirafter", "-iframework",
      "-imacros", "-include", "-iprefix", "-iquote", "-isysroot", "-isystem",
      "-isystem-after", "-ivfsoverlay", "-iwithprefix", "-iwithprefixbefore",
      "-iwithsysroot", "-l", "-o", "-stdlib++-isystem", "-u", "-undefined",
      "-vfsoverlay", "-x"};
  // Joined and separate at once.
  return Options.contains(Word) || Word.starts_with("-Xoffload-linker") ||
         Word.starts_with("-Xopenmp-target=") ||
         (Word.starts_with("-Xarch_") && Word.size() > strlen("-Xarch_"));
}

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

CommandLine CommandLine::parse(const std::vector<std::string> &Words) {
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
  for (size_t I = 0; I < Words.size(); ++I) {
    StringRef Word = Words[I];
    if (OnlyInputs || Word == "-" || !Word.starts_with("-")) {
      AddInput(Word);
      continue;
    }
    if (Word == "--") {
      OnlyInputs = true;
      continue;
    }
    Argument Option;
    Option.Words.push_back(Words[I]);
    if (takesNextWord(Word) && I + 1 < Words.size())
      Option.Words.push_back(Words[++I]);
    for (StringRef Prefix : {"-x", "--language=", "--language"})
      if (auto Value = Option.value(Prefix)) {
        Language = Value->str();
        break;
      }
    Line.Arguments.push_back(std::move(Option));
  }
  return Line;
}

bool CommandLine::has(StringRef Spelling) const {
  return llvm::any_of(Arguments,
                      [&](const Argument &A) { return A.is(Spelling); });
}

std::optional<std::string> CommandLine::last(StringRef Prefix) const {
  for (const Argument &A : llvm::reverse(Arguments))
    if (auto Value = A.value(Prefix))
      return Value->str();
  return std::nullopt;
}

bool CommandLine::hasInput(InputKind Kind) const {
  return llvm::any_of(Arguments, [&](const Argument &A) {
    return A.IsInput && A.Input == Kind;
  });
}

bool CommandLine::hasAnyInput() const {
  return llvm::any_of(Arguments, [](const Argument &A) {
    return A.IsInput || A.spelling().starts_with("-l") ||
           A.spelling().starts_with("-Wl,") || A.is("-Xlinker");
  });
}

Phase CommandLine::phase() const {
  Phase Final = Phase::Link;
  for (const Argument &A : Arguments) {
    if (A.IsInput)
      continue;
    Phase P = llvm::StringSwitch<Phase>(A.spelling())
                  .Cases({"-E", "-M", "-MM", "--preprocess", "--dependencies",
                          "--user-dependencies"},
                         Phase::Preprocess)
                  .Cases({"-fsyntax-only", "-verify-pch", "--analyze",
                          "-emit-ast", "--precompile", "-extract-api"},
                         Phase::SyntaxOnly)
                  .Cases({"-S", "--assemble"}, Phase::Compile)
                  .Cases({"-c", "--compile"}, Phase::Assemble)
                  .Default(Phase::Link);
    // Clang stops at the earliest phase that any option asks for.
    Final = std::min(Final, P);
  }
  return Final;
}

// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// CUDA and other sources in one command.
#include "MixedCommand.h"
#include "Flags.h"

#include "llvm/ADT/STLExtras.h"
#include "llvm/ADT/SmallString.h"
#include "llvm/ADT/Twine.h"
#include "llvm/Support/FileSystem.h"
#include "llvm/Support/Path.h"
#include "llvm/Support/raw_ostream.h"

using namespace crsan::driver;
using llvm::StringRef;
namespace fs = llvm::sys::fs;
namespace path = llvm::sys::path;

namespace {
class Splitter {
public:
  explicit Splitter(const Command &C)
      : C(C), Line(C.Line), Links(C.links()), Keeps(keepsTemporaries(Line)),
        WritesDependencies(Links && (Line.has(options::OPT_MD) ||
                                     Line.has(options::OPT_MMD))) {}

  llvm::Expected<Plan> run();

private:
  const Command &C;
  const CommandLine &Line;
  const bool Links;
  const bool Keeps;
  const bool WritesDependencies;
  llvm::SmallString<128> Folder; ///< Of temporary files; empty: this one.
  Plan P;

  /// Clang's -save-temps keeps the objects too, in the current folder.
  static bool keepsTemporaries(const CommandLine &Line) {
    return Line.has(options::OPT_save_temps_EQ);
  }
  llvm::Error prepare();
  std::string temporary(StringRef Source, StringRef Extension);
  Words output(const Argument &Source, const std::string &Object);
  Words compile(const Argument &Source, const Words &Output) const;
  Words link(const Words &Arguments) const;
};
} // namespace

/// The name clang gives a dependency file: after the output, or the source.
static std::string dependencyFile(const CommandLine &Line) {
  if (auto Named = Line.last(options::OPT_MF))
    return *Named;
  llvm::SmallString<128> Name(Line.last(options::OPT_o).value_or("a.out"));
  path::replace_extension(Name, "d");
  return Name.str().str();
}

llvm::Error Splitter::prepare() {
  if (!Links && Line.last(options::OPT_o) && C.Final != Phase::Preprocess &&
      C.Final != Phase::SyntaxOnly)
    return llvm::createStringError(
        "-o names one file, but CUDA and other sources make several; compile "
        "them one by one");
  if (Links && !Keeps)
    if (std::error_code EC = fs::createUniqueDirectory("crsan", Folder))
      return llvm::createStringError("cannot make a temporary folder: " +
                                     EC.message() + "; is TMPDIR writable?");
  if (WritesDependencies && !C.isDryRun())
    P.DependencyFile = dependencyFile(Line);
  return llvm::Error::success();
}

/// A name that starts with the source's, and differs for a.cu and b/a.cpp.
std::string Splitter::temporary(StringRef Source, StringRef Extension) {
  llvm::SmallString<128> File(Folder);
  path::append(File, path::stem(Source) + "-" + llvm::Twine(P.Jobs.size()) +
                         Extension);
  P.Temporaries.push_back(File.str().str());
  return P.Temporaries.back();
}

/// The flags that say where the compilation of \p Source, which is linked
/// later, writes its \p Object and its dependencies.
Words Splitter::output(const Argument &Source, const std::string &Object) {
  Words Out = {"-c", "-o", Object};
  if (!WritesDependencies)
    return Out;
  P.DependencyParts.push_back(temporary(Source.spelling(), ".d"));
  llvm::append_range(Out, Words{Line.has(options::OPT_MMD) ? "-MMD" : "-MD",
                                "-MF", P.DependencyParts.back()});
  if (!Line.last(options::OPT_MT) && !Line.last(options::OPT_MQ))
    llvm::append_range(
        Out, Words{"-MQ", Line.last(options::OPT_o).value_or("a.out")});
  return Out;
}

Words Splitter::compile(const Argument &Source, const Words &Output) const {
  Words Out;
  appendQuietly(Out, compileFlags(C, Source.Input));
  // Clang does not warn of flags for the linker, which another job uses.
  Out.push_back("--start-no-unused-arguments");
  for (const Argument &A : Line.Arguments) {
    const bool NamesOutput =
        A.matches(options::OPT_o) || A.matches(options::OPT_MF) ||
        A.matches(options::OPT_MD) || A.matches(options::OPT_MMD);
    if (A.IsInput || A.matches(options::OPT_x) || (Links && NamesOutput) ||
        C.isForOtherJobs(A, Source.Input, Source.Language == "c"))
      continue;
    append(Out, C, A);
  }
  Out.push_back("--end-no-unused-arguments");
  appendQuietly(Out, includeFlags(C, Source.Input));
  llvm::append_range(Out, Output);
  if (!Source.Language.empty()) {
    Out.push_back("-x");
    Out.push_back(Source.Language);
  }
  append(Out, C, Source);
  return Out;
}

/// The link, of which \p Arguments are the user's words and our objects.
Words Splitter::link(const Words &Arguments) const {
  Words Out;
  appendQuietly(Out, deviceLinkFlags(C));
  appendQuietly(Out, inGroup(C, Arguments));
  appendQuietly(Out, libraryFlags(C));
  return Out;
}

llvm::Expected<Plan> Splitter::run() {
  if (llvm::Error E = prepare())
    return std::move(E);
  Words Linked;
  for (const Argument &A : Line.Arguments) {
    if (A.IsInput && A.Input != InputKind::Linker) {
      Words Output;
      if (Links) {
        Linked.push_back(temporary(A.spelling(), ".o"));
        if (C.isDryRun())
          touch(Linked.back());
        Output = output(A, Linked.back());
      }
      P.Jobs.push_back({compile(A, Output)});
    } else if (!A.matches(options::OPT_x) &&
               !C.isForOtherJobs(A, InputKind::Linker, /*IsC=*/false)) {
      // The objects that stand for the sources are in no source language.
      append(Linked, C, A);
    }
  }
  if (Links) {
    P.Jobs.push_back({link(Linked)});
    P.LastLinks = true;
    P.Temporaries.push_back(Folder.str().str());
  }
  if (Keeps)
    P.Temporaries.clear();
  return std::move(P);
}

llvm::Expected<Plan> crsan::driver::splitMixedCommand(const Command &C) {
  return Splitter(C).run();
}

// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// clang with -fsanitize=cuda-race.
//
// Without the option (or another of ours) this program becomes clang with the
// very same arguments, and warns if device code of the user's is lost by that.
// A command that is written for nvcc is translated, with the option or without.
// crsan-clang++ is a link to it; a link called nvcc takes nvcc's commands only.

#include "CommandLine.h"
#include "DeviceCode.h"
#include "Installation.h"
#include "Job.h"
#include "NvccCommand.h"
#include "NvccRecognition.h"
#include "NvccSteps.h"
#include "OptionsHelp.h"
#include "ProjectVersion.h"
#include "RaceOptions.h"
#include "Translation.h"

#include "llvm/ADT/STLExtras.h"
#include "llvm/ADT/SmallVector.h"
#include "llvm/Support/Allocator.h"
#include "llvm/Support/CommandLine.h"
#include "llvm/Support/Path.h"
#include "llvm/Support/Program.h"
#include "llvm/Support/StringSaver.h"
#include "llvm/Support/raw_ostream.h"

using namespace crsan::driver;

static int fail(llvm::Error E) {
  llvm::errs() << "CRSan: " << llvm::toString(std::move(E)) << "\n";
  return 1;
}

/// Clang reads a response file as GNU tools do, and so must we. One that does
/// not exist stays a word, for clang to complain about.
static std::vector<std::string> expandResponseFiles(int Argc, char **Argv) {
  llvm::BumpPtrAllocator Allocator;
  llvm::SmallVector<const char *, 64> Words(Argv + 1, Argv + Argc);
  llvm::cl::ExpansionContext Context(Allocator,
                                     llvm::cl::TokenizeGNUCommandLine);
  if (llvm::Error E = Context.expandResponseFiles(Words))
    llvm::consumeError(std::move(E));
  return {Words.begin(), Words.end()};
}

/// Clang's lines come first: build systems read the compiler's version there.
static int printVersion(const Clang &Compiler) {
  const int Status = llvm::sys::ExecuteAndWait(Compiler.Program,
                                               {Compiler.Program, "--version"});
  llvm::outs() << crsan::versionLine() << "\n";
  return Status;
}

/// CRSan's options come first: those of clang are many.
static int printHelp(const Clang &Compiler, llvm::StringRef Name) {
  llvm::outs() << optionsHelp(Name.str(), "clang 22", /*IsNvcc=*/false);
  llvm::outs().flush();
  return llvm::sys::ExecuteAndWait(Compiler.Program,
                                   {Compiler.Program, "--help"});
}

static bool asksForSanitizer(const std::vector<std::string> &Words) {
  return llvm::any_of(Words, [](llvm::StringRef Word) {
    return Word.starts_with("-fsanitize=") && Word.contains("cuda-race");
  });
}

/// Clang's words of a command for nvcc; none if the command is written for
/// clang. A link to this program by the name of nvcc takes commands for nvcc.
static llvm::Expected<std::optional<NvccCommand>>
readNvccCommand(const std::vector<std::string> &Words, bool IsCalledNvcc) {
  if (!IsCalledNvcc && !isNvccCommand(Words, asksForSanitizer(Words)) &&
      !linksObjectsOfNvcc(CommandLine::parse(Words)))
    return std::nullopt;
  llvm::Expected<NvccCommand> Nvcc =
      NvccCommand::read(withNvccEnvironment(Words));
  if (!Nvcc)
    return Nvcc.takeError();
  return std::move(*Nvcc);
}

/// With -v, what became of each option of nvcc's.
static void printNotes(const NvccCommand &Nvcc, const CommandLine &Line) {
  if (Line.has(options::OPT_v) || Line.has(options::OPT__HASH_HASH_HASH))
    for (const std::string &Note : Nvcc.Notes)
      llvm::errs() << "crsan-clang: " << Note << "\n";
}

/// The plan of a command that is not clang's as it stands.
static llvm::Expected<Plan> plan(const CommandLine &Line,
                                 const RaceOptions &Options,
                                 const std::optional<NvccCommand> &Nvcc,
                                 const Installation &Where) {
  if (Nvcc)
    return planNvccCommand(*Nvcc, Line, Options, Where);
  if (Options.Enabled)
    return translate(Line, Options, Where);
  Plan P;
  P.Jobs.emplace_back();
  for (const Argument &A : Line.Arguments)
    llvm::append_range(P.Jobs[0].Arguments, A.Words);
  return P;
}

int main(int Argc, char **Argv) {
  const llvm::StringRef Name = llvm::sys::path::stem(Argv[0]);
  const bool IsCalledNvcc = Name == "nvcc";
  const bool CXX = Name.ends_with("++") || IsCalledNvcc;
  llvm::Expected<Clang> Compiler = Clang::find(CXX);
  if (!Compiler)
    return fail(Compiler.takeError());
  std::vector<std::string> DriverMode;
  if (Compiler->NeedsDriverMode)
    DriverMode = {"--driver-mode=g++"};

  std::vector<std::string> Words = expandResponseFiles(Argc, Argv);
  llvm::Expected<std::optional<NvccCommand>> Read =
      readNvccCommand(Words, IsCalledNvcc);
  if (!Read)
    return fail(Read.takeError());
  const std::optional<NvccCommand> &Nvcc = *Read;
  if (Nvcc)
    Words = Nvcc->Words;
  if (Nvcc && Nvcc->Makes == NvccCommand::Product::Listing) {
    llvm::outs() << Nvcc->Listing;
    return 0;
  }
  const bool IsAlone = !Words.empty() && (Nvcc || Words.size() == 1);
  if (IsAlone && Words.front() == "--version")
    return printVersion(*Compiler);
  if (IsAlone && Words.front() == "--help")
    return printHelp(*Compiler, Name);

  CommandLine Line = CommandLine::parse(Words);
  if (Nvcc)
    printNotes(*Nvcc, Line);
  llvm::Expected<RaceOptions> Options =
      RaceOptions::extract(Line, Nvcc.has_value());
  if (!Options)
    return fail(Options.takeError());
  if (!Options->Mentioned && !Nvcc) {
    if (std::string File = findUnlinkedDeviceCode(Line); !File.empty())
      llvm::errs() << "CRSan: warning: '" << File
                   << "' has relocatable device code, which this link leaves "
                      "out; give it -fsanitize=cuda-race, as the compilation "
                      "(CMake: CMAKE_SHARED_LINKER_FLAGS)\n";
    DriverMode.insert(DriverMode.end(), Argv + 1, Argv + Argc);
    return become(Compiler->Program, DriverMode);
  }

  llvm::Expected<Plan> P =
      plan(Line, *Options, Nvcc,
           Installation::find(Argv[0], reinterpret_cast<void *>(&main)));
  if (!P)
    return fail(P.takeError());
  for (Job &J : P->Jobs)
    if (J.Program.empty())
      J.Arguments.insert(J.Arguments.begin(), DriverMode.begin(),
                         DriverMode.end());
  return run(*P, Compiler->Program);
}

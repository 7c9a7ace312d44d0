// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// clang with -fsanitize=cuda-race.
//
// Without the option (or another of ours) this program becomes clang with the
// very same arguments, and warns if device code of the user's is lost by that.
// crsan-clang++ is a link to it.

#include "CommandLine.h"
#include "DeviceCode.h"
#include "Installation.h"
#include "Job.h"
#include "ProjectVersion.h"
#include "RaceOptions.h"
#include "Translation.h"

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

int main(int Argc, char **Argv) {
  bool CXX = llvm::sys::path::stem(Argv[0]).ends_with("++");
  llvm::Expected<Clang> Compiler = Clang::find(CXX);
  if (!Compiler)
    return fail(Compiler.takeError());
  std::vector<std::string> DriverMode;
  if (Compiler->NeedsDriverMode)
    DriverMode = {"--driver-mode=g++"};

  if (Argc == 2 && llvm::StringRef(Argv[1]) == "--version")
    return printVersion(*Compiler);

  CommandLine Line = CommandLine::parse(expandResponseFiles(Argc, Argv));
  llvm::Expected<RaceOptions> Options = RaceOptions::extract(Line);
  if (!Options)
    return fail(Options.takeError());
  if (!Options->Mentioned) {
    if (std::string File = findUnlinkedDeviceCode(Line); !File.empty())
      llvm::errs() << "CRSan: warning: '" << File
                   << "' has relocatable device code, which this link leaves "
                      "out; give it -fsanitize=cuda-race, as the compilation "
                      "(CMake: CMAKE_SHARED_LINKER_FLAGS)\n";
    DriverMode.insert(DriverMode.end(), Argv + 1, Argv + Argc);
    return become(Compiler->Program, DriverMode);
  }

  Plan P;
  if (Options->Enabled) {
    llvm::Expected<Plan> Translated =
        translate(Line, *Options,
                  Installation::find(Argv[0], reinterpret_cast<void *>(&main)));
    if (!Translated)
      return fail(Translated.takeError());
    P = std::move(*Translated);
  } else {
    P.Jobs.emplace_back();
    for (const Argument &A : Line.Arguments)
      llvm::append_range(P.Jobs[0].Arguments, A.Words);
  }
  for (Job &J : P.Jobs)
    J.Arguments.insert(J.Arguments.begin(), DriverMode.begin(),
                       DriverMode.end());
  return run(P, Compiler->Program);
}

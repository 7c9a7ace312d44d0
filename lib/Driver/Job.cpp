// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Commands to run, one after another.
#include "Job.h"

#include "llvm/ADT/StringExtras.h"
#include "llvm/ADT/StringRef.h"
#include "llvm/Support/FileSystem.h"
#include "llvm/Support/MemoryBuffer.h"
#include "llvm/Support/Program.h"
#include "llvm/Support/Signals.h"
#include "llvm/Support/raw_ostream.h"

#include <cerrno>
#include <cstring>
#include <unistd.h>

using namespace crsan::driver;
using llvm::StringRef;

static int fail(const llvm::Twine &Message) {
  llvm::errs() << "CRSan: " << Message << "\n";
  return 1;
}

int crsan::driver::become(const std::string &Program,
                          const std::vector<std::string> &Arguments) {
  std::vector<char *> Argv = {const_cast<char *>(Program.c_str())};
  for (const std::string &A : Arguments)
    Argv.push_back(const_cast<char *>(A.c_str()));
  Argv.push_back(nullptr);
  execv(Program.c_str(), Argv.data());
  return fail("cannot run '" + Program + "': " + strerror(errno));
}

/// Response files were expanded to be read; what has grown too long for the
/// kernel goes into a new one.
static int writeResponseFile(const std::vector<std::string> &Arguments,
                             std::string &Path) {
  int FD = -1;
  llvm::SmallString<128> Name;
  if (std::error_code EC =
          llvm::sys::fs::createTemporaryFile("crsan", "rsp", FD, Name))
    return fail("cannot write a response file: " + EC.message() +
                "; is there room in TMPDIR?");
  llvm::raw_fd_ostream OS(FD, /*shouldClose=*/true);
  for (StringRef A : Arguments) {
    OS << '"';
    for (char C : A) {
      if (C == '"' || C == '\\')
        OS << '\\';
      OS << C;
    }
    OS << "\"\n";
  }
  Path = Name.str().str();
  return 0;
}

void crsan::driver::touch(StringRef Path) {
  std::error_code EC;
  llvm::raw_fd_ostream(Path, EC);
}

/// As clang prints the commands that it runs.
static void print(const std::string &Program,
                  const std::vector<std::string> &Arguments) {
  llvm::errs() << " \"" << Program << '"';
  for (StringRef A : Arguments)
    llvm::errs() << " \"" << A << '"';
  llvm::errs() << "\n";
}

static int runOne(const Job &J, const std::string &Program) {
  std::vector<StringRef> Argv = {Program};
  std::string ResponseFile, ResponseArgument;
  llvm::append_range(Argv, J.Arguments);
  if (!llvm::sys::commandLineFitsWithinSystemLimits(Program, Argv)) {
    if (int Status = writeResponseFile(J.Arguments, ResponseFile))
      return Status;
    ResponseArgument = "@" + ResponseFile;
    Argv = {Program, ResponseArgument};
  }
  std::string Error;
  int Status =
      llvm::sys::ExecuteAndWait(Program, Argv, std::nullopt, {}, 0, 0, &Error);
  if (!ResponseFile.empty())
    llvm::sys::fs::remove(ResponseFile);
  if (Status == -1)
    return fail("cannot run '" + Program + "': " + Error);
  return Status < 0 ? 1 : Status;
}

static int joinDependencies(const Plan &P) {
  std::error_code EC;
  llvm::raw_fd_ostream OS(P.DependencyFile, EC);
  if (EC)
    return fail("cannot write '" + P.DependencyFile + "': " + EC.message());
  for (const std::string &Part : P.DependencyParts)
    if (auto Buffer = llvm::MemoryBuffer::getFile(Part))
      OS << (*Buffer)->getBuffer();
  return 0;
}

/// One job of a plan, with clang or with the job's own program.
static int runJob(const Plan &P, const Job &J, const std::string &Clang) {
  if (J.Program.empty())
    return runOne(J, Clang);
  if (P.IsDryRun || P.IsVerbose)
    print(J.Program, J.Arguments);
  return P.IsDryRun ? 0 : runOne(J, J.Program);
}

int crsan::driver::run(const Plan &P, const std::string &Program) {
  if (P.Jobs.size() == 1 && P.Temporaries.empty() && P.Then.empty() &&
      P.Jobs[0].Program.empty()) {
    std::vector<StringRef> Argv(P.Jobs[0].Arguments.begin(),
                                P.Jobs[0].Arguments.end());
    if (llvm::sys::commandLineFitsWithinSystemLimits(Program, Argv))
      return become(Program, P.Jobs[0].Arguments);
    return runOne(P.Jobs[0], Program);
  }
  for (const std::string &File : P.Temporaries)
    llvm::sys::RemoveFileOnSignal(File);
  int Status = 0;
  for (size_t I = 0; I < P.Jobs.size(); ++I) {
    if (Status && P.LastLinks && I + 1 == P.Jobs.size())
      break;
    if (int S = runJob(P, P.Jobs[I], Program); S && !Status)
      Status = S;
  }
  if (!P.DependencyFile.empty() && !Status)
    Status = joinDependencies(P);
  // The folder comes last, when it is empty.
  for (const std::string &File : P.Temporaries)
    llvm::sys::fs::remove(File);
  if (Status || P.Then.empty())
    return Status;
  if (P.IsDryRun || P.IsVerbose)
    print(P.Then.front(), {P.Then.begin() + 1, P.Then.end()});
  if (P.IsDryRun)
    return 0;
  return become(P.Then.front(), {P.Then.begin() + 1, P.Then.end()});
}

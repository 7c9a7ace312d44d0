// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// nvcc with -fsanitize=cuda-race.
//
// Without the option (or another of ours) this program becomes nvcc with the
// very same arguments. With it, this program becomes the nvcc of a view of the
// toolkit (lib/Nvcc/ToolkitView.h).

#include "Installation.h"
#include "Job.h"
#include "NvccTranslation.h"
#include "OptionsHelp.h"
#include "ProjectVersion.h"
#include "RaceOptions.h"

#include "llvm/Support/FileSystem.h"
#include "llvm/Support/Program.h"
#include "llvm/Support/raw_ostream.h"

#include <cstdlib>

using namespace crsan;
using namespace crsan::nvcc;

static int fail(llvm::Error E) {
  llvm::errs() << "CRSan: " << llvm::toString(std::move(E)) << "\n";
  return 1;
}

static std::string ownPath(const char *Argv0, void *Main) {
  const std::string Path = llvm::sys::fs::getMainExecutable(Argv0, Main);
  llvm::SmallString<128> Real;
  return llvm::sys::fs::real_path(Path, Real) ? Path : Real.str().str();
}

/// An error if a part of the installation is missing.
static llvm::Error checkParts(const driver::Installation &Where) {
  for (const std::string &Path : {Where.assembler(), Where.hostRuntime(),
                                  Where.wrappers(), Where.markHeader()})
    if (!llvm::sys::fs::exists(Path))
      return llvm::createStringError(
          "'" + Path +
          "' is missing, which -fsanitize=cuda-race needs; build CRSan "
          "completely or reinstall it");
  return llvm::Error::success();
}

/// nvcc's lines come first: build systems read the compiler's version there.
static int printVersion(const RealNvcc &Real) {
  const std::string Program = Real.nvcc();
  const int Status = llvm::sys::ExecuteAndWait(Program, {Program, "--version"});
  llvm::outs() << versionLine() << "\n";
  return Status;
}

/// CRSan's options come first: those of nvcc are many.
static int printHelp(const RealNvcc &Real) {
  llvm::outs() << driver::optionsHelp("crsan-nvcc", "nvcc", /*IsNvcc=*/true);
  llvm::outs().flush();
  const std::string Program = Real.nvcc();
  return llvm::sys::ExecuteAndWait(Program, {Program, "--help"});
}

int main(int Argc, char **Argv) {
  void *Main = reinterpret_cast<void *>(&main);
  llvm::Expected<RealNvcc> Real = RealNvcc::find(ownPath(Argv[0], Main));
  if (!Real)
    return fail(Real.takeError());
  const Words Given(Argv + 1, Argv + Argc);
  if (Given == Words{"--version"})
    return printVersion(*Real);
  if (Given == Words{"--help"} || Given == Words{"-h"})
    return printHelp(*Real);
  driver::CommandLine Line = parse(allWords(Given));
  llvm::Expected<driver::RaceOptions> Options =
      driver::RaceOptions::extract(Line);
  if (!Options)
    return fail(Options.takeError());
  if (!Options->Mentioned)
    return driver::become(Real->nvcc(), Given);
  // The words of these are in the line now.
  unsetenv("NVCC_PREPEND_FLAGS");
  unsetenv("NVCC_APPEND_FLAGS");
  if (!Options->Enabled) {
    Words Rest;
    for (const driver::Argument &A : Line.Arguments)
      llvm::append_range(Rest, A.Words);
    return driver::become(Real->nvcc(), Rest);
  }
  if (llvm::Error E = checkOptions(Line, *Options))
    return fail(std::move(E));
  const auto Where = driver::Installation::find(Argv[0], Main);
  if (llvm::Error E = checkParts(Where))
    return fail(std::move(E));
  llvm::Expected<ToolkitView> View =
      ToolkitView::make(*Real, Where, Options->Mode);
  if (!View)
    return fail(View.takeError());
  return driver::become(View->nvcc(),
                        translate(Line, *Options, Where, *Real, *View));
}

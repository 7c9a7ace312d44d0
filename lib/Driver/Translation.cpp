// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// CRSan's command line to clang's.
#include "Translation.h"
#include "DeviceCode.h"
#include "Flags.h"
#include "MixedCommand.h"

#include "llvm/ADT/STLExtras.h"
#include "llvm/Support/FileSystem.h"
#include "llvm/Support/raw_ostream.h"

using namespace crsan::driver;
namespace fs = llvm::sys::fs;

static llvm::Error findToolkit(Command &C) {
  llvm::Expected<CudaToolkit> Found =
      CudaToolkit::find(C.Line.last(options::OPT_cuda_path_EQ));
  if (Found) {
    C.Toolkit = *Found;
    return llvm::Error::success();
  }
  // A host file may have nothing to do with CUDA.
  if (C.compilesCuda() || C.links())
    return Found.takeError();
  llvm::consumeError(Found.takeError());
  return llvm::Error::success();
}

/// An error if a part of the installation is missing that the command needs.
static llvm::Error checkParts(const Command &C) {
  if (C.isDryRun() || !C.Options.Enabled)
    return llvm::Error::success();
  for (const auto &[Needed, Path] :
       {std::pair(C.compilesCuda() || (C.compilesHost() && C.Options.Host),
                  C.Where.passPlugin()),
        std::pair(C.links(), C.Where.hostRuntime()),
        std::pair(C.links(), C.Where.wrappers())})
    if (Needed && !fs::exists(Path))
      return llvm::createStringError(
          "'" + Path +
          "' is missing, which -fsanitize=cuda-race needs; build CRSan "
          "completely or reinstall it");
  return llvm::Error::success();
}

/// Whether all sources are in C.
static bool onlyC(const CommandLine &Line) {
  return llvm::all_of(Line.Arguments, [](const Argument &A) {
    return !A.IsInput || A.Input == InputKind::Linker || A.Language == "c";
  });
}

/// One command stays one command if its sources are all of one kind.
static Words translateUnmixed(const Command &C) {
  Words Out, Before, After;
  if (C.compilesCuda() || C.compilesHost()) {
    const InputKind Kind = C.compilesCuda() ? InputKind::Cuda : InputKind::Host;
    Before = compileFlags(C, Kind);
    After = includeFlags(C, Kind);
  }
  if (C.links()) {
    llvm::append_range(Before, deviceLinkFlags(C));
    llvm::append_range(After, libraryFlags(C));
  }
  appendQuietly(Out, Before);
  Words Own;
  const InputKind Kind = C.compilesCuda() ? InputKind::Cuda : InputKind::Linker;
  const bool IsC = onlyC(C.Line);
  for (const Argument &A : C.Line.Arguments)
    if (!C.isForOtherJobs(A, Kind, IsC))
      append(Own, C, A);
  // nvcc takes options of all phases in each command.
  if (C.Nvcc)
    appendQuietly(Out, C.links() ? inGroup(C, Own) : Own);
  else
    llvm::append_range(Out, Own);
  appendQuietly(Out, After);
  return Out;
}

/// Whether -dlink has linked the device code, with a warning of what it left
/// out: a program registers what one such object has, and nothing else.
static bool isDeviceLinked(const CommandLine &Line) {
  const DeviceLinkedCode Linked = findDeviceLinkedCode(Line);
  if (!Linked.IsPresent)
    return false;
  for (const std::string &File : Linked.Missing)
    llvm::errs() << "CRSan: warning: the device code of '" << File
                 << "' is not in the object that -dlink made: its kernels "
                    "cannot be launched; name it in -dlink, too, or leave "
                    "-dlink out\n";
  return true;
}

llvm::Expected<Plan> crsan::driver::translate(const CommandLine &Line,
                                              const RaceOptions &Options,
                                              const Installation &Where,
                                              const NvccCommand *Nvcc) {
  if (llvm::Error E = checkOffloadLto(Line))
    return std::move(E);
  Command C = {.Line = Line, .Options = Options, .Where = Where, .Nvcc = Nvcc};
  llvm::Expected<bool> Named = checkArchitectures(Line);
  if (!Named)
    return Named.takeError();
  C.NamesArchitecture = *Named;
  if (llvm::Error E = findToolkit(C))
    return std::move(E);
  C.IsDeviceLinked = C.links() && isDeviceLinked(Line);
  if (llvm::Error E = checkParts(C))
    return std::move(E);
  if (C.compilesCuda() && C.compilesHost())
    return splitMixedCommand(C);
  Plan P;
  P.Jobs.push_back({translateUnmixed(C)});
  return P;
}

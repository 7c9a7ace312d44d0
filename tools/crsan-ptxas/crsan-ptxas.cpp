// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// ptxas for instrumented modules.
//
// crsan-clang has clang run this program in place of ptxas, with ptxas's
// arguments and --crsan-toolkit=ROOT; crsan-nvcc has nvcc run it, in place of
// cicc, too. Other programs that run ptxas (Triton) can run this one instead: a
// module without checks gets them first (lib/Lift). lib/Assembler does the
// rest. With --crsan-rewrite it assembles nothing: CRSan's libraries run it to
// put checks into the PTX of a program that is about to run.

#include "Arguments.h"
#include "Assembly.h"
#include "Checks.h"
#include "CompilerRun.h"
#include "CudaToolkit.h"
#include "ProjectVersion.h"
#include "RewriteRun.h"
#include "llvm/Support/FileSystem.h"
#include "llvm/Support/FileUtilities.h"
#include "llvm/Support/MemoryBuffer.h"
#include "llvm/Support/Program.h"
#include "llvm/Support/raw_ostream.h"

#include <cstdlib>

using namespace llvm;
using namespace crsan::ptxas;

static int fail(Error E) {
  errs() << "CRSan: " << toString(std::move(E)) << "\n";
  return 1;
}

/// For a program that knows of ptxas only.
static Expected<std::string> findToolkit() {
  if (const char *Chosen = getenv("CRSAN_CUDA_PATH"); Chosen && *Chosen)
    return std::string(Chosen);
  Expected<crsan::driver::CudaToolkit> Found =
      crsan::driver::CudaToolkit::find(std::nullopt);
  if (!Found)
    return Found.takeError();
  return Found->Root;
}

/// NVIDIA's ptxas, with the arguments as they are.
static int runOriginal(const Arguments &A) {
  const std::string Program = A.Request.Toolkit + "/bin/ptxas";
  std::vector<StringRef> Words = {Program};
  Words.insert(Words.end(), A.Given.begin(), A.Given.end());
  std::string Why;
  const int Status =
      sys::ExecuteAndWait(Program, Words, std::nullopt, {}, 0, 0, &Why);
  constexpr int NotStarted = -1;
  if (Status < NotStarted)
    return fail(createStringError("'" + Program + "' was ended: " + Why));
  if (Status == NotStarted)
    return fail(createStringError(
        "cannot run '" + Program + "': " + Why +
        "; set CRSAN_CUDA_PATH to the folder of a CUDA toolkit"));
  return Status;
}

/// Why a command cannot make checked code, whatever the module; empty if it
/// can.
static StringRef obstacle(const Arguments &A) {
  if (A.HasText)
    return "it is an argument (--input-as-string); write it to a file";
  if (A.Inputs.size() != 1)
    return "the command has several modules; assemble each by itself";
  if (A.Request.Architecture.empty())
    return "the command has no --gpu-name; add it";
  sys::fs::file_status Status;
  if (!sys::fs::status(A.Request.Output, Status) &&
      !sys::fs::is_regular_file(Status))
    return "the output is no file";
  return {};
}

/// A temporary file, which is removed at the end.
namespace {
class Temporary {
public:
  Expected<std::string> write(StringRef Text) {
    int FD = -1;
    if (std::error_code EC =
            sys::fs::createTemporaryFile("crsan", "ptx", FD, Path))
      return createStringError("cannot write a temporary file: " +
                               EC.message() + "; is there room in TMPDIR?");
    Remover.setFile(Path);
    raw_fd_ostream Out(FD, /*shouldClose=*/true);
    Out << Text;
    return Path.str().str();
  }

private:
  SmallString<128> Path;
  FileRemover Remover;
};
} // namespace

/// A module that may have no checks. If it cannot get them, it is assembled as
/// it is, after a line that says so.
static int assembleWithChecks(Arguments A) {
  if (A.Request.Output.empty())
    A.Request.Output = "elf.o"; // As ptxas calls it.
  // ptxas only reads the module, if it is to make no code for a GPU.
  const StringRef Architecture = A.Request.Architecture;
  if (!Architecture.empty() && !Architecture.starts_with("sm_"))
    return runOriginal(A);
  const std::string Name = A.Inputs.empty() ? "the input" : A.Inputs.front();
  if (const StringRef Why = obstacle(A); !Why.empty()) {
    sayUnchecked(Name, Why);
    return runOriginal(A);
  }
  auto Buffer = MemoryBuffer::getFileOrSTDIN(Name);
  if (!Buffer)
    return runOriginal(A); // It complains.
  const StringRef PTX = (*Buffer)->getBuffer();
  Temporary Whole, Checked;
  if (Name == "-") {
    Expected<std::string> File = Whole.write(PTX);
    if (!File)
      return fail(File.takeError());
    replace(A.Given, Name, *File);
    A.Inputs.front() = *File;
  }
  A.Request.Input = A.Inputs.front();
  const bool IsFinal = isFinal(PTX);
  if (!IsFinal) {
    std::optional<std::string> Text = withChecks(PTX, *A.Checks, Name);
    if (!Text)
      return runOriginal(A);
    Expected<std::string> File = Checked.write(*Text);
    if (!File)
      return fail(File.takeError());
    A.Request.Input = *File;
  }
  Error Failure = crsan::assembler::assemble(A.Request);
  if (!Failure)
    return 0;
  if (IsFinal)
    return fail(std::move(Failure));
  sayUnchecked(Name, toString(std::move(Failure)));
  return runOriginal(A);
}

/// A module that clang has instrumented, or not, as its user wants it.
static int assembleAsIs(Arguments A) {
  crsan::assembler::Request &R = A.Request;
  // A further word is the value of one of the user's options, which clang puts
  // behind the input.
  if (!A.Inputs.empty()) {
    R.Input = A.Inputs.front();
    R.Flags.insert(R.Flags.end(), A.Inputs.begin() + 1, A.Inputs.end());
  }
  if (R.Input.empty() || R.Output.empty() || R.Architecture.empty())
    return fail(createStringError("crsan-ptxas needs an input file, "
                                  "--output-file and --gpu-name"));
  Error Failure = crsan::assembler::assemble(R);
  return Failure ? fail(std::move(Failure)) : 0;
}

/// For a program that does not know CRSan.
static Error completeDropIn(Arguments &A) {
  Expected<std::string> Toolkit = findToolkit();
  if (!Toolkit)
    return Toolkit.takeError();
  A.Request.Toolkit = *Toolkit;
  if (A.Checks)
    return Error::success(); // --crsan-mode
  const char *Named = getenv("CRSAN_PTXAS_MODE");
  Expected<crsan::Mode> Checks =
      modeOf(Named && *Named ? Named : "collider", "CRSAN_PTXAS_MODE");
  if (!Checks)
    return Checks.takeError();
  A.Checks = *Checks;
  return Error::success();
}

int main(int Argc, char **Argv) {
  Expected<Arguments> A = Arguments::read(ArrayRef(Argv + 1, Argc - 1));
  if (!A)
    return fail(A.takeError());
  if (!A->Compiler.empty())
    return runCompiler(*A);
  if (A->OnlyRewrites && A->FatbinFor.empty())
    return runRewrite(*A);
  if (A->OnlyRewrites && A->isDropIn()) {
    Expected<std::string> Toolkit = findToolkit();
    if (!Toolkit)
      return fail(Toolkit.takeError());
    A->Request.Toolkit = *Toolkit;
  }
  if (A->OnlyRewrites)
    return runRewrite(*A);
  if (A->isDropIn())
    if (Error E = completeDropIn(*A))
      return fail(std::move(E));
  if (A->Given.empty() || A->AsksForWords) {
    const std::string Word = A->Given.size() == 1 ? A->Given.front() : "";
    if (Word == "--help" || Word == "-h") {
      outs() << ownHelp();
      outs().flush();
    }
    // ptxas's lines come first: programs read its version there.
    const int Status = runOriginal(*A);
    if (Word == "--version")
      outs() << crsan::versionLine() << "\n";
    return Status;
  }
  if (!A->Request.Architecture.empty())
    A->Request.Flags.push_back("--gpu-name=" + A->Request.Architecture);
  return A->Checks ? assembleWithChecks(std::move(*A))
                   : assembleAsIs(std::move(*A));
}

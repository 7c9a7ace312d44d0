// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// The toolkit whose nvcc the user means.
#include "RealNvcc.h"
#include "CudaToolkit.h"

#include "llvm/ADT/STLExtras.h"
#include "llvm/ADT/SmallString.h"
#include "llvm/ADT/Twine.h"
#include "llvm/Support/FileSystem.h"
#include "llvm/Support/FileUtilities.h"
#include "llvm/Support/MemoryBuffer.h"
#include "llvm/Support/Path.h"
#include "llvm/Support/Process.h"
#include "llvm/Support/Program.h"

#include <cstdlib>
#include <unistd.h>

using namespace crsan::nvcc;
using llvm::StringRef;
namespace fs = llvm::sys::fs;
namespace path = llvm::sys::path;

static constexpr unsigned KnownVersion = 13;

static std::string realPath(StringRef Path) {
  llvm::SmallString<128> Real;
  return fs::real_path(Path, Real) ? Path.str() : Real.str().str();
}

/// A file of a toolkit that \p Toolkit lacks; empty: it lacks none.
static std::string missingFile(const RealNvcc &Toolkit) {
  for (const std::string &File :
       {Toolkit.nvcc(), Toolkit.profile(), Toolkit.cicc(),
        Toolkit.Root + "/bin/ptxas", Toolkit.Root + "/bin/nvlink"})
    if (!fs::exists(File))
      return File;
  return {};
}

static llvm::Expected<RealNvcc> checked(StringRef Root, const llvm::Twine &By) {
  const RealNvcc Found{Root.rtrim('/').str()};
  const std::string Missing = missingFile(Found);
  if (Missing.empty())
    return Found;
  return llvm::createStringError(
      "'" + Missing + "' is missing from the CUDA toolkit that " + By +
      " names; install CUDA 13's compiler there, or set CUDA_PATH to a "
      "toolkit that has it");
}

/// What \p Program writes to its output and error streams. \p Environment:
/// nullopt for this process's.
static llvm::Expected<std::string>
outputOf(const std::string &Program, llvm::ArrayRef<StringRef> Arguments,
         std::optional<llvm::ArrayRef<StringRef>> Environment = std::nullopt) {
  llvm::SmallString<128> Log;
  if (std::error_code EC = fs::createTemporaryFile("crsan", "log", Log))
    return llvm::createStringError(
        "cannot write a temporary file: " + EC.message() + "; set TMPDIR");
  const llvm::FileRemover Remover(Log);
  const std::optional<StringRef> Redirects[] = {StringRef(), StringRef(Log),
                                                StringRef(Log)};
  llvm::SmallVector<StringRef, 8> Words{Program};
  llvm::append_range(Words, Arguments);
  std::string Why;
  if (llvm::sys::ExecuteAndWait(Program, Words, Environment, Redirects, 0, 0,
                                &Why) < 0)
    return llvm::createStringError("cannot run '" + Program + "': " + Why);
  auto Buffer = llvm::MemoryBuffer::getFile(Log);
  return Buffer ? (*Buffer)->getBuffer().str() : "";
}

/// The toolkit of the nvcc that \p Script, which stands outside of a toolkit,
/// runs; empty: it does not say. The script sees \p Path as its PATH.
static std::string rootByScript(const std::string &Script, StringRef Path) {
  const std::string Variable = ("PATH=" + Path).str();
  llvm::SmallVector<StringRef, 64> Environment{Variable};
  for (char **Entry = environ; *Entry; ++Entry)
    if (!StringRef(*Entry).starts_with("PATH="))
      Environment.push_back(*Entry);
  llvm::Expected<std::string> Said =
      outputOf(Script, {"-dryrun", "-x", "cu", "-E", "/dev/null"}, Environment);
  if (!Said) {
    llvm::consumeError(Said.takeError());
    return {};
  }
  const StringRef Bin =
      StringRef(*Said).split("#$ _HERE_=").second.split('\n').first.trim();
  return Bin.empty() ? "" : path::parent_path(realPath(Bin)).str();
}

/// The toolkit of the first nvcc on PATH that is another program than \p Self;
/// empty: none. Scripts that run an nvcc are asked for its toolkit. They see
/// the rest of PATH, so that one which runs \p Self asks no further.
static std::string rootByPath(const std::string &Self) {
  const std::string Path = llvm::sys::Process::GetEnv("PATH").value_or("");
  for (StringRef Rest = Path; !Rest.empty();) {
    const auto [Folder, Next] = Rest.split(':');
    Rest = Next;
    if (Folder.empty())
      continue;
    const std::string Program = (Folder + "/nvcc").str();
    if (!fs::can_execute(Program))
      continue;
    const std::string Real = realPath(Program);
    if (Real == Self)
      continue;
    std::string Root = path::parent_path(path::parent_path(Real)).str();
    if (!missingFile(RealNvcc{Root}).empty())
      Root = rootByScript(Program, Rest);
    if (!Root.empty())
      return Root;
  }
  return {};
}

std::string RealNvcc::libraryDir() const {
  std::string Lib64 = Root + "/lib64";
  return fs::is_directory(Lib64) ? Lib64 : Root + "/lib";
}

llvm::Expected<RealNvcc> RealNvcc::find(const std::string &Self) {
  for (const char *Variable : {"CRSAN_CUDA_PATH", "CUDA_PATH", "CUDA_HOME"})
    if (const char *Root = getenv(Variable); Root && *Root)
      return checked(Root, Variable);
  if (std::string Root = rootByPath(Self); !Root.empty())
    return checked(Root, "nvcc on PATH");
  llvm::Expected<driver::CudaToolkit> Usual =
      driver::CudaToolkit::find(std::nullopt);
  if (Usual)
    return checked(Usual->Root, "its usual place");
  llvm::consumeError(Usual.takeError());
  return llvm::createStringError(
      "nvcc was not found (looked at CUDA_PATH, CUDA_HOME, PATH, "
      "/usr/local/cuda); install CUDA 13, or set CUDA_PATH to its folder");
}

llvm::Error RealNvcc::checkVersion() const {
  llvm::Expected<std::string> Output = outputOf(nvcc(), {"--version"});
  if (!Output)
    return Output.takeError();
  const StringRef Said = *Output;
  const StringRef Release =
      Said.split(", release ").second.split(',').first.trim();
  unsigned Major = 0;
  if (!Release.split('.').first.getAsInteger(10, Major) &&
      Major == KnownVersion)
    return llvm::Error::success();
  return llvm::createStringError(
      "'" + nvcc() + "' is of CUDA " +
      (Release.empty() ? "an unknown version" : Release) +
      ", and CRSan checks what CUDA " + llvm::Twine(KnownVersion) +
      " compiles; set CUDA_PATH to such a toolkit");
}

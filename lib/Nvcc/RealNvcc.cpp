// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// The toolkit whose nvcc the user means.
#include "RealNvcc.h"
#include "CudaToolkit.h"

#include "llvm/ADT/SmallString.h"
#include "llvm/ADT/Twine.h"
#include "llvm/Support/FileSystem.h"
#include "llvm/Support/FileUtilities.h"
#include "llvm/Support/MemoryBuffer.h"
#include "llvm/Support/Path.h"
#include "llvm/Support/Process.h"
#include "llvm/Support/Program.h"

#include <cstdlib>

using namespace crsan::nvcc;
using llvm::StringRef;
namespace fs = llvm::sys::fs;
namespace path = llvm::sys::path;

static constexpr unsigned KnownVersion = 13;

static std::string realPath(StringRef Path) {
  llvm::SmallString<128> Real;
  return fs::real_path(Path, Real) ? Path.str() : Real.str().str();
}

/// Of the first nvcc on PATH that is another program than \p Self; empty: none.
static std::string rootByPath(const std::string &Self) {
  const auto Path = llvm::sys::Process::GetEnv("PATH");
  llvm::SmallVector<StringRef, 32> Folders;
  if (Path)
    StringRef(*Path).split(Folders, ':', -1, /*KeepEmpty=*/false);
  for (StringRef Folder : Folders) {
    llvm::SmallString<128> Program(Folder);
    path::append(Program, "nvcc");
    if (!fs::can_execute(Program))
      continue;
    if (std::string Real = realPath(Program); Real != Self)
      return path::parent_path(path::parent_path(Real)).str();
  }
  return {};
}

static llvm::Expected<RealNvcc> checked(StringRef Root, const llvm::Twine &By) {
  RealNvcc Found{Root.rtrim('/').str()};
  for (const std::string &File :
       {Found.nvcc(), Found.profile(), Found.cicc(), Root.str() + "/bin/ptxas",
        Root.str() + "/bin/nvlink"})
    if (!fs::exists(File))
      return llvm::createStringError(
          "'" + File + "' is missing from the CUDA toolkit that " + By +
          " names; install CUDA 13's compiler there, or set CUDA_PATH to a "
          "toolkit that has it");
  return Found;
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
  llvm::SmallString<128> Log;
  if (std::error_code EC = fs::createTemporaryFile("crsan", "log", Log))
    return llvm::createStringError(
        "cannot write a temporary file: " + EC.message() + "; set TMPDIR");
  const llvm::FileRemover Remover(Log);
  const std::optional<StringRef> Redirects[] = {StringRef(), StringRef(Log),
                                                StringRef(Log)};
  const std::string Program = nvcc();
  std::string Why;
  if (llvm::sys::ExecuteAndWait(Program, {Program, "--version"}, std::nullopt,
                                Redirects, 0, 0, &Why) < 0)
    return llvm::createStringError("cannot run '" + Program + "': " + Why);
  auto Buffer = llvm::MemoryBuffer::getFile(Log);
  const StringRef Said = Buffer ? (*Buffer)->getBuffer() : "";
  const StringRef Release =
      Said.split(", release ").second.split(',').first.trim();
  unsigned Major = 0;
  if (!Release.split('.').first.getAsInteger(10, Major) &&
      Major == KnownVersion)
    return llvm::Error::success();
  return llvm::createStringError(
      "'" + Program + "' is of CUDA " +
      (Release.empty() ? "an unknown version" : Release) +
      ", and CRSan checks what CUDA " + llvm::Twine(KnownVersion) +
      " compiles; set CUDA_PATH to such a toolkit");
}

// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Where the CUDA toolkit is.
#include "CudaToolkit.h"

#include "llvm/ADT/STLExtras.h"
#include "llvm/ADT/SmallString.h"
#include "llvm/ADT/Twine.h"
#include "llvm/Support/FileSystem.h"
#include "llvm/Support/Path.h"
#include "llvm/Support/VersionTuple.h"

#include <cstdlib>

using namespace crsan::driver;
namespace fs = llvm::sys::fs;
namespace path = llvm::sys::path;

static std::string join(llvm::StringRef A, llvm::StringRef B,
                        llvm::StringRef C = "") {
  llvm::SmallString<128> Path(A);
  path::append(Path, B);
  if (!C.empty())
    path::append(Path, C);
  return Path.str().str();
}

static bool isToolkit(llvm::StringRef Root) {
  return fs::exists(join(Root, "include", "cuda_runtime.h"));
}

/// /usr/local/cuda-*, newest first.
static std::vector<std::string> versionedToolkits() {
  std::vector<std::pair<llvm::VersionTuple, std::string>> Found;
  std::error_code EC;
  for (fs::directory_iterator I("/usr/local", EC), E; I != E && !EC;
       I.increment(EC)) {
    llvm::StringRef Name = path::filename(I->path());
    llvm::VersionTuple Version;
    if (Name.consume_front("cuda-") && !Version.tryParse(Name))
      Found.emplace_back(Version, I->path());
  }
  llvm::sort(Found, std::greater<>());
  std::vector<std::string> Paths;
  for (auto &[Version, Path] : Found)
    Paths.push_back(Path);
  return Paths;
}

std::string CudaToolkit::includeDir() const { return join(Root, "include"); }

std::string CudaToolkit::ccclDir() const {
  std::string Dir = join(Root, "include", "cccl");
  return fs::is_directory(Dir) ? Dir : "";
}

std::vector<std::string> CudaToolkit::libraryDirs() const {
  for (const char *Name : {"lib64", "lib"}) {
    std::string Dir = join(Root, Name);
    if (!fs::is_directory(Dir))
      continue;
    // The stubs stand in for the driver's libcuda where there is no driver.
    return {Dir, join(Dir, "stubs")};
  }
  return {};
}

llvm::Expected<CudaToolkit>
CudaToolkit::find(const std::optional<std::string> &Option) {
  auto Named = [](llvm::StringRef Name,
                  llvm::StringRef Root) -> llvm::Expected<CudaToolkit> {
    if (isToolkit(Root))
      return CudaToolkit{Root.str()};
    return llvm::createStringError(
        llvm::Twine("no CUDA toolkit in '") + Root + "', which " + Name +
        " names: there is no include/cuda_runtime.h; correct or unset it");
  };
  if (Option)
    return Named("--cuda-path", *Option);
  for (const char *Variable : {"CUDA_PATH", "CUDA_HOME"})
    if (const char *Root = getenv(Variable); Root && *Root)
      return Named(Variable, Root);

  std::vector<std::string> Places = {"/usr/local/cuda"};
  llvm::append_range(Places, versionedToolkits());
  Places.push_back("/opt/cuda");
  Places.push_back("/usr/lib/cuda");
  for (const std::string &Root : Places)
    if (isToolkit(Root))
      return CudaToolkit{Root};
  return llvm::createStringError(
      "no CUDA toolkit was found (looked at CUDA_PATH, CUDA_HOME, "
      "/usr/local/cuda, /usr/local/cuda-*, /opt/cuda, /usr/lib/cuda); install "
      "CUDA 13 or name it with --cuda-path=DIR");
}

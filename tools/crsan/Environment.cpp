// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// What this process's environment tells the programs that it starts.
#include "Environment.h"

#include "ProgramFile.h"

#include <cstdlib>
#include <cstring>
#include <filesystem>
#include <system_error>

#include <unistd.h>

using namespace crsan;
namespace fs = std::filesystem;

static constexpr char SimulatedRuntime[] = "libcudart.so.13";

/// Beside the tool, in the build tree as where CRSan is installed.
static fs::path simulatorFolder() {
  std::error_code Error;
  fs::path Tool = fs::read_symlink("/proc/self/exe", Error);
  return Tool.parent_path().parent_path() / "lib" / "sim";
}

static void prepend(const char *Variable, const std::string &Value,
                    char Separator) {
  const char *Before = std::getenv(Variable);
  std::string Joined = Value;
  if (Before && *Before)
    Joined += Separator + std::string(Before);
  setenv(Variable, Joined.c_str(), 1);
}

/// Why the program cannot run on the simulated GPU; empty if it can, as far as
/// its file tells.
static std::string whyNot(const std::string &Path, const ProgramFile &P) {
  std::string Runtime = P.cudaRuntime();
  if (!Runtime.empty() && Runtime != SimulatedRuntime)
    return "'" + Path + "' needs " + Runtime + ", the simulated GPU is " +
           SimulatedRuntime + "; rebuild the program with CUDA 13";
  if (Runtime.empty() && P.HasDeviceCode)
    return "'" + Path +
           "' holds the CUDA runtime itself (-lcudart_static), so the "
           "simulated "
           "one cannot take its place; link the shared one: rebuild with "
           "-fsanitize=cuda-race and without -lcudart_static, or with nvcc's "
           "-cudart shared and run with --detector=metadata";
  return {};
}

std::optional<std::string> crsan::usePreloadedPart() {
  const fs::path Library =
      simulatorFolder().parent_path() / "libcrsan_preload.so";
  if (access(Library.c_str(), R_OK) != 0)
    return "'" + Library.string() +
           "' is missing; build CRSan completely or reinstall it";
  prepend("LD_PRELOAD", Library.string(), ':');
  return std::nullopt;
}

/// Whether a host part, or another `crsan run`, has named the library that the
/// driver is to load: "<pid>:<path>" (runtime/host/Host.c).
static bool isInherited(const char *Injection) {
  const char *Mark = std::getenv("CRSAN_HOST");
  const char *Path = Mark ? std::strchr(Mark, ':') : nullptr;
  return Path && std::strcmp(Path + 1, Injection) == 0;
}

void crsan::useInjection() {
  const fs::path Library = simulatorFolder().parent_path() / "libcrsan.so";
  if (access(Library.c_str(), R_OK) != 0)
    return;
  if (const char *Users = std::getenv("CUDA_INJECTION64_PATH");
      Users && *Users && !isInherited(Users))
    return;
  setenv("CUDA_INJECTION64_PATH", Library.c_str(), 1);
  // A program that has a host part uses the library that this part finds.
  setenv("CRSAN_HOST", ("0:" + Library.string()).c_str(), 1);
}

std::optional<std::string> crsan::useSimulatedGpu(const std::string &Path) {
  const fs::path Folder = simulatorFolder();
  const fs::path Library = Folder / SimulatedRuntime;
  if (access(Library.c_str(), R_OK) != 0)
    return "'" + Library.string() +
           "' is missing, which is the simulated GPU; build CRSan completely "
           "or "
           "reinstall it";
  if (auto Program = ProgramFile::read(Path)) {
    if (std::string Why = whyNot(Path, *Program); !Why.empty())
      return Why;
    // Its own list of folders would be searched before ours.
    if (Program->HasOldRunPath)
      prepend("LD_PRELOAD", Library.string(), ':');
  }
  prepend("LD_LIBRARY_PATH", Folder.string(), ':');
  unsetenv("CUDA_INJECTION64_PATH");
  unsetenv("CRSAN_HOST"); // The program must not take it for inherited.
  return std::nullopt;
}

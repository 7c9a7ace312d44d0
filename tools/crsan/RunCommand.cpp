// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// crsan run.
//
// The simulated GPU is a CUDA runtime library of the real one's name. The
// loader is told to find it first; the program is not touched.
#include "RunCommand.h"

#include "ProgramFile.h"

#include <CLI/CLI.hpp>

#include <cerrno>
#include <cstdlib>
#include <cstring>
#include <filesystem>
#include <iostream>
#include <memory>
#include <string>
#include <vector>

#include <unistd.h>

using namespace crsan;
namespace fs = std::filesystem;

namespace {
struct Request {
  std::string Device = "sim";
  std::string Options; ///< ":name=value" for each option given.
  std::vector<std::string> Words;
};
} // namespace

static constexpr char SimulatedRuntime[] = "libcudart.so.13";

static int fail(const std::string &Message) {
  std::cerr << "CRSan: " << Message << '\n';
  return 1;
}

/// As execvp would find it; empty: nowhere.
static std::string findProgram(const std::string &Word) {
  if (Word.find('/') != Word.npos)
    return access(Word.c_str(), X_OK) == 0 ? Word : "";
  const char *Path = std::getenv("PATH");
  std::string Folders = Path ? Path : "/usr/bin:/bin";
  for (size_t At = 0; At <= Folders.size();) {
    size_t End = std::min(Folders.find(':', At), Folders.size());
    std::string File = Folders.substr(At, End - At) + "/" + Word;
    if (access(File.c_str(), X_OK) == 0)
      return File;
    At = End + 1;
  }
  return "";
}

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
           "-cudart shared and run with --detector=oracle";
  return {};
}

static int prepareSimulator(const std::string &Path) {
  const fs::path Folder = simulatorFolder();
  const fs::path Library = Folder / SimulatedRuntime;
  if (access(Library.c_str(), R_OK) != 0)
    return fail("'" + Library.string() +
                "' is missing, which is the simulated GPU; build CRSan "
                "completely or reinstall it");
  if (auto Program = ProgramFile::read(Path)) {
    if (std::string Why = whyNot(Path, *Program); !Why.empty())
      return fail(Why);
    // Its own list of folders would be searched before ours.
    if (Program->HasOldRunPath)
      prepend("LD_PRELOAD", Library.string(), ':');
  }
  prepend("LD_LIBRARY_PATH", Folder.string(), ':');
  unsetenv("CUDA_INJECTION64_PATH");
  unsetenv("CRSAN_HOST"); // The program must not take it for inherited.
  return 0;
}

static int runProgram(const Request &R) {
  const std::string Path = findProgram(R.Words.front());
  if (Path.empty())
    return fail("cannot run '" + R.Words.front() +
                "': " + std::strerror(errno ? errno : ENOENT));
  if (R.Device == "sim")
    if (int Status = prepareSimulator(Path))
      return Status;
  // Of two values of an option the last one counts: the command line's, then
  // the user's, then ours.
  const char *Before = std::getenv("CRSAN_OPTIONS");
  std::string Options = "require_checked=1";
  if (Before && *Before)
    Options += std::string(":") + Before;
  Options += R.Options;
  setenv("CRSAN_OPTIONS", Options.c_str(), 1);
  std::vector<char *> Arguments;
  for (const std::string &Word : R.Words)
    Arguments.push_back(const_cast<char *>(Word.c_str()));
  Arguments.push_back(nullptr);
  std::cout << std::flush;
  execv(Path.c_str(), Arguments.data());
  return fail("cannot run '" + Path + "': " + std::strerror(errno));
}

void crsan::addRunCommand(CLI::App &App, int &ExitCode) {
  auto R = std::make_shared<Request>();
  CLI::App *Command = App.add_subcommand(
      "run", "Run a program and look for races, without a GPU if need be");
  Command->add_option("--device", R->Device, "sim: simulated; gpu: real")
      ->check(CLI::IsMember({"sim", "gpu"}))
      ->capture_default_str();
  // Each is an entry of CRSAN_OPTIONS, where it is checked.
  auto Add = [&](const char *Name, const char *Option, const char *What) {
    Command->add_option_function<std::string>(
        Name,
        [R, Option](const std::string &Value) {
          R->Options += std::string(":") + Option + "=" + Value;
        },
        What);
  };
  Add("--detector", "detector",
      "collider, oracle, both or none (simulated GPU)");
  Add("--seed", "seed", "Replays the run of this seed (simulated GPU)");
  Add("--schedule", "schedule", "roundrobin, random or pct (simulated GPU)");
  Add("--devices", "sim_devices", "How many simulated GPUs there are");
  // The first word that is not ours is the program; what follows is its own.
  Command->prefix_command();
  Command->footer("PROGRAM ARGUMENTS...  what to run");
  Command->callback([=, &ExitCode] {
    R->Words = Command->remaining();
    ExitCode = R->Words.empty() ? fail("name a program to run; see crsan run "
                                       "--help")
                                : runProgram(*R);
  });
}

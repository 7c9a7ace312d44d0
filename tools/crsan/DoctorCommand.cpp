// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// crsan doctor.
#include "DoctorCommand.h"

#include "CudaToolkit.h"
#include "Diagnosis.h"
#include "Installation.h"
#include "common/Flags.h"

#include <CLI/CLI.hpp>
#include <fmt/format.h>

#include <cstdio>
#include <cstdlib>
#include <fstream>
#include <iostream>
#include <optional>
#include <string>

#include <unistd.h>

using namespace crsan;
using driver::CudaToolkit;
using driver::Installation;

static void say(const char *State, std::string_view Subject,
                std::string_view Text) {
  std::cout << fmt::format("{:<8} {}: {}\n", State, Subject, Text)
            << std::flush;
}

void Diagnosis::ok(std::string_view Subject, std::string_view Text) {
  say("ok", Subject, Text);
}

void Diagnosis::warning(std::string_view Subject, std::string_view Text,
                        std::string_view Remedy) {
  say("warning", Subject, fmt::format("{}; {}", Text, Remedy));
}

void Diagnosis::missing(std::string_view Subject, std::string_view Text,
                        std::string_view Remedy) {
  say("missing", Subject, fmt::format("{}; {}", Text, Remedy));
}

void Diagnosis::missing(std::string_view Subject, std::string_view Text) {
  say("missing", Subject, Text);
}

static bool exists(const std::string &Path) {
  return access(Path.c_str(), R_OK) == 0;
}

/// The first line of what `PROGRAM --version` prints; empty: it cannot be run.
static std::string firstLineOfVersion(const std::string &Program) {
  std::string Quoted;
  for (const char C : Program)
    Quoted += C == '\'' ? std::string("'\\''") : std::string(1, C);
  std::FILE *Pipe =
      popen(("'" + Quoted + "' --version 2>/dev/null").c_str(), "r");
  if (!Pipe)
    return "";
  char Line[512];
  std::string First = std::fgets(Line, sizeof(Line), Pipe) ? Line : "";
  while (std::fgets(Line, sizeof(Line), Pipe))
    ; // The program must not end by a broken pipe.
  if (pclose(Pipe) != 0)
    return "";
  return First.substr(0, First.find('\n'));
}

static void diagnoseCompiler(Diagnosis &D) {
  llvm::Expected<driver::Clang> Clang = driver::Clang::find(/*CXX=*/true);
  if (!Clang)
    return D.missing("compiler", llvm::toString(Clang.takeError()));
  const std::string &Program = Clang->Program;
  const std::string Version = firstLineOfVersion(Program);
  if (Version.empty())
    return D.missing("compiler", Program + " does not run",
                     "install clang-22 again");
  if (Version.find("version 22.") == Version.npos)
    return D.missing("compiler",
                     fmt::format("{} is {}, not clang 22", Program, Version),
                     "install clang-22, and unset CRSAN_CLANG");
  D.ok("compiler", fmt::format("{} ({})", Version, Program));
}

/// CUDA_VERSION of cuda.h, 13020 for CUDA 13.2; 0: not found.
static int versionOf(const CudaToolkit &Toolkit) {
  std::ifstream Header(Toolkit.includeDir() + "/cuda.h");
  for (std::string Line; std::getline(Header, Line);) {
    int Version;
    if (std::sscanf(Line.c_str(), "#define CUDA_VERSION %d", &Version) == 1)
      return Version;
  }
  return 0;
}

static void diagnoseToolkit(Diagnosis &D) {
  llvm::Expected<CudaToolkit> Toolkit = CudaToolkit::find(std::nullopt);
  if (!Toolkit)
    return D.missing("CUDA toolkit", llvm::toString(Toolkit.takeError()));
  const std::string &Root = Toolkit->Root;
  const int Version = versionOf(*Toolkit);
  // As the names of packages end: cuda-nvcc-13-2.
  const std::string Suffix =
      fmt::format("{}-{}", Version / 1000, Version % 1000 / 10);
  const std::string Words =
      fmt::format("CUDA {}.{} ({})", Version / 1000, Version % 1000 / 10, Root);
  if (Version / 1000 == 13)
    D.ok("CUDA toolkit", Words);
  else
    D.warning("CUDA toolkit", Words + " is not CUDA 13",
              "install CUDA 13, and set CUDA_PATH to its folder");
  const std::string Assembler = Root + "/bin/ptxas";
  if (access(Assembler.c_str(), X_OK) == 0)
    D.ok("ptxas", Assembler);
  else
    D.missing("ptxas", Assembler + " cannot be run",
              "install cuda-nvcc-" + Suffix);
  if (!exists(Toolkit->includeDir() + "/curand_mtgp32_kernel.h"))
    D.missing("cuRAND",
              "clang includes curand_mtgp32_kernel.h, which " + Root + " lacks",
              "install libcurand-dev-" + Suffix);
  for (const std::string &Folder : Toolkit->libraryDirs())
    if (exists(Folder + "/libcudart.so"))
      return D.ok("libcudart", Folder + "/libcudart.so");
  D.missing("libcudart", "libcudart.so is not in " + Root,
            "install cuda-cudart-dev-" + Suffix);
}

static void diagnoseInstallation(Diagnosis &D, const Installation &Where) {
  std::string Absent;
  for (const std::string &File :
       {Where.passPlugin(), Where.hostRuntime(), Where.wrappers(),
        Where.compatHeader(), Where.assembler(),
        Where.libraryDir() + "/libcrsan.so"})
    if (!exists(File))
      Absent += (Absent.empty() ? "" : ", ") + File;
  if (Absent.empty())
    D.ok("CRSan", Where.Root);
  else
    D.missing("CRSan", "these files are not there: " + Absent,
              "build CRSan completely, or install it again");
}

/// Whether instrumented programs will start.
static bool diagnoseOptions(Diagnosis &D) {
  const char *Options = std::getenv("CRSAN_OPTIONS");
  if (!Options || !*Options) {
    D.ok("CRSAN_OPTIONS", "not set");
    return true;
  }
  if (std::optional<std::string> Error = Flags().parse(Options)) {
    D.missing("CRSAN_OPTIONS", *Error, "correct or unset it");
    return false;
  }
  D.ok("CRSAN_OPTIONS", Options);
  return true;
}

static int diagnose() {
  Diagnosis D;
  const Installation Where =
      Installation::find("crsan", reinterpret_cast<void *>(&addDoctorCommand));
  diagnoseInstallation(D, Where);
  diagnoseCompiler(D);
  diagnoseToolkit(D);
  const bool ProgramsStart = diagnoseOptions(D);
  diagnoseSimulatedGPU(D, Where.libraryDir() + "/sim/libcudart.so.13");
  diagnoseGPU(D, Where.libraryDir() + "/libcrsan.so");
  if (D.Devices.empty() || !ProgramsStart) {
    std::cout << "CRSan: no program can be checked here\n";
    return 1;
  }
  std::cout << fmt::format("CRSan: programs can be checked on {}\n",
                           fmt::join(D.Devices, ", "));
  return 0;
}

void crsan::addDoctorCommand(CLI::App &App, int &ExitCode) {
  App.add_subcommand("doctor", "Say what CRSan lacks here, and how to mend it")
      ->callback([&ExitCode] { ExitCode = diagnose(); });
}

// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// The tool beside the compiler.
//
// One subcommand a file; each adds itself to the command line and says what to
// run.

#include "DoctorCommand.h"
#include "ExplainCommand.h"
#include "ReportCommand.h"
#include "RunCommand.h"

#include <CLI/CLI.hpp>

#include <string>

int main(int Argc, char **Argv) {
  CLI::App App("CudaRaceSanitizer: data races in CUDA programs", "crsan");
  App.require_subcommand(1);
  int ExitCode = 0;
  crsan::addDoctorCommand(App, ExitCode);
  crsan::addExplainCommand(App, ExitCode);
  crsan::addReportCommand(App, ExitCode);
  crsan::addRunCommand(App, ExitCode);
  App.failure_message([](const CLI::App *, const CLI::Error &E) {
    return std::string("CRSan: ") + E.what() + "; see crsan --help\n";
  });
  try {
    App.parse(Argc, Argv);
  } catch (const CLI::ParseError &E) {
    // Asking for help is such an error too, the one that is a success.
    return App.exit(E) == 0 ? 0 : 1;
  }
  return ExitCode;
}

// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// The tool beside the compiler.
//
// One subcommand a file; each adds itself to the command line and says what to
// run.

#include "DiffCommand.h"
#include "DoctorCommand.h"
#include "ExplainCommand.h"
#include "Manual.h"
#include "ManualCommand.h"
#include "NearestWord.h"
#include "ProjectVersion.h"
#include "ReportCommand.h"
#include "RunCommand.h"

#include <CLI/CLI.hpp>

#include <algorithm>
#include <string>
#include <utility>
#include <vector>

/// What is wrong with the command line, with the word that was meant if one is
/// near.
static std::string complaint(const CLI::App *App, const CLI::Error &E) {
  const std::vector<std::string> Unread = App->remaining(/*recurse=*/true);
  const auto Code = CLI::ExitCodes(E.get_exit_code());
  if (Unread.empty() || (Code != CLI::ExitCodes::ExtrasError &&
                         Code != CLI::ExitCodes::RequiredError))
    return E.what();
  const std::string Word = Unread.front().substr(0, Unread.front().find('='));
  const bool HasCommand = !App->get_subcommands().empty();
  std::vector<std::string> Known;
  if (Word.starts_with('-')) {
    const CLI::App *Scope = HasCommand ? App->get_subcommands().front() : App;
    for (const CLI::Option *Option : Scope->get_options())
      for (const std::string &Name : Option->get_lnames())
        Known.push_back("--" + Name);
    return "unknown option '" + Word + "'" + crsan::didYouMean(Word, Known);
  }
  if (HasCommand)
    return "unexpected argument '" + Word + "'";
  for (const CLI::App *Command : crsan::commandsOf(*App))
    Known.push_back(Command->get_name());
  return "unknown command '" + Word + "'" + crsan::didYouMean(Word, Known);
}

int main(int Argc, char **Argv) {
  CLI::App App("CudaRaceSanitizer: data races in CUDA programs", "crsan");
  App.require_subcommand(1);
  App.set_version_flag("--version", crsan::versionLine());
  int ExitCode = 0;
  crsan::addRunCommand(App, ExitCode);
  crsan::addReportCommand(App, ExitCode);
  crsan::addDiffCommand(App, ExitCode);
  crsan::addDoctorCommand(App, ExitCode);
  crsan::addExplainCommand(App, ExitCode);
  crsan::addManualCommand(App);
  App.failure_message([](const CLI::App *App, const CLI::Error &E) {
    return "CRSan: " + complaint(App, E) + "; see crsan --help\n";
  });
  std::vector<std::string> Words(Argv + 1, Argv + Argc);
  crsan::removeProgramMark(App, Words);
  std::reverse(Words.begin(), Words.end()); // As parse() takes them.
  try {
    App.parse(std::move(Words));
  } catch (const CLI::ParseError &E) {
    // Asking for help is such an error too, the one that is a success.
    return App.exit(E) == 0 ? 0 : 1;
  }
  return ExitCode;
}

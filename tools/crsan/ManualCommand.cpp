// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Man pages and completion.
#include "ManualCommand.h"
#include "Manual.h"

#include <CLI/CLI.hpp>

#include <iostream>
#include <memory>

using namespace crsan;

std::vector<const CLI::App *> crsan::commandsOf(const CLI::App &App) {
  std::vector<const CLI::App *> Commands;
  for (const CLI::App *Command : App.get_subcommands(nullptr))
    if (!Command->get_group().empty())
      Commands.push_back(Command);
  return Commands;
}

std::string crsan::typeWords(const CLI::Option &Option) {
  const std::string Type = Option.get_type_name();
  if (Type.empty())
    return "";
  const size_t Brace = Type.find('{');
  return " " + (Brace == Type.npos ? Type : Type.substr(Brace));
}

void crsan::addManualCommand(CLI::App &App) {
  auto File = std::make_shared<std::string>();
  CLI::App *Command = App.add_subcommand("manual")->group("");
  Command->add_option("FILE", *File)
      ->required()
      ->check(CLI::IsMember({"crsan.1", "crsan-clang++.1", "bash", "zsh"}));
  Command->callback([File, &App] {
    std::cout << (*File == "crsan.1"           ? toolPage(App)
                  : *File == "crsan-clang++.1" ? compilerPage()
                  : *File == "bash"            ? bashCompletion(App)
                                               : zshCompletion(App));
  });
}

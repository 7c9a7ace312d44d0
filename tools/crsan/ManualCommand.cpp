// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Man pages and completion.
#include "ManualCommand.h"
#include "Manual.h"

#include <CLI/CLI.hpp>

#include <functional>
#include <iostream>
#include <map>
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
  using Writer = std::function<std::string()>;
  const std::map<std::string, Writer> Files = {
      {"crsan.1", [&App] { return toolPage(App); }},
      {"crsan-clang++.1", clangPage},
      {"crsan-nvcc.1", nvccPage},
      {"crsan-ptxas.1", ptxasPage},
      {"bash", [&App] { return bashCompletion(App); }},
      {"zsh", [&App] { return zshCompletion(App); }}};
  auto File = std::make_shared<std::string>();
  CLI::App *Command = App.add_subcommand("manual")->group("");
  Command->add_option("FILE", *File)->required()->check(CLI::IsMember(Files));
  Command->callback([=] { std::cout << Files.at(*File)(); });
}

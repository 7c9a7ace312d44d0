// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Completion by shells.
#include "Manual.h"
#include "OptionsHelp.h"

#include "Report/Words.h"

#include <CLI/CLI.hpp>
#include <fmt/format.h>

using namespace crsan;

/// The long options, as they are typed.
static std::vector<std::string> optionsOf(const CLI::App &Command) {
  std::vector<std::string> Names;
  for (const CLI::Option *Option : Command.get_options())
    for (const std::string &Name : Option->get_lnames())
      Names.push_back("--" + Name);
  return Names;
}

/// "sim gpu", of an option that takes one of a set.
static std::string choicesOf(const CLI::Option &Option) {
  std::string Words = typeWords(Option);
  if (!Words.starts_with(" {"))
    return "";
  Words = Words.substr(2, Words.find('}') - 2);
  for (char &C : Words)
    if (C == ',')
      C = ' ';
  return Words;
}

/// What a command takes behind its options.
static std::string operandsOf(const CLI::App &Command) {
  std::string Words;
  if (Command.get_name() == "explain")
    for (const KindWords &K : allKindWords())
      Words += std::string(Words.empty() ? "" : " ") + K.Key;
  return Words;
}

static std::string bashCases(const CLI::App &Command) {
  std::string Text;
  for (const CLI::Option *Option : Command.get_options())
    if (const std::string Choices = choicesOf(*Option); !Choices.empty())
      Text += fmt::format("    {}:--{}) words=\"{}\" ;;\n", Command.get_name(),
                          Option->get_lnames().front(), Choices);
  return Text;
}

/// "--cudart=" of "--cudart=KIND".
static std::string withoutPlaceholder(const std::string &Spelling) {
  const size_t Value = Spelling.find('=') + 1;
  const bool IsPlaceholder = Value != 0 && Value < Spelling.size() &&
                             Spelling[Value] >= 'A' && Spelling[Value] <= 'Z';
  return IsPlaceholder ? Spelling.substr(0, Value) : Spelling;
}

std::string crsan::bashCompletion(const CLI::App &App) {
  std::string Commands, Values, Options, Compiler;
  for (const CLI::App *Command : commandsOf(App)) {
    Commands += (Commands.empty() ? "" : " ") + Command->get_name();
    Values += bashCases(*Command);
    const std::string Operands = operandsOf(*Command);
    Options += fmt::format("    {}) words=\"{}{}{}\" ;;\n", Command->get_name(),
                           fmt::join(optionsOf(*Command), " "),
                           Operands.empty() ? "" : " ", Operands);
  }
  for (const driver::CompilerOption &Option : driver::compilerOptions())
    Compiler +=
        (Compiler.empty() ? "" : " ") + withoutPlaceholder(Option.Spelling);
  return fmt::format(R"(# Completion of crsan and crsan-clang++.
_crsan() {{
  local cur=$2 prev=$3 command=${{COMP_WORDS[1]}} words=
  COMPREPLY=()
  if ((COMP_CWORD == 1)); then
    COMPREPLY=($(compgen -W "{} {}" -- "$cur"))
    return
  fi
  # --name=value is three words.
  if [[ $cur == = ]]; then
    cur=
  elif [[ $prev == = ]]; then
    prev=${{COMP_WORDS[COMP_CWORD - 2]}}
  fi
  case "$command:$prev" in
{}  esac
  [[ $words ]] || case "$command" in
{}  esac
  COMPREPLY=($(compgen -W "$words" -- "$cur"))
}}
_crsan_clang() {{
  local cur=${{COMP_LINE:0:COMP_POINT}}
  cur=${{cur##* }}
  [[ $cur == -* ]] || return
  # What stands before the last = is there already.
  local cut=
  [[ $cur == *=* ]] && cut=${{cur%=*}}=
  COMPREPLY=($(compgen -W "{}" -- "$cur"))
  COMPREPLY=("${{COMPREPLY[@]#"$cut"}}")
}}
complete -o default -F _crsan crsan
complete -o default -F _crsan_clang crsan-clang crsan-clang++
)",
                     Commands, fmt::join(optionsOf(App), " "), Values, Options,
                     Compiler);
}

/// In single quotes of zsh's _arguments.
static std::string zshText(std::string_view Text) {
  std::string Out;
  for (const char C : Text)
    if (C == '\'')
      Out += "'\\''";
    else if (C == '[' || C == ']' || C == ':')
      Out += std::string("\\") + C;
    else
      Out += C;
  return Out;
}

std::string crsan::zshCompletion(const CLI::App &App) {
  std::string Commands, Cases;
  for (const CLI::App *Command : commandsOf(App)) {
    Commands += fmt::format("    '{}:{}'\n", Command->get_name(),
                            zshText(Command->get_description()));
    Cases += fmt::format("    {}) _arguments", Command->get_name());
    for (const CLI::Option *Option : Command->get_options()) {
      if (Option->get_lnames().empty())
        continue;
      const std::string Choices = choicesOf(*Option);
      Cases +=
          fmt::format(" \\\n      '--{}{}[{}]{}'", Option->get_lnames().front(),
                      typeWords(*Option).empty() ? "" : "=",
                      zshText(Option->get_description()),
                      typeWords(*Option).empty() ? ""
                      : Choices.empty()          ? ":value:_files"
                                        : fmt::format(":value:({})", Choices));
    }
    const std::string Operands = operandsOf(*Command);
    Cases += fmt::format(" \\\n      '{}' ;;\n",
                         Operands.empty() ? "*:file:_files"
                                          : "1:kind:(" + Operands + ")");
  }
  return fmt::format(R"(#compdef crsan
local -a commands
commands=(
{})
if ((CURRENT == 2)); then
  _describe command commands
else
  local command=$words[2]
  shift words
  ((CURRENT--))
  case $command in
{}  esac
fi
)",
                     Commands, Cases);
}

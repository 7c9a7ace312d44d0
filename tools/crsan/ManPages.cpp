// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// The man pages.
#include "Manual.h"
#include "OptionsHelp.h"
#include "ProjectVersion.h"

#include "common/FlagTable.h"

#include <CLI/CLI.hpp>
#include <fmt/format.h>

using namespace crsan;

/// Text as troff takes it.
static std::string escaped(std::string_view Text) {
  std::string Out;
  for (const char C : Text)
    if (C == '\\')
      Out += "\\e";
    else if (C == '-')
      Out += "\\-";
    else if (C == ':')
      Out += ":\\:"; // A line may end here.
    else if ((C == '.' || C == '\'') && (Out.empty() || Out.back() == '\n'))
      Out += std::string("\\&") + C;
    else
      Out += C;
  return Out;
}

static std::string entry(std::string_view Term, std::string_view Text) {
  return fmt::format(".TP\n.B {}\n{}\n", escaped(Term), escaped(Text));
}

static std::string head(std::string_view Name, std::string_view What) {
  return fmt::format(".TH {} 1 \"\" \"{}\"\n.ad l\n.SH NAME\n{} \\- {}\n", Name,
                     escaped(versionLine()), escaped(Name), escaped(What));
}

static std::string optionEntries(const CLI::App &Command) {
  std::string Text;
  for (const CLI::Option *Option : Command.get_options())
    Text += entry(Option->get_name(false, true) +
                      (Option->get_positional() ? "" : typeWords(*Option)),
                  Option->get_description());
  return Text;
}

static std::string runTimeOptions() {
  std::string Text;
  for (const FlagInfo &F : flagTable())
    Text += entry(fmt::format("{}={}", F.Name, F.Default), F.Description);
  return Text;
}

std::string crsan::toolPage(const CLI::App &App) {
  std::string Text = head("crsan", "find data races in CUDA programs");
  Text += ".SH SYNOPSIS\n.B crsan\n.I COMMAND\n[\\fIOPTION\\fR]...\n";
  Text += ".SH OPTIONS\n" + optionEntries(App) + ".SH COMMANDS\n";
  for (const CLI::App *Command : commandsOf(App))
    Text += fmt::format(".SS crsan {}\n{}\n{}", escaped(Command->get_name()),
                        escaped(Command->get_description() + "."),
                        optionEntries(*Command));
  Text += ".SH ENVIRONMENT\n.B CRSAN_OPTIONS\nhas the options of instrumented "
          "programs, as name=value:name=value. They are listed with their "
          "defaults.\n" +
          runTimeOptions();
  Text += ".SH EXIT STATUS\n" +
          entry("66", "Of a program that was run: races were found.") +
          entry("67", "Of a program that was run: nothing was checked.") +
          entry("68", "Of a program that was run: no race was found, but a "
                      "kernel or the program failed, or the report of one of "
                      "its processes is missing.") +
          entry("0", "Nothing is wrong, of the other commands.") +
          entry("1", "The command could not do what it was asked for.");
  return Text + ".SH SEE ALSO\n.BR crsan\\-clang++ (1), crsan\\-nvcc (1), "
                "crsan\\-ptxas (1)\n";
}

/// Of a program that runs the compiler `Wrapped`. `Environment`: entries of
/// its variables.
static std::string compilerPage(const std::string &Name,
                                const std::string &Wrapped, bool IsNvcc,
                                const std::string &Environment) {
  std::string Text = head(Name, Wrapped + " that has data races in CUDA found");
  Text += fmt::format(
      ".SH SYNOPSIS\n.B {}\n[\\fIOPTION\\fR]... \\fIFILE\\fR...\n"
      ".SH DESCRIPTION\nThe program runs {}. Without the options that follow "
      "it gives {} unchanged arguments.\n.SH OPTIONS\n",
      escaped(Name), IsNvcc ? Wrapped : Wrapped + " 22", Wrapped);
  for (const driver::CompilerOption &Option : driver::compilerOptions())
    if (!IsNvcc || Option.For == driver::Compilers::Both)
      Text += entry(Option.Spelling, Option.Description);
  return Text + ".SH ENVIRONMENT\n" + Environment +
         entry("CUDA_PATH, CUDA_HOME", "Where the CUDA toolkit is.") +
         ".SH SEE ALSO\n.BR crsan (1)\n";
}

std::string crsan::clangPage() {
  return compilerPage("crsan-clang++", "clang++", /*IsNvcc=*/false,
                      entry("CRSAN_CLANG",
                            "The clang that is run, if it is not clang 22's "
                            "of this machine."));
}

std::string crsan::nvccPage() {
  return compilerPage("crsan-nvcc", "nvcc", /*IsNvcc=*/true,
                      /*Environment=*/"");
}

std::string crsan::ptxasPage() {
  std::string Text =
      head("crsan-ptxas", "ptxas that puts checks for data races into PTX");
  Text += ".SH SYNOPSIS\n.B crsan\\-ptxas\n[\\fIOPTION\\fR]... "
          "\\fIFILE\\fR...\n.SH DESCRIPTION\nThe program puts checks into "
          "PTX that has none, and runs ptxas, whose options it takes.\n"
          ".SH OPTIONS\n";
#define CRSAN_PTXAS_OPTION(Spelling, Description)                              \
  Text += entry(Spelling, Description);
#include "crsan/PtxasOptions.def"
  Text += ".SH ENVIRONMENT\n";
#define CRSAN_PTXAS_VARIABLE(Name, Description)                                \
  Text += entry(Name, Description);
#include "crsan/PtxasOptions.def"
  return Text + ".SH SEE ALSO\n.BR crsan (1), crsan\\-nvcc (1)\n";
}

// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// crsan explain.
#include "ExplainCommand.h"

#include "NearestWord.h"
#include "Report/KindGuide.h"
#include "Report/Words.h"

#include <CLI/CLI.hpp>
#include <fmt/format.h>

#include <algorithm>
#include <cctype>
#include <iostream>
#include <memory>
#include <string>
#include <vector>

using namespace crsan;

namespace {
struct ExplainRequest {
  std::string Kind;
  bool RacyProgram = false, FixedProgram = false, IsMarkdown = false;
};
} // namespace

/// "Race within a block", "race-within-a-block": a kind however it is written.
static std::string plain(std::string_view Name) {
  std::string Word;
  for (const char C : Name)
    Word += C == ' ' || C == '-' ? '_' : char(std::tolower((unsigned char)C));
  return Word;
}

/// Null: no kind has this name, key or code.
static const KindWords *findKind(const std::string &Name) {
  const std::string Word = plain(Name);
  for (const KindWords &K : allKindWords())
    if (Word == K.Key || Word == plain(K.Name) ||
        (*K.Code && Word == plain(K.Code)))
      return &K;
  return nullptr;
}

static int listKinds() {
  for (const KindWords &K : allKindWords())
    std::cout << fmt::format("{:<24}{}\n", K.Key, K.Name);
  std::cout << "\ncrsan explain KIND says what a kind means\n";
  return 0;
}

static int explainKind(const ExplainRequest &R) {
  if (R.Kind.empty())
    return listKinds();
  const KindWords *Words = findKind(R.Kind);
  if (!Words) {
    std::vector<std::string> Keys;
    for (const KindWords &K : allKindWords())
      Keys.push_back(K.Key);
    std::cerr << fmt::format("CRSan: '{}' is no kind of race{}; see crsan "
                             "explain\n",
                             R.Kind, didYouMean(plain(R.Kind), Keys));
    return 1;
  }
  const KindGuide &Guide = *guideTo(Words->Kind);
  if (R.RacyProgram || R.FixedProgram)
    std::cout << (R.RacyProgram ? Guide.Racy : Guide.Fixed);
  else if (R.IsMarkdown)
    std::cout << "# " << (char)std::toupper((unsigned char)*Words->Name)
              << Words->Name + 1 << "\n\n"
              << guideMarkdown(Guide);
  else
    std::cout << Words->Name << " (" << Words->Key << (*Words->Code ? ", " : "")
              << Words->Code << ")\n\n"
              << guideText(Guide);
  return 0;
}

void crsan::addExplainCommand(CLI::App &App, int &ExitCode) {
  auto R = std::make_shared<ExplainRequest>();
  CLI::App *Command =
      App.add_subcommand("explain", "Say what a kind of race means");
  Command->add_option("KIND", R->Kind, "Its name in a report; default: list");
  CLI::Option *Racy = Command->add_flag("--racy", R->RacyProgram,
                                        "Print only the program that races");
  Command
      ->add_flag("--fixed", R->FixedProgram,
                 "Print only the program without the race")
      ->excludes(Racy);
  Command->add_flag("--markdown", R->IsMarkdown, "Print Markdown");
  Command->callback([=, &ExitCode] { ExitCode = explainKind(*R); });
}

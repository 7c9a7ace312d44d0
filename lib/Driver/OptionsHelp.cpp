// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// What is said of the compiler options that are CRSan's.
#include "OptionsHelp.h"

using namespace crsan::driver;

std::vector<CompilerOption> crsan::driver::compilerOptions() {
  std::vector<CompilerOption> Options = {
#define CRSAN_OPTION(Spelling, For, Description)                               \
  {Spelling, Compilers::For, Description},
#define CRSAN_OWN_OPTION(Spelling, For, Description)                           \
  {Spelling, Compilers::For, Description},
#include "RaceOptions.def"
  };
#define CRSAN_MODE(Enumerator, Name, Description)                              \
  Options.push_back({"-fsanitize-cuda-race-mode=" Name, Compilers::Both,       \
                     std::string("look for races ") + Description});
#include "crsan/Modes.def"
  return Options;
}

std::string crsan::driver::optionsHelp(const std::string &Program,
                                       const std::string &Wrapped,
                                       bool IsNvcc) {
  std::string Text = Program + " is " + Wrapped +
                     " with these options, which have data races found:\n\n";
  for (const CompilerOption &Option : compilerOptions())
    if (!IsNvcc || Option.For == Compilers::Both)
      Text += "  " + Option.Spelling + "\n        " + Option.Description + "\n";
  return Text +
         "\nA program that was compiled with them has options of its "
         "own, which CRSAN_OPTIONS=help=1\nlists when it runs. The "
         "options of " +
         Wrapped + " follow.\n\n";
}

// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Parse and print files of PTX.
//
// ptx-round-trip FILE...: each file must parse; what is printed must parse to
// an equal tree and print as itself. The printed text is left in FILE.printed.

#include "Dump.h"
#include "PTX/Parser.h"
#include "PTX/Printer.h"

#include <chrono>
#include <cstdio>
#include <fstream>
#include <iterator>

using namespace crsan::ptx;

namespace {

struct Total {
  size_t Bytes = 0;
  double Seconds = 0;
};

bool complain(const char *File, const ParseError &E, const char *What) {
  std::fprintf(stderr, "%s:%u:%u: %s%s\n%s\n", File, E.Pos.Line, E.Pos.Column,
               What, E.Message.c_str(), E.Line.c_str());
  return false;
}

bool check(const char *File, Total &Sum) {
  std::ifstream In(File, std::ios::binary);
  std::string Text{std::istreambuf_iterator<char>(In), {}};
  Sum.Bytes += Text.size();
  const auto Start = std::chrono::steady_clock::now();
  auto First = parseModule(std::move(Text));
  Sum.Seconds +=
      std::chrono::duration<double>(std::chrono::steady_clock::now() - Start)
          .count();
  if (const auto *E = std::get_if<ParseError>(&First))
    return complain(File, *E, "");
  const Module &M = std::get<Module>(First);
  const std::string Printed = print(M);
  std::ofstream(std::string(File) + ".printed") << Printed;

  auto Second = parseModule(Printed);
  if (const auto *E = std::get_if<ParseError>(&Second))
    return complain(File, *E, "in what was printed: ");
  const Module &Again = std::get<Module>(Second);
  const bool IsEqual = Dump(&M).module() == Dump(&Again).module();
  const bool IsStable = print(Again) == Printed;
  if (!IsEqual || !IsStable)
    std::fprintf(stderr, "%s: %s\n", File,
                 IsEqual ? "prints differently the second time"
                         : "what is printed parses to another tree");
  return IsEqual && IsStable;
}

} // namespace

int main(int Count, char **Arguments) {
  Total Sum;
  int Bad = 0;
  for (int I = 1; I < Count; ++I)
    Bad += !check(Arguments[I], Sum);
  std::printf("%d of %d files round-trip, %.1f MB parsed at %.0f MB/s\n",
              Count - 1 - Bad, Count - 1, Sum.Bytes / 1e6,
              Sum.Seconds > 0 ? Sum.Bytes / 1e6 / Sum.Seconds : 0.0);
  return Bad != 0 || Count == 1;
}

// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// A line as the program's own reports name it.
#include "InlinedCalls.h"

#include "Report/Demangle.h"

#include <algorithm>
#include <filesystem>

namespace crsan::api {

/// "k" of "void a::k<int>(int*)" and of "k<int>": tables have the names of the
/// source, or the mangled ones, depending on the debug information.
static std::string_view baseName(std::string_view Function) {
  constexpr std::string_view Anonymous = "(anonymous namespace)";
  size_t Begin = 0, At = 0;
  for (int Depth = 0; At < Function.size(); ++At) {
    const char C = Function[At];
    Depth += (C == '<') - (C == '>');
    if (Depth != 0)
      continue;
    if (Function.substr(At).starts_with(Anonymous))
      At += Anonymous.size() - 1;
    else if (C == '(')
      break;
    else if (C == ' ' || C == ':')
      Begin = At + 1;
  }
  Function = Function.substr(Begin, At - Begin);
  return Function.substr(0, Function.find('<'));
}

InlinedCalls::Key InlinedCalls::keyOf(const SourceFrame &Innermost,
                                      const SourceFrame &Outermost) {
  return {std::filesystem::path(Innermost.File).filename(), Innermost.Line,
          Innermost.Column,
          std::string(baseName(demangle(Outermost.Function)))};
}

void InlinedCalls::add(const std::vector<SourceFrame> &Frames) {
  for (const SourceFrame &F : Frames)
    Files[std::filesystem::path(F.File).filename()].insert(F.File);
  if (Frames.empty() || Frames.front().Line == 0)
    return;
  const auto [It, IsNew] =
      Shared.try_emplace(keyOf(Frames.front(), Frames.back()), Frames);
  std::vector<SourceFrame> &Known = It->second;
  Known.erase(std::ranges::mismatch(Known, Frames).in1, Known.end());
}

InlinedCalls::InlinedCalls(const SiteTable &Sites) {
  Sites.forEach([&](const SiteInfo &Site) {
    add(Site.Frames);
    if (Site.Access == abi::AccessKind::Barrier && !Site.Frames.empty())
      Barriers.insert(keyOf(Site.Frames.front(), Site.Frames.back()));
    for (const CompanionInfo &C : Site.Companions)
      add(C.Frames);
  });
}

std::string InlinedCalls::nameOf(const std::string &Path) const {
  const auto It = Files.find(std::filesystem::path(Path).filename());
  std::string Name;
  if (It != Files.end())
    for (const std::string &Known : It->second)
      if (Known.size() > Name.size() &&
          (Path == Known || Path.ends_with("/" + Known)))
        Name = Known;
  return Name.empty() ? Path : Name;
}

void InlinedCalls::complete(std::vector<SourceFrame> &Frames) const {
  if (Frames.size() != 1)
    return;
  Frames[0].File = nameOf(Frames[0].File);
  const auto It = Shared.find(keyOf(Frames[0], Frames[0]));
  if (It == Shared.end() || It->second.size() < 2)
    return;
  Frames[0].Function = It->second[0].Function;
  Frames.insert(Frames.end(), It->second.begin() + 1, It->second.end());
}

bool InlinedCalls::isBarrier(const std::vector<SourceFrame> &Frames) const {
  return !Frames.empty() &&
         Barriers.contains(keyOf(Frames.front(), Frames.back()));
}

} // namespace crsan::api

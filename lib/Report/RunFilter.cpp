// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// The kernels and launches that a user asks about.
#include "Report/RunFilter.h"

#include "Report/Demangle.h"

#include <fmt/format.h>

#include <algorithm>
#include <charconv>

#include <fnmatch.h>

using namespace crsan;

/// The whole text as a number, from 1.
static bool readNumber(std::string_view Text, uint64_t &Number) {
  const char *End = Text.data() + Text.size();
  const auto [Stop, Error] = std::from_chars(Text.data(), End, Number);
  return Error == std::errc() && Stop == End && Number > 0;
}

std::variant<RunFilter, std::string>
RunFilter::parse(std::string_view Kernels, std::string_view Launches) {
  RunFilter F;
  while (!Kernels.empty()) {
    const size_t End = std::min(Kernels.find('|'), Kernels.size());
    if (End > 0)
      F.Patterns.emplace_back(Kernels.substr(0, End));
    Kernels.remove_prefix(std::min(End + 1, Kernels.size()));
  }
  if (Launches.empty())
    return F;
  const size_t Dash = std::min(Launches.find('-'), Launches.size());
  const std::string_view Second =
      Launches.substr(std::min(Dash + 1, Launches.size()));
  bool IsRange = readNumber(Launches.substr(0, Dash), F.First);
  if (Dash == Launches.size())
    F.Last = F.First;
  else if (!Second.empty())
    IsRange &= readNumber(Second, F.Last) && F.First <= F.Last;
  if (!IsRange)
    return fmt::format("'{}' is no range of launches; write the first and the "
                       "last, from 1, as in 3-5, or 3- for all from the third",
                       Launches);
  return F;
}

bool RunFilter::takesKernel(const std::string &Kernel) const {
  if (Patterns.empty())
    return true;
  const std::string Readable = demangle(Kernel);
  const std::string Function(functionName(Readable)),
      Last(unqualified(Function));
  return std::any_of(Patterns.begin(), Patterns.end(),
                     [&](const std::string &P) {
                       return demangle(P) == Readable ||
                              fnmatch(P.c_str(), Kernel.c_str(), 0) == 0 ||
                              fnmatch(P.c_str(), Readable.c_str(), 0) == 0 ||
                              fnmatch(P.c_str(), Function.c_str(), 0) == 0 ||
                              fnmatch(P.c_str(), Last.c_str(), 0) == 0;
                     });
}

/// What several kernels may run is not left out.
bool RunFilter::takes(const SiteInfo *Site) const {
  return Site && (Site->Kernel.empty() || takesKernel(Site->Kernel));
}

void RunFilter::apply(ReportFile &File) const {
  if (Patterns.empty())
    return;
  // Whatever kernel failed, nothing was checked behind it.
  std::erase_if(File.Occurrences, [&](const Occurrence &O) {
    return O.Fault.empty() && !takes(File.Sites.find(O.Rec.Site)) &&
           !(O.Rec.Other && takes(File.Sites.find(O.Rec.Other)));
  });
}

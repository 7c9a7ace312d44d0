// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// A program run several times, with several seeds.
#include "RunSeries.h"

#include "LeftBehind.h"
#include "Progress.h"
#include "Report/Words.h"

#include <fmt/format.h>

#include <algorithm>
#include <fstream>
#include <map>
#include <mutex>
#include <thread>

using namespace crsan;
namespace fs = std::filesystem;

namespace {
/// The runs of a series. Each worker takes the next seed until none is left.
class Series {
public:
  Series(const Program &P, const SeriesOptions &Options, const fs::path &Folder)
      : P(P), Options(Options), Folder(Folder),
        Shown(Options.Seeds.size(), IsSingle) {}

  SeriesResult run();

private:
  void work();
  void accept(size_t Index, RunResult Result);
  /// The findings that the run has brought: how many, and a line for each.
  size_t noteNews(uint32_t Seed, const Report &R);
  void noteFailure(uint32_t Seed, const RunResult &Result,
                   const std::string &Name);
  std::string nameOf(size_t Index) const { return fmt::format("run{}", Index); }

  const Program &P;
  const SeriesOptions &Options;
  const fs::path &Folder;
  const bool IsSingle = Options.Seeds.size() == 1;
  Progress Shown;

  std::mutex Lock; ///< Of everything below.
  size_t Next = 0;
  bool IsOver = false;
  size_t Known = 0; ///< Findings so far.
  unsigned Dry = 0; ///< Runs since the last new one.
  ReportFile SoFar; ///< All records, in the order in which runs ended.
  std::map<size_t, ReportFile> Files; ///< By index of the run.
  SeriesResult Result;
};
} // namespace

void Series::work() {
  while (true) {
    size_t Index;
    {
      std::lock_guard Guard(Lock);
      if (IsOver || wasInterrupted() || Next == Options.Seeds.size())
        return;
      Index = Next++;
    }
    RunResult Run = runProgram(P, Options.Seeds[Index], Folder, nameOf(Index),
                               /*Capture=*/!IsSingle);
    std::lock_guard Guard(Lock);
    accept(Index, std::move(Run));
  }
}

size_t Series::noteNews(uint32_t Seed, const Report &R) {
  const size_t News = R.Findings.size() - std::min(Known, R.Findings.size());
  Known = R.Findings.size();
  if (News == 0 || IsSingle)
    return News;
  const uint32_t Run = uint32_t(R.Runs.size() - 1);
  for (const Finding &F : R.Findings)
    if (F.Runs == std::vector{Run})
      Shown.say(fmt::format("seed {}: new: {}", Seed, headingAndPlace(F, "")));
  return News;
}

/// The last lines of what a failed run printed.
static std::string tailOf(const fs::path &Path) {
  constexpr size_t Most = 20;
  std::vector<std::string> Lines;
  std::ifstream In(Path, std::ios::binary);
  for (std::string Line; std::getline(In, Line); Lines.push_back(Line))
    if (Lines.size() == Most)
      Lines.erase(Lines.begin());
  std::string Text;
  for (const std::string &Line : Lines)
    Text += "    " + Line + "\n";
  return Text;
}

void Series::noteFailure(uint32_t Seed, const RunResult &Run,
                         const std::string &Name) {
  const std::string What = Run.Failure;
  if (What.empty() || IsSingle)
    return;
  // Alike failures need not be read twice.
  if (Result.Failures <= 3)
    Shown.say(
        fmt::format("seed {}: {}; the last lines that it printed:", Seed, What),
        tailOf(outputOf(Folder, Name)));
  else
    Shown.say(fmt::format("seed {}: {}", Seed, What));
}

void Series::accept(size_t Index, RunResult Run) {
  const uint32_t Seed = Options.Seeds[Index];
  ++Result.Runs;
  Result.Reports += Run.Reports;
  Result.Failures += !Run.Failure.empty();
  Result.IsIncomplete |= Run.IsIncomplete;
  Result.IsHeard &= Run.IsHeard;
  Result.SaysMore |= Run.SaysMore;
  SoFar.add(Run.File);
  const size_t News = noteNews(Seed, buildReport(SoFar));
  Files[Index] = std::move(Run.File);
  noteFailure(Seed, Run, nameOf(Index));
  if (Options.ShowOutput && !IsSingle)
    Shown.say(fmt::format("seed {} printed:", Seed),
              outputOf(Folder, nameOf(Index)));
  std::error_code Error;
  fs::remove(outputOf(Folder, nameOf(Index)), Error);
  Dry = News ? 0 : Dry + 1;
  if (Options.UntilDry && Dry >= Options.UntilDry && !IsOver) {
    IsOver = true;
    Result.EndedDry = Result.Runs < Options.Seeds.size();
  }
  // What cannot be started will not start the next time.
  IsOver |= !Run.End.Error.empty();
  Shown.update(Result.Runs, Known);
}

SeriesResult Series::run() {
  std::vector<std::thread> Workers;
  const size_t Jobs = std::min<size_t>(Options.Jobs, Options.Seeds.size());
  for (size_t I = 1; I < Jobs; ++I)
    Workers.emplace_back([this] { work(); });
  work();
  for (std::thread &Worker : Workers)
    Worker.join();
  Shown.finish();
  Result.Interrupted = wasInterrupted();
  // The same runs make the same report, whichever ended first.
  for (auto &[Index, File] : Files)
    if (Result.File.Runs.empty())
      Result.File = std::move(File);
    else
      Result.File.add(File);
  return std::move(Result);
}

SeriesResult crsan::runSeries(const Program &P, const SeriesOptions &Options,
                              const fs::path &Folder) {
  passSignalsOn();
  adoptOrphans();
  return Series(P, Options, Folder).run();
}

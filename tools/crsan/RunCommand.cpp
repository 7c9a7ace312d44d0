// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// crsan run.
#include "RunCommand.h"

#include "Environment.h"
#include "Files.h"
#include "NearestWord.h"
#include "Output.h"
#include "Report/RunFilter.h"
#include "Report/Suppressions.h"
#include "RunSeries.h"
#include "common/Flags.h"
#include "common/Log.h"

#include <CLI/CLI.hpp>
#include <fmt/format.h>

#include <algorithm>
#include <cerrno>
#include <charconv>
#include <csignal>
#include <cstdlib>
#include <cstring>
#include <filesystem>
#include <iostream>
#include <memory>
#include <numeric>
#include <string>
#include <thread>
#include <vector>

#include <fcntl.h>
#include <unistd.h>

using namespace crsan;
namespace fs = std::filesystem;

namespace {
struct RunRequest {
  std::string Device = "auto";
  std::string Options; ///< ":name=value" for each option given.
  std::string Seeds;
  std::string Seed;
  unsigned Runs = 0; ///< 0: one for each seed.
  unsigned Jobs = 0; ///< 0: as suits the device.
  unsigned UntilDry = 0;
  double Timeout = 0; ///< Seconds; 0: none.
  bool ShowOutput = false;
  OutputOptions Output;
  std::vector<std::string> Words;
};

/// A folder of the tool's own, which is removed with all that is in it.
class ScratchFolder {
public:
  ScratchFolder() {
    std::error_code Error;
    std::string Name =
        fs::absolute(fs::temp_directory_path(Error) / "crsan-run-XXXXXX")
            .string();
    if (!mkdtemp(Name.data()))
      return;
    Path = Name;
    Descriptor = open(Name.c_str(), O_RDONLY | O_DIRECTORY | O_CLOEXEC);
  }
  ~ScratchFolder() {
    std::error_code Error;
    if (Descriptor >= 0)
      close(Descriptor);
    if (!Path.empty())
      fs::remove_all(Path, Error);
  }

  fs::path Path; ///< Empty: it could not be made, errno says why.

private:
  /// By this a process without the tool's environment finds the folder
  /// (runtime/host/Runner.c).
  int Descriptor = -1;
};
} // namespace

/// As execvp would find it; empty: nowhere.
static std::string findProgram(const std::string &Word) {
  if (Word.find('/') != Word.npos)
    return access(Word.c_str(), X_OK) == 0 ? Word : "";
  const char *Path = std::getenv("PATH");
  std::string Folders = Path ? Path : "/usr/bin:/bin";
  for (size_t At = 0; At <= Folders.size();) {
    size_t End = std::min(Folders.find(':', At), Folders.size());
    std::string File = Folders.substr(At, End - At) + "/" + Word;
    if (access(File.c_str(), X_OK) == 0)
      return File;
    At = End + 1;
  }
  return "";
}

/// Whether NVIDIA's driver is there, natively or in WSL.
static bool hasDriver() {
  return access("/dev/nvidiactl", F_OK) == 0 || access("/dev/dxg", F_OK) == 0;
}

/// "N": the seeds from 0 to N - 1; "A-B": those from A to B. Empty: neither.
static std::vector<uint32_t> seedsOf(std::string_view Text) {
  const auto Number = [](std::string_view Digits, uint32_t &Value) {
    const char *End = Digits.data() + Digits.size();
    const auto [Stop, Error] = std::from_chars(Digits.data(), End, Value);
    return Error == std::errc() && Stop == End;
  };
  uint32_t First = 0, Last = 0;
  const size_t Dash = Text.find('-');
  if (Dash == Text.npos) {
    if (!Number(Text, Last) || Last == 0)
      return {};
    --Last;
  } else if (!Number(Text.substr(0, Dash), First) ||
             !Number(Text.substr(Dash + 1), Last) || Last < First) {
    return {};
  }
  constexpr uint32_t Most = 1u << 20;
  if (Last - First >= Most)
    return {};
  std::vector<uint32_t> Seeds;
  for (uint32_t I = 0; I <= Last - First; ++I)
    Seeds.push_back(First + I);
  return Seeds;
}

/// The seed of each run, or none if what is wanted makes no sense. Without
/// --seeds and --seed, the first seed is that of CRSAN_OPTIONS.
static std::vector<uint32_t> seedsOf(const RunRequest &Q, uint32_t First) {
  if (Q.Seeds.empty() && Q.Seed.empty()) {
    std::vector<uint32_t> All(std::max(Q.Runs, 1u));
    std::iota(All.begin(), All.end(), First);
    return All;
  }
  const std::vector<uint32_t> Each =
      seedsOf(Q.Seeds.empty() ? Q.Seed + "-" + Q.Seed : Q.Seeds);
  std::vector<uint32_t> All;
  for (unsigned I = 0; I < std::max(Q.Runs, 1u); ++I)
    All.insert(All.end(), Each.begin(), Each.end());
  return All;
}

/// Whether a run in which nothing was checked is a failure.
static bool wantsChecks(const Flags &Options) {
  return Options.require_checked && Options.enabled &&
         Options.detector != "none";
}

/// What the runs show beside findings, for the summary.
static void addNotes(SeriesResult &Result, const RunRequest &Q,
                     const Flags &Options, bool IsSimulated) {
  std::vector<std::string> &Notes = Result.File.Summary.Notes;
  if (Result.Reports == 0 && Notes.empty() && wantsChecks(Options))
    Notes.push_back(
        IsSimulated
            ? "no process of the program loaded the simulated GPU; link the "
              "program to CUDA's shared library (-lcudart)"
            : "no process of the program loaded CRSan: none has called CUDA, "
              "or CUDA_INJECTION64_PATH was changed for it");
  if (Result.EndedDry)
    Notes.push_back(fmt::format("ended after {} runs, of which the last {} "
                                "showed nothing new (--until-dry)",
                                Result.Runs, Q.UntilDry));
  if (Result.Interrupted)
    Notes.push_back(fmt::format("interrupted after {} runs", Result.Runs));
}

static int exitCodeOf(const Report &R, const SeriesResult &Result,
                      const Flags &Options) {
  if (R.hasRaces())
    return ExitRacy;
  if (!R.Findings.empty() || Result.Failures)
    return ExitFailed;
  const bool HasChecked = R.verdict() == Verdict::Clean || R.Summary.Suppressed;
  return HasChecked || !wantsChecks(Options) ? 0 : ExitNothingChecked;
}

/// Prints what the runs have shown. The processes of a single run have printed
/// their findings; then one line for each finding tells what they are together.
static int conclude(SeriesResult Result, const RunRequest &Q,
                    const Flags &Options, bool IsSimulated, bool IsSingle) {
  addNotes(Result, Q, Options, IsSimulated);
  const auto Built = reportOf(Result.File, Q.Output);
  if (auto *Error = std::get_if<std::string>(&Built))
    return fail(*Error);
  const Report &R = std::get<Report>(Built);
  const bool IsText = Q.Output.Format == "text" && Q.Output.Path.empty();
  if (!IsText) {
    if (auto Error = print(Result.File, R, Q.Output))
      return fail(*Error);
  } else if (!IsSingle || !Result.IsHeard || Result.IsIncomplete ||
             (Result.Reports == 0 && wantsChecks(Options))) {
    std::cerr << renderText(R, textFor(Q.Output, STDERR_FILENO)) << std::flush;
  } else if (Result.SaysMore) {
    std::cerr << renderBrief(R, textFor(Q.Output, STDERR_FILENO)) << std::flush;
  }
  const int ExitCode = exitCodeOf(R, Result, Options);
  if (ExitCode == ExitFailed && IsSingle)
    fail(fmt::format("the program failed: {}",
                     Result.File.Runs.front().Failure));
  return ExitCode;
}

/// The options that the program will run with. On an error: what the program
/// would say before it ended.
static std::optional<std::string> readOptions(const std::string &Text,
                                              Flags &Options) {
  if (auto Error = Options.parse(Text))
    return "CRSAN_OPTIONS: " + *Error;
  const auto Filter = RunFilter::parse(Options.kernels, Options.launches);
  if (auto *Error = std::get_if<std::string>(&Filter))
    return "CRSAN_OPTIONS: launches: " + *Error;
  if (Options.suppressions.empty())
    return std::nullopt;
  auto List = Suppressions::read(Options.suppressions);
  if (auto *Error = std::get_if<SuppressionsError>(&List))
    return "CRSAN_OPTIONS: suppressions: " + Error->Message;
  return std::nullopt;
}

static void addPath(std::string &Options, const char *Name,
                    const std::string &Path) {
  const char Quote = Path.find('\'') == Path.npos ? '\'' : '"';
  if (!Path.empty())
    Options += fmt::format(":{}={}{}{}", Name, Quote, wholePath(Path), Quote);
}

static int run(const RunRequest &Q) {
  Program P;
  P.Path = findProgram(Q.Words.front());
  P.Words = Q.Words;
  if (P.Path.empty())
    return fail("cannot run '" + Q.Words.front() +
                "': " + std::strerror(errno ? errno : ENOENT));
  if (auto Problem = findProblem(Q.Output))
    return fail(*Problem);
  // Of two values of an option the last one counts.
  const char *Users = std::getenv("CRSAN_OPTIONS");
  const bool IsSimulated =
      Q.Device == "sim" || (Q.Device == "auto" && !hasDriver());
  P.Options = fmt::format(
      "require_checked=1:coverage={}:{}:{}:{}", int(Q.Output.Format == "html"),
      IsSimulated ? SimulatedDefaults : "", Users ? Users : "", Q.Options);
  Flags Options;
  if (auto Error = readOptions(P.Options, Options))
    return fail(*Error);
  const std::vector<uint32_t> Seeds = seedsOf(Q, Options.seed);
  if (Seeds.empty())
    return fail(fmt::format("'{}' names no seeds; write a number of seeds, or "
                            "the first and the last of them: 10 or 0-9",
                            Q.Seeds.empty() ? Q.Seed : Q.Seeds));
  P.RacyExit = int(Options.exitcode);
  // The program and what it starts may go to other folders.
  addPath(P.Options, "log_path", Options.log_path);
  addPath(P.Options, "suppressions", Options.suppressions);
  if (IsSimulated)
    if (auto Error = useSimulatedGpu(P.Path))
      return fail(*Error);
  if (!IsSimulated && Options.addsChecks() && Options.add_checks_on_gpu) {
    if (auto Error = usePreloadedPart())
      return fail(*Error);
  } else if (!IsSimulated && Options.addsChecks())
    return fail(fmt::format(
        "detector={0} puts checks into code on the simulated GPU only, as "
        "add_checks_on_gpu=0 asks; leave that out, or add --device=sim",
        Options.detector));
  else if (!IsSimulated)
    useInjection();
  const bool IsSingle = Seeds.size() == 1;
  if (Q.Timeout > 0)
    P.Timeout = std::chrono::milliseconds(int64_t(Q.Timeout * 1000));
  P.OutputToError = Q.Output.Format != "text" && Q.Output.Path.empty();
  SeriesOptions Series{.Seeds = Seeds,
                       .Jobs = Q.Jobs,
                       .UntilDry = Q.UntilDry,
                       .ShowOutput = Q.ShowOutput};
  // A GPU runs the kernels of one program at a time, in its own time.
  if (Series.Jobs == 0)
    Series.Jobs =
        IsSimulated ? std::max(std::thread::hardware_concurrency(), 1u) : 1;
  P.IsSimulated = IsSimulated;
  P.IsAlone = IsSingle || Series.Jobs == 1;
  int ExitCode;
  {
    const ScratchFolder Folder;
    if (Folder.Path.empty())
      return fail(std::string("cannot make a temporary folder: ") +
                  std::strerror(errno) +
                  "; set TMPDIR to one that can be "
                  "written to");
    SeriesResult Result = runSeries(P, Series, Folder.Path);
    if (Result.Runs == 0 && !Result.Interrupted)
      return ExitFailed;
    ExitCode = conclude(std::move(Result), Q, Options, IsSimulated, IsSingle);
  }
  if (const int Signal = wasInterrupted()) {
    signal(Signal, SIG_DFL);
    raise(Signal);
  }
  return ExitCode;
}

namespace {
/// The command line of `crsan run`, which goes on behind its options.
class RunFormatter : public CLI::Formatter {
public:
  std::string make_usage(const CLI::App *, std::string Name) const override {
    return "Usage: " + Name + " [OPTIONS] [--] PROGRAM [ARGUMENTS...]\n";
  }
};
} // namespace

void crsan::addRunCommand(CLI::App &App, int &ExitCode) {
  auto Q = std::make_shared<RunRequest>();
  CLI::App *Command = App.add_subcommand(
      "run", "Run a program and look for races, without a GPU if need be");
  Command
      ->add_option("--device", Q->Device,
                   "gpu: the real one; sim: the simulated one; auto: the real "
                   "one if there is a driver")
      ->check(CLI::IsMember({"auto", "sim", "gpu"}))
      ->capture_default_str();
  Command->add_option("--seeds", Q->Seeds,
                      "Seeds to run with: how many, or the first and the last, "
                      "as in 0-9");
  Command->add_option("--runs", Q->Runs,
                      "Runs with each seed; without --seeds, runs with a seed "
                      "each");
  Command->add_option("--jobs", Q->Jobs,
                      "Runs at the same time; by default one on a GPU, and as "
                      "many as there are processors on the simulated one");
  Command->add_option("--until-dry", Q->UntilDry,
                      "End when so many runs have shown nothing new");
  Command->add_option("--timeout", Q->Timeout, "Seconds that a run may take");
  Command->add_flag("--show-output", Q->ShowOutput,
                    "Of several runs, print what each of them printed");
  Q->Output.addTo(*Command);
  // Each is an entry of CRSAN_OPTIONS, where it is checked.
  auto Add = [&](const char *Name, const char *Option, const char *What) {
    Command->add_option_function<std::string>(
        Name,
        [Q, Option](const std::string &Value) {
          Q->Options += fmt::format(":{}='{}'", Option, Value);
        },
        What);
  };
  Add("--kernel", "kernels",
      "Check and report these kernels only: patterns of their names with * and "
      "?, separated by |");
  Add("--launches", "launches",
      "Check and report these launches of kernels only: the first and the "
      "last, from 1, as in 3-5");
  Add("--detector", "detector",
      "collider, metadata or hybrid, which also check code that was built "
      "without checks; oracle, both or none (simulated GPU)");
  Command->add_flag_callback(
      "--coverage", [Q] { Q->Options += ":coverage=1"; },
      "Say how often each access of the source was checked, and which were not "
      "and why; HTML always does");
  Command->add_option("--seed", Q->Seed, "The one seed to run with");
  Add("--schedule", "schedule", "roundrobin, random or pct (simulated GPU)");
  Add("--devices", "sim_devices", "How many simulated GPUs there are");
  // The first word that is not ours is the program; what follows is its own.
  Command->prefix_command();
  Command->formatter(std::make_shared<RunFormatter>());
  Command->footer("Exit codes: 0 no races; 66 races; 67 nothing was checked; "
                  "68 the program or a kernel failed; 1 it could not be run.");
  Command->callback([=, &ExitCode] {
    Q->Words = Command->remaining();
    std::string First = Q->Words.empty() ? "" : Q->Words.front();
    if (First.starts_with('-')) {
      // The name of a program does not begin with a dash.
      First.resize(std::min(First.find('='), First.size()));
      std::vector<std::string> Known;
      for (const CLI::Option *O : Command->get_options())
        for (const std::string &Name : O->get_lnames())
          Known.push_back("--" + Name);
      ExitCode = fail(fmt::format("unknown option '{}'{}; see crsan run --help",
                                  First, didYouMean(First, Known)));
      return;
    }
    ExitCode = Q->Words.empty() ? fail("name a program to run; see crsan run "
                                       "--help")
                                : run(*Q);
  });
}

void crsan::removeProgramMark(const CLI::App &App,
                              std::vector<std::string> &Words) {
  if (Words.empty() || Words.front() != "run")
    return;
  const CLI::App *Run = App.get_subcommand("run");
  for (size_t I = 1; I < Words.size() && Words[I].starts_with('-'); ++I) {
    if (Words[I] == "--") {
      Words.erase(Words.begin() + I);
      return;
    }
    const CLI::Option *O = Run->get_option_no_throw(Words[I]);
    I += O && O->get_items_expected_min() > 0; // Its value is a word, too.
  }
}

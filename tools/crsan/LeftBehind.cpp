// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Processes that outlive the program that started them.
#include "LeftBehind.h"

#include "ChildProcess.h"
#include "Files.h"

#include <fmt/format.h>

#include <algorithm>
#include <charconv>
#include <csignal>
#include <cstdio>
#include <filesystem>
#include <map>
#include <set>
#include <thread>

#include <sys/prctl.h>
#include <sys/wait.h>
#include <unistd.h>

using namespace crsan;
using namespace std::chrono_literals;
using Clock = std::chrono::steady_clock;
namespace fs = std::filesystem;

void crsan::adoptOrphans() { prctl(PR_SET_CHILD_SUBREAPER, 1); }

/// Empty if the process ends meanwhile.
static std::string contents(pid_t Pid, const char *Name) {
  return readFile(fmt::format("/proc/{}/{}", Pid, Name)).value_or("");
}

namespace {
struct ProcessState {
  pid_t Parent = 0;
  char State = 0; ///< 'Z': it has ended, and nobody has waited for it.
};

/// The processes of a run that are still there.
class Family {
public:
  explicit Family(const RunMark &Mark) : Mark(Mark) {}

  /// Looks again, and waits for members that have ended.
  void update();
  bool isEmpty() const { return Members.empty(); }
  /// Whether one of them has loaded CRSan.
  bool isChecked() const;
  void tell(int Signal) const;
  std::vector<std::string> names() const;

private:
  bool isDescendant(pid_t Pid) const;
  bool isMeant(pid_t Pid) const;

  const RunMark &Mark;
  std::map<pid_t, ProcessState> All;
  std::set<pid_t> Members;
};
} // namespace

static ProcessState stateOf(pid_t Pid) {
  // "1 (name) S 0 ...": the name may have parentheses.
  const std::string Line = contents(Pid, "stat");
  ProcessState S;
  if (const size_t Name = Line.rfind(')'); Name != Line.npos)
    std::sscanf(Line.c_str() + Name + 1, " %c %d", &S.State, &S.Parent);
  return S;
}

bool Family::isDescendant(pid_t Pid) const {
  const pid_t Self = getpid();
  for (auto It = All.find(Pid); It != All.end();
       It = All.find(It->second.Parent)) {
    if (It->second.Parent == Self)
      return true;
    if (It->second.Parent == It->first)
      break;
  }
  return false;
}

bool Family::isMeant(pid_t Pid) const {
  if (Mark.IsAlone)
    return true;
  const std::string Environment = '\0' + contents(Pid, "environ");
  return Environment.find('\0' + Mark.Variable + '\0') != Environment.npos;
}

void Family::update() {
  // Ended members are the tool's to wait for, unless their parent still runs.
  for (const pid_t Pid : Members)
    waitpid(Pid, nullptr, WNOHANG);
  All.clear();
  std::error_code Error;
  for (fs::directory_iterator I("/proc", Error), End; !Error && I != End;
       I.increment(Error)) {
    const std::string Name = I->path().filename().string();
    pid_t Pid = 0;
    std::from_chars(Name.data(), Name.data() + Name.size(), Pid);
    if (Pid > 0)
      All[Pid] = stateOf(Pid);
  }
  std::set<pid_t> Now;
  for (const auto &[Pid, S] : All)
    if (S.State != 'Z' && S.State && isDescendant(Pid) &&
        (Members.contains(Pid) || isMeant(Pid)))
      Now.insert(Pid);
  Members = std::move(Now);
}

bool Family::isChecked() const {
  return std::ranges::any_of(Members, [](pid_t Pid) {
    const std::string Maps = contents(Pid, "maps");
    return Maps.find("/sim/libcudart.so") != Maps.npos ||
           Maps.find("/libcrsan.so") != Maps.npos;
  });
}

void Family::tell(int Signal) const {
  for (const pid_t Pid : Members)
    kill(Pid, Signal);
}

std::vector<std::string> Family::names() const {
  std::vector<std::string> Names;
  for (const pid_t Pid : Members) {
    if (Members.contains(All.at(Pid).Parent))
      continue; // Its parent stands for it.
    std::string Name = contents(Pid, "cmdline");
    Name.resize(std::min(Name.find('\0'), Name.size()));
    Names.push_back(fmt::format("{} ({})", Pid, Name));
  }
  return Names;
}

/// SIGTERM, upon which a process reports what it has found, and then SIGKILL.
static void endThem(Family &F) {
  F.tell(SIGTERM);
  const Clock::time_point Last = Clock::now() + 15s;
  for (F.update(); !F.isEmpty() && Clock::now() < Last; F.update())
    std::this_thread::sleep_for(20ms);
  F.tell(SIGKILL);
}

std::vector<std::string>
crsan::awaitLeftBehind(const RunMark &Mark,
                       std::optional<std::chrono::milliseconds> Time) {
  constexpr auto Grace = 5s;
  const Clock::time_point Begin = Clock::now();
  bool WasSaid = false;
  Family F(Mark);
  for (F.update(); !F.isEmpty(); F.update()) {
    const auto Spent = Clock::now() - Begin;
    if (wasInterrupted() || (Time && Spent >= *Time)) {
      endThem(F);
      return {};
    }
    const bool IsChecked = F.isChecked();
    if (!IsChecked && Spent >= Grace)
      return F.names();
    if (IsChecked && Spent >= 1s && !WasSaid) {
      WasSaid = true;
      fail(fmt::format("the program has ended and left processes behind: {}; "
                       "waiting for their reports (--timeout limits that)",
                       fmt::join(F.names(), ", ")));
    }
    std::this_thread::sleep_for(Spent < 1s ? 10ms : 100ms);
  }
  return {};
}

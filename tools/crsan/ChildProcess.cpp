// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// One process that the tool starts and waits for.
#include "ChildProcess.h"

#include <algorithm>
#include <array>
#include <atomic>
#include <cerrno>
#include <csignal>
#include <cstring>
#include <string_view>

#include <fcntl.h>
#include <poll.h>
#include <spawn.h>
#include <sys/wait.h>
#include <unistd.h>

// The header of glibc 2.36 forgets to say so.
extern "C" {
#include <sys/pidfd.h>
}

using namespace crsan;
using namespace std::chrono_literals;

extern char **environ;

//===----------------------------------------------------------------------===//
// Signals
//===----------------------------------------------------------------------===//

static std::atomic<int> Interruption;
/// What signals are passed on to, as arguments of kill(); 0: a free place.
static std::array<std::atomic<pid_t>, 1024> Running;

static void passOn(int Signal, siginfo_t *Info, void *) {
  const int Error = errno;
  Interruption = Signal;
  // A terminal sends its signals to the tool's whole group; a target below 0 is
  // another group.
  const bool IsTerminals = Info->si_code > 0;
  for (const std::atomic<pid_t> &Target : Running)
    if (const pid_t Pid = Target; Pid < 0 || (Pid > 0 && !IsTerminals))
      kill(Pid, Signal);
  errno = Error;
}

void crsan::passSignalsOn() {
  struct sigaction Action = {};
  Action.sa_sigaction = passOn;
  Action.sa_flags = SA_SIGINFO;
  sigfillset(&Action.sa_mask);
  for (int Signal : {SIGINT, SIGTERM, SIGHUP})
    sigaction(Signal, &Action, nullptr);
}

int crsan::wasInterrupted() { return Interruption; }

namespace {
/// While it exists, signals are passed on to the target.
class Listener {
public:
  explicit Listener(pid_t Target) {
    for (std::atomic<pid_t> &Place : Running) {
      pid_t Free = 0;
      if (Place.compare_exchange_strong(Free, Target)) {
        Mine = &Place;
        break;
      }
    }
    // One that came before.
    if (const int Signal = Interruption)
      kill(Target, Signal);
  }
  ~Listener() {
    if (Mine)
      *Mine = 0;
  }

private:
  std::atomic<pid_t> *Mine = nullptr;
};

/// What posix_spawn needs, freed.
struct SpawnSettings {
  posix_spawn_file_actions_t Files;
  posix_spawnattr_t Attributes;

  SpawnSettings() {
    posix_spawn_file_actions_init(&Files);
    posix_spawnattr_init(&Attributes);
  }
  ~SpawnSettings() {
    posix_spawn_file_actions_destroy(&Files);
    posix_spawnattr_destroy(&Attributes);
  }
};
} // namespace

//===----------------------------------------------------------------------===//
// One process
//===----------------------------------------------------------------------===//

std::string ProcessEnd::words() const {
  if (!Error.empty())
    return Error;
  if (TimedOut)
    return "timed out";
  if (Signal) {
    const char *Name = sigabbrev_np(Signal);
    return "signal " + std::to_string(Signal) +
           (Name ? " (SIG" + std::string(Name) + ")" : "");
  }
  return ExitCode ? "exit code " + std::to_string(ExitCode) : "";
}

/// This process's environment with the changes.
static std::vector<char *>
environmentWith(const std::vector<std::string> &Changes) {
  const auto IsChanged = [&](std::string_view Entry) {
    for (std::string_view Change : Changes)
      if (Entry.starts_with(Change.substr(0, Change.find('=') + 1)))
        return true;
    return false;
  };
  std::vector<char *> All;
  for (char **Entry = environ; *Entry; ++Entry)
    if (!IsChanged(*Entry))
      All.push_back(*Entry);
  for (const std::string &Change : Changes)
    All.push_back(const_cast<char *>(Change.c_str()));
  All.push_back(nullptr);
  return All;
}

/// The process's id, or an error of errno's, negative.
static pid_t spawn(const ProcessStart &Start) {
  SpawnSettings S;
  if (!Start.Output.empty()) {
    posix_spawn_file_actions_addopen(&S.Files, 0, "/dev/null", O_RDONLY, 0);
    posix_spawn_file_actions_addopen(&S.Files, 1, Start.Output.c_str(),
                                     O_WRONLY | O_CREAT | O_TRUNC, 0666);
    posix_spawn_file_actions_adddup2(&S.Files, 1, 2);
    posix_spawnattr_setflags(&S.Attributes, POSIX_SPAWN_SETPGROUP);
  } else if (Start.OutputToError) {
    posix_spawn_file_actions_adddup2(&S.Files, 2, 1);
  }
  std::vector<char *> Words;
  for (const std::string &Word : Start.Words)
    Words.push_back(const_cast<char *>(Word.c_str()));
  Words.push_back(nullptr);
  std::vector<char *> Environment = environmentWith(Start.Environment);
  pid_t Pid = 0;
  const int Error =
      posix_spawn(&Pid, Start.Path.c_str(), &S.Files, &S.Attributes,
                  Words.data(), Environment.data());
  return Error ? -Error : Pid;
}

/// Whether the process ends in time. Without a limit: yes.
static bool endsWithin(int PidFd,
                       std::optional<std::chrono::milliseconds> Time) {
  const auto Deadline = std::chrono::steady_clock::now() + Time.value_or(0ms);
  while (true) {
    int Left = -1;
    if (Time) {
      const auto Rest = std::chrono::ceil<std::chrono::milliseconds>(
          Deadline - std::chrono::steady_clock::now());
      Left = int(std::clamp<int64_t>(Rest.count(), 0, 1 << 30));
    }
    pollfd Poll = {PidFd, POLLIN, 0};
    const int Ready = poll(&Poll, 1, Left);
    if (Ready > 0)
      return true;
    if (Ready == 0 && std::chrono::steady_clock::now() >= Deadline)
      return false;
    if (Ready < 0 && errno != EINTR)
      return true; // Then waiting will tell.
  }
}

ProcessEnd crsan::runProcess(const ProcessStart &Start) {
  ProcessEnd End;
  const pid_t Pid = spawn(Start);
  if (Pid < 0) {
    End.Error = "cannot run '" + Start.Path + "': " + std::strerror(-Pid);
    return End;
  }
  const pid_t Target = Start.Output.empty() ? Pid : -Pid;
  {
    const Listener Mine(Target);
    const int PidFd = pidfd_open(Pid, 0);
    if (Start.Timeout && PidFd >= 0 && !endsWithin(PidFd, Start.Timeout)) {
      End.TimedOut = true;
      kill(Target, SIGTERM);
      if (!endsWithin(PidFd, 15s))
        kill(Target, SIGKILL);
    }
    if (PidFd >= 0)
      endsWithin(PidFd, std::nullopt);
    if (PidFd >= 0)
      close(PidFd);
  }
  int Status = 0;
  while (waitpid(Pid, &Status, 0) < 0 && errno == EINTR)
    ;
  if (WIFEXITED(Status))
    End.ExitCode = WEXITSTATUS(Status);
  else if (WIFSIGNALED(Status))
    End.Signal = WTERMSIG(Status);
  // What a process of its own group has left behind.
  if (!Start.Output.empty() && End.TimedOut)
    kill(Target, SIGKILL);
  return End;
}

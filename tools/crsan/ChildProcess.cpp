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
#include <sys/prctl.h>
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

/// In the new process, which has a copy of one thread: nothing but system
/// calls. Gives back an error of errno's.
static int becomeProgram(const ProcessStart &Start, char **Words,
                         char **Environment) {
  // If the tool is killed, so is the program.
  prctl(PR_SET_PDEATHSIG, SIGKILL);
  for (int Signal : {SIGINT, SIGTERM, SIGHUP})
    signal(Signal, SIG_DFL);
  if (!Start.Output.empty()) {
    setpgid(0, 0);
    const int In = open("/dev/null", O_RDONLY);
    const int Out =
        open(Start.Output.c_str(), O_WRONLY | O_CREAT | O_TRUNC, 0666);
    if (In < 0 || Out < 0 || dup2(In, 0) < 0 || dup2(Out, 1) < 0 ||
        dup2(Out, 2) < 0)
      return errno;
  } else if (Start.OutputToError && dup2(2, 1) < 0) {
    return errno;
  }
  execve(Start.Path.c_str(), Words, Environment);
  return errno;
}

/// The process's id, or an error of errno's, negative.
static pid_t spawn(const ProcessStart &Start) {
  std::vector<char *> Words;
  for (const std::string &Word : Start.Words)
    Words.push_back(const_cast<char *>(Word.c_str()));
  Words.push_back(nullptr);
  std::vector<char *> Environment = environmentWith(Start.Environment);
  // The new process writes its error, or closes the pipe by becoming the
  // program.
  int Pipe[2];
  if (pipe2(Pipe, O_CLOEXEC) != 0)
    return -errno;
  const pid_t Pid = fork();
  if (Pid == 0) {
    const int Error = becomeProgram(Start, Words.data(), Environment.data());
    [[maybe_unused]] const ssize_t Written =
        write(Pipe[1], &Error, sizeof(Error));
    _exit(127);
  }
  const int ForkError = errno;
  close(Pipe[1]);
  int Error = Pid < 0 ? ForkError : 0;
  while (Pid > 0 && read(Pipe[0], &Error, sizeof(Error)) < 0 && errno == EINTR)
    ;
  close(Pipe[0]);
  if (Pid > 0 && Error)
    waitpid(Pid, nullptr, 0);
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
  End.Id = Pid;
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

// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Lines of host code, by a symbolizer.

#include "common/CallSites.h"
#include "common/Signals.h"

#include <fmt/format.h>

#include <cerrno>
#include <chrono>
#include <csignal>
#include <cstdlib>
#include <cstring>
#include <string_view>

#include <fcntl.h>
#include <poll.h>
#include <sys/prctl.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

namespace crsan {

/// The path of a program that PATH finds; empty: there is none.
static std::string findInPath(std::string_view Name) {
  const char *Path = std::getenv("PATH");
  std::string_view Folders = Path ? Path : "/usr/bin:/bin";
  while (!Folders.empty()) {
    const size_t End = std::min(Folders.find(':'), Folders.size());
    std::string File = fmt::format("{}/{}", Folders.substr(0, End), Name);
    if (access(File.c_str(), X_OK) == 0)
      return File;
    Folders.remove_prefix(std::min(End + 1, Folders.size()));
  }
  return {};
}

static std::string findSymbolizer() {
  if (const char *Path = std::getenv("CRSAN_SYMBOLIZER_PATH"))
    return Path;
  for (const char *Name :
       {"llvm-symbolizer-22", "llvm-symbolizer", "addr2line"})
    if (std::string Path = findInPath(Name); !Path.empty())
      return Path;
  return {};
}

namespace {
/// A child process whose output is read.
class Child {
public:
  explicit Child(const std::vector<std::string> &Words) {
    int Pipe[2];
    if (pipe2(Pipe, O_CLOEXEC) != 0)
      return;
    std::vector<char *> Arguments, Environment;
    for (const std::string &Word : Words)
      Arguments.push_back(const_cast<char *>(Word.c_str()));
    Arguments.push_back(nullptr);
    // What is injected into the program is not for the symbolizer.
    for (char **V = environ; *V; ++V)
      if (!std::string_view(*V).starts_with("LD_PRELOAD=") &&
          !std::string_view(*V).starts_with("LD_LIBRARY_PATH=") &&
          !std::string_view(*V).starts_with("CUDA_INJECTION64_PATH="))
        Environment.push_back(*V);
    Environment.push_back(nullptr);
    const BlockedSignals Blocked;
    // As fork(), but the program's handlers (pthread_atfork) do not run, and no
    // signal tells the program of the child's end: SIGCHLD and wait() are the
    // program's. Only a child that calls execve() ends with a signal all the
    // same, so this one has a child for that.
    Id = pid_t(syscall(SYS_clone, 0, 0, 0, 0, 0));
    if (Id == 0)
      runInChild(Arguments.data(), Environment.data(), Pipe[1]);
    close(Pipe[1]);
    Output = Pipe[0];
  }
  ~Child() {
    if (Output >= 0)
      close(Output);
    if (Id <= 0)
      return;
    kill(Id, SIGKILL);
    while (waitpid(Id, nullptr, __WALL) < 0 && errno == EINTR) {
    }
  }
  Child(const Child &) = delete;
  Child &operator=(const Child &) = delete;

  /// All that the child prints; empty: it takes too long.
  std::string read() {
    using namespace std::chrono;
    const auto Deadline = steady_clock::now() + seconds(20);
    std::string Text;
    while (Id > 0 && Output >= 0) {
      const auto Left =
          duration_cast<milliseconds>(Deadline - steady_clock::now()).count();
      pollfd Ready{Output, POLLIN, 0};
      if (Left <= 0 || (poll(&Ready, 1, int(Left)) <= 0 && errno != EINTR))
        return {};
      char Buffer[1 << 12];
      const ssize_t Size = ::read(Output, Buffer, sizeof(Buffer));
      if (Size == 0)
        return Text;
      if (Size > 0)
        Text.append(Buffer, size_t(Size));
      else if (errno != EINTR)
        return {};
    }
    return {};
  }

private:
  /// Ends when the command has ended. Other threads of the program may have
  /// held locks, so this calls nothing that takes one.
  [[noreturn]] static void runInChild(char **Arguments, char **Environment,
                                      int Output) {
    const int Null = open("/dev/null", O_RDWR | O_CLOEXEC);
    dup2(Null, 0);
    dup2(Output, 1);
    dup2(Null, 2);
    const pid_t Command = vfork();
    if (Command == 0) {
      prctl(PR_SET_PDEATHSIG, SIGKILL);
      execve(Arguments[0], Arguments, Environment);
      _exit(1);
    }
    while (Command > 0 && waitpid(Command, nullptr, 0) < 0 && errno == EINTR) {
    }
    _exit(0);
  }

  pid_t Id = -1;
  int Output = -1;
};
} // namespace

std::vector<std::vector<HostLine>>
symbolize(const std::string &File, const std::vector<uint64_t> &Addresses) {
  const std::string Tool = findSymbolizer();
  std::vector<std::vector<HostLine>> All;
  if (Tool.empty() || File.empty())
    return All;
  const bool IsLLVM = Tool.find("llvm-symbolizer") != Tool.npos;
  // The words of a command are limited.
  constexpr size_t Most = 2000;
  for (size_t From = 0; From < Addresses.size(); From += Most) {
    std::vector<std::string> Words = {Tool, "-a", "-f", "-C", "-i"};
    if (IsLLVM)
      Words.push_back("--output-style=GNU");
    Words.insert(Words.end(), {"-e", File});
    for (size_t I = From; I < std::min(From + Most, Addresses.size()); ++I)
      Words.push_back(fmt::format("{:#x}", Addresses[I]));
    std::vector<std::vector<HostLine>> Some = parseSymbols(Child(Words).read());
    All.insert(All.end(), std::make_move_iterator(Some.begin()),
               std::make_move_iterator(Some.end()));
  }
  return All;
}

std::vector<std::vector<HostLine>> parseSymbols(const std::string &Output) {
  std::vector<std::vector<HostLine>> All;
  std::string_view Rest = Output, Function;
  bool HasFunction = false;
  while (!Rest.empty()) {
    const size_t End = std::min(Rest.find('\n'), Rest.size());
    std::string_view Text = Rest.substr(0, End);
    Rest.remove_prefix(std::min(End + 1, Rest.size()));
    if (!HasFunction && Text.starts_with("0x")) {
      All.emplace_back();
    } else if (!HasFunction) {
      Function = Text;
      HasFunction = true;
    } else if (!All.empty()) {
      HasFunction = false;
      // "file:12", perhaps with ":34" or " (discriminator 2)" behind it.
      Text = Text.substr(0, Text.find(" (discriminator"));
      const size_t Colon = Text.rfind(':');
      HostLine L;
      L.Function = Function == "??" ? "" : Function;
      L.File = Text.substr(0, Colon);
      L.Line = Colon == Text.npos
                   ? 0
                   : unsigned(std::atoi(
                         std::string(Text.substr(Colon + 1)).c_str()));
      if (L.File == "??" || L.Line == 0)
        L.File.clear();
      All.back().push_back(std::move(L));
    }
  }
  return All;
}

} // namespace crsan

// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Tools that the library runs, of which the program notices nothing.

#include "common/Command.h"
#include "common/Log.h"
#include "common/Signals.h"

#include <cerrno>
#include <csignal>

#include <fcntl.h>
#include <poll.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

namespace crsan {

using namespace std::chrono;

namespace {
/// A child process whose output is read.
class Child {
public:
  Child(const std::vector<std::string> &Words, std::string_view Text);
  ~Child();
  Child(const Child &) = delete;
  Child &operator=(const Child &) = delete;

  std::optional<CommandResult> await(std::optional<milliseconds> Patience);

private:
  [[noreturn]] void run(char **Arguments, char **Environment, int To);

  pid_t Id = -1;
  int Input = -1, Output = -1, Errors = -1;
};
} // namespace

/// A file of that text, at its beginning; negative: it cannot be made.
static int fileOf(std::string_view Text) {
  if (Text.empty())
    return open("/dev/null", O_RDWR | O_CLOEXEC);
  const int File = memfd_create("crsan", MFD_CLOEXEC);
  if (File >= 0 && writeAll(File, Text) && lseek(File, 0, SEEK_SET) == 0)
    return File;
  if (File >= 0)
    close(File);
  return -1;
}

Child::Child(const std::vector<std::string> &Words, std::string_view Text)
    : Input(fileOf(Text)), Errors(memfd_create("crsan", MFD_CLOEXEC)) {
  int Pipe[2];
  if (Input < 0 || Errors < 0 || pipe2(Pipe, O_CLOEXEC) != 0)
    return;
  std::vector<char *> Arguments, Environment;
  for (const std::string &Word : Words)
    Arguments.push_back(const_cast<char *>(Word.c_str()));
  Arguments.push_back(nullptr);
  // What is injected into the program is not for the tool.
  for (char **V = environ; V && *V; ++V) // Null after clearenv().
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
    run(Arguments.data(), Environment.data(), Pipe[1]);
  close(Pipe[1]);
  Output = Pipe[0];
}

Child::~Child() {
  for (const int File : {Input, Output, Errors})
    if (File >= 0)
      close(File);
  if (Id <= 0)
    return;
  kill(Id, SIGKILL);
  while (waitpid(Id, nullptr, __WALL) < 0 && errno == EINTR) {
  }
}

std::optional<CommandResult>
Child::await(std::optional<milliseconds> Patience) {
  const auto Deadline = steady_clock::now() + Patience.value_or(0ms);
  CommandResult Result;
  while (Id > 0 && Output >= 0) {
    const auto Left =
        duration_cast<milliseconds>(Deadline - steady_clock::now()).count();
    pollfd Ready{Output, POLLIN, 0};
    if (Patience &&
        (Left <= 0 || (poll(&Ready, 1, int(Left)) <= 0 && errno != EINTR)))
      return std::nullopt;
    char Buffer[1 << 12];
    ssize_t Size = ::read(Output, Buffer, sizeof(Buffer));
    if (Size > 0) {
      Result.Output.append(Buffer, size_t(Size));
    } else if (Size == 0) {
      // The tool has ended, or is about to.
      int Status = CommandResult::CannotRun << 8;
      while (waitpid(Id, &Status, __WALL) < 0 && errno == EINTR) {
      }
      Id = -1;
      for (off_t At = 0; (Size = pread(Errors, Buffer, sizeof(Buffer), At)) > 0;
           At += Size)
        Result.Errors.append(Buffer, size_t(Size));
      Result.ExitCode = WIFEXITED(Status) ? WEXITSTATUS(Status) : 255;
      return Result;
    } else if (errno != EINTR) {
      return std::nullopt;
    }
  }
  return std::nullopt;
}

/// As _exit, which is interposed, as execve is (runtime/host/Endings.c).
[[noreturn]] static void leave(int Code) {
  for (;;)
    syscall(SYS_exit_group, Code);
}

/// Ends as the command has ended. Other threads of the program may have held
/// locks, so this calls nothing that takes one.
void Child::run(char **Arguments, char **Environment, int To) {
  dup2(Input, 0);
  dup2(To, 1);
  dup2(Errors, 2);
  const pid_t Command = vfork();
  if (Command == 0) {
    prctl(PR_SET_PDEATHSIG, SIGKILL);
    syscall(SYS_execve, Arguments[0], Arguments, Environment);
    leave(CommandResult::CannotRun);
  }
  int Status = CommandResult::CannotRun << 8;
  while (Command > 0 && waitpid(Command, &Status, 0) < 0 && errno == EINTR) {
  }
  leave(WIFEXITED(Status) ? WEXITSTATUS(Status) : 128 + WTERMSIG(Status));
}

std::optional<CommandResult> runCommand(const std::vector<std::string> &Words,
                                        std::string_view Input,
                                        std::optional<milliseconds> Patience) {
  return Child(Words, Input).await(Patience);
}

} // namespace crsan

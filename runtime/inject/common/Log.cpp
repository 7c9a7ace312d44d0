// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Where the library speaks.

#include "common/Log.h"

#include <cerrno>
#include <csignal>
#include <cstring>
#include <ctime>
#include <filesystem>
#include <mutex>
#include <system_error>

#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

namespace crsan {

Log &theLog() {
  static Log *TheLog = new Log;
  return *TheLog;
}

std::string pathOfProcess(std::string_view Path) {
  const std::string Id = std::to_string(getpid());
  std::string Text;
  bool HasId = false;
  for (size_t I = 0; I < Path.size(); ++I) {
    const char Next = I + 1 < Path.size() ? Path[I + 1] : 0;
    if (Path[I] != '%' || (Next != 'p' && Next != '%')) {
      Text += Path[I];
      continue;
    }
    ++I;
    Text += Next == 'p' ? Id : "%";
    HasId |= Next == 'p';
  }
  return HasId ? Text : Text + "." + Id;
}

bool writeAll(int Descriptor, std::string_view Text) {
  while (!Text.empty()) {
    ssize_t Written = write(Descriptor, Text.data(), Text.size());
    if (Written < 0 && errno == EINTR)
      continue;
    if (Written <= 0)
      return false;
    Text.remove_prefix(size_t(Written));
  }
  return true;
}

std::string wholePath(std::string_view Path) {
  const bool IsFile = !Path.empty() && Path != "stdout" && Path != "stderr";
  if (!IsFile || Path.front() == '/')
    return std::string(Path);
  std::error_code Error;
  const std::filesystem::path Here = std::filesystem::current_path(Error);
  return Error ? std::string(Path) : (Here / Path).string();
}

bool Log::isOpen() const {
  struct stat Info;
  return Descriptor >= 0 && Owner == getpid() &&
         fstat(Descriptor, &Info) == 0 && Info.st_dev == Device &&
         Info.st_ino == Inode;
}

int Log::descriptor() {
  if (Path.empty() || Path == "stderr")
    return STDERR_FILENO;
  if (Path == "stdout")
    return STDOUT_FILENO;
  // After a fork, the child writes a file of its own.
  if (isOpen())
    return Descriptor;
  std::string File = pathOfProcess(Path);
  // Appends: another program may have written before it became this one (exec).
  Descriptor = open(File.c_str(), O_WRONLY | O_CREAT | O_APPEND | O_CLOEXEC,
                    S_IRUSR | S_IWUSR | S_IRGRP | S_IROTH);
  Owner = getpid();
  if (Descriptor < 0) {
    writeAll(STDERR_FILENO,
             fmt::format("CRSan: cannot write log_path '{}': {}; using stderr, "
                         "set log_path to a writable place\n",
                         File, std::strerror(errno)));
    Path.clear();
    return STDERR_FILENO;
  }
  struct stat Info = {};
  fstat(Descriptor, &Info);
  Device = Info.st_dev;
  Inode = Info.st_ino;
  return Descriptor;
}

/// As writeAll. A pipe that nobody reads any more does not end the program.
static bool writeWithoutSignal(int Target, std::string_view Text) {
  sigset_t Pipe, Before, Pending;
  sigemptyset(&Pipe);
  sigaddset(&Pipe, SIGPIPE);
  sigpending(&Pending);
  pthread_sigmask(SIG_BLOCK, &Pipe, &Before);
  const bool IsWritten = writeAll(Target, Text);
  const timespec AtOnce = {};
  if (!IsWritten && errno == EPIPE && !sigismember(&Pending, SIGPIPE))
    sigtimedwait(&Pipe, nullptr, &AtOnce);
  pthread_sigmask(SIG_SETMASK, &Before, nullptr);
  return IsWritten;
}

bool Log::isTerminal() {
  return (isStderr() || Path == "stdout") &&
         isatty(Path == "stdout" ? STDOUT_FILENO : STDERR_FILENO);
}

void Log::text(std::string_view Text) {
  // Released before writing: a thread that a signal interrupts in write(2) must
  // not block the thread that reports.
  static std::timed_mutex *Opening = new std::timed_mutex;
  int Target = STDERR_FILENO;
  {
    std::unique_lock Lock(*Opening, std::chrono::seconds(1));
    Target = descriptor();
  }
  if (!writeWithoutSignal(Target, Text))
    IsUnheard = true;
}

} // namespace crsan

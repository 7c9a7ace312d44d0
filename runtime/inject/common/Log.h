// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Where the library speaks.
#ifndef CRSAN_INJECT_COMMON_LOG_H
#define CRSAN_INJECT_COMMON_LOG_H

#include <atomic>
#include <cstdint>
#include <fmt/format.h>

#include <string>
#include <string_view>

namespace crsan {

/// Writes all messages of the library. Each message is one write(2), so that
/// messages of threads and processes do not mix, and that messages can be
/// written at any moment of the program's end.
class Log {
public:
  /// "": stderr; "stdout", "stderr"; else a file, pathOfProcess(Path), which is
  /// opened with the first message. If it cannot be opened, one message says
  /// so, and stderr is used.
  void setPath(std::string_view Path) { this->Path = Path; }
  void setVerbosity(unsigned Level) { Verbosity = Level; }
  unsigned verbosity() const { return Verbosity; }

  /// Whether somebody may be reading along.
  bool isTerminal();

  bool isStderr() const { return Path.empty() || Path == "stderr"; }

  /// Whether something that was said reached nobody: the program has closed its
  /// standard error, or nobody reads it any more.
  bool isUnheard() const { return IsUnheard; }

  /// Text as it is.
  void text(std::string_view Text);

  /// `CRSan: ...` and a newline.
  template <typename... Args>
  void say(fmt::format_string<Args...> Format, Args &&...Values) {
    text("CRSan: " + fmt::format(Format, std::forward<Args>(Values)...) + "\n");
  }

  /// As say, if `verbosity` is at least Level.
  template <typename... Args>
  void detail(unsigned Level, fmt::format_string<Args...> Format,
              Args &&...Values) {
    if (Verbosity >= Level)
      say(Format, std::forward<Args>(Values)...);
  }

private:
  int descriptor();
  bool isOpen() const;

  std::string Path;
  unsigned Verbosity = 0;
  int Descriptor = -1;
  int Owner = 0; ///< The process that opened Descriptor.
  /// The file of Descriptor. A program that closes all descriptors may get the
  /// number for a file of its own.
  uint64_t Device = 0, Inode = 0;
  std::atomic<bool> IsUnheard{false};
};

/// A path of a file that stays the same when the program goes to another
/// folder.
/// "", "stdout" and "stderr" are none.
std::string wholePath(std::string_view Path);

/// The path of this process's file: "%p" in Path stands for the process's id,
/// and "%%" for "%". Where there is no "%p", the id is the extension.
std::string pathOfProcess(std::string_view Path);

/// False: the rest could not be written, as errno says.
bool writeAll(int Descriptor, std::string_view Text);

/// The process's one log. Never destroyed: the report comes after destructors.
Log &theLog();

} // namespace crsan

#endif // CRSAN_INJECT_COMMON_LOG_H

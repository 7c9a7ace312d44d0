// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Where the program calls CUDA.
#ifndef CRSAN_INJECT_COMMON_CALLSITES_H
#define CRSAN_INJECT_COMMON_CALLSITES_H

#include "Report/SiteTable.h"

#include <cstdint>
#include <map>
#include <mutex>
#include <optional>
#include <set>
#include <string>
#include <vector>

namespace crsan {

/// An address in a file of code, as symbolizers take it.
struct CodeAddress {
  std::string File;
  uint64_t Address = 0;
  auto operator<=>(const CodeAddress &) const = default;
};

/// A line of the program, as a symbolizer names it.
struct HostLine {
  std::string Function, File; ///< Empty: not known.
  unsigned Line = 0;
};

/// Of the lines of a stack, innermost first, the first one that is the user's:
/// neither of the toolkit's headers nor of what the compiler or CRSan puts
/// around a launch. `Kernel`: the function that is launched, demangled, by
/// which debug information calls its stub; or empty. Null: there is none.
const HostLine *userLine(const std::vector<HostLine> &Stack,
                         std::string_view Kernel);

/// How often the loader has loaded and unloaded a file.
struct LoadedFiles {
  uint64_t Loads = 0, Unloads = 0;
  bool operator==(const LoadedFiles &) const = default;
};

/// Stacks of calls of CUDA. Any thread may call.
class CallSites {
public:
  CallSites();

  /// The stack of this thread, without CUDA's libraries and CRSan's. Returns
  /// its number; 0: it is not known, or there are too many. Takes some
  /// microseconds where the stack is known, and more where it is new.
  uint32_t note();

  /// "app.cu:41 in main"; empty: not known, or not looked up yet. `Kernel`: as
  /// of userLine().
  std::string text(uint32_t Site, std::string_view Kernel = {}) const;
  /// The line of the user's, for a site of a report; none: as above.
  std::optional<SourceFrame> frame(uint32_t Site) const;

  /// Looks up all stacks that were noted since the last time, by a child
  /// process (symbolize()). Returns whether there were any.
  bool lookUp();

private:
  using Stack = std::vector<CodeAddress>;
  /// Return addresses, as backtrace() gives them.
  using Frames = std::vector<void *>;

  /// The number of the stack without CUDA's libraries and CRSan's.
  uint32_t number(const Frames &Returns);

  mutable std::mutex Lock;
  std::map<Frames, uint32_t> Known; ///< Cleared when files are loaded.
  LoadedFiles AtKnown;              ///< What was loaded then.
  std::map<Stack, uint32_t> Numbers;
  std::vector<const Stack *> Stacks;        ///< By number - 1.
  std::vector<std::vector<HostLine>> Lines; ///< Of those looked up.
};

/// The process's.
CallSites &callSites();

/// The path of the executable or library that has the address; empty: none has.
/// Waits for no constructor of a library, as dladdr() does.
std::string fileOfAddress(const void *Address);

/// Where the host launches a kernel.
class LaunchSites {
public:
  /// This thread launches the kernel, or its native twin. Since noting a stack
  /// takes longer than a launch does, it is noted of the first 32 launches of
  /// the kernel itself, of the first two of the twin, and of both from the 32nd
  /// on ever less often: of the 64th, the 128th and so on.
  void note(bool IsTwin = false);
  /// "app.cu:52 in run"; of several places, three are named. `Kernel`:
  /// demangled.
  std::string text(std::string_view Kernel) const;

private:
  uint64_t Launches = 0, OfTwin = 0;
  std::set<uint32_t> Sites;
};

/// The lines of addresses in one file, each with the lines it is inlined into,
/// innermost first. Starts CRSAN_SYMBOLIZER_PATH, llvm-symbolizer or addr2line,
/// whichever there is; empty: there is none, or it fails or takes too long.
std::vector<std::vector<HostLine>>
symbolize(const std::string &File, const std::vector<uint64_t> &Addresses);

/// What a symbolizer has printed for that (`-a -f -C -i`, GNU style).
std::vector<std::vector<HostLine>> parseSymbols(const std::string &Output);

} // namespace crsan

#endif // CRSAN_INJECT_COMMON_CALLSITES_H

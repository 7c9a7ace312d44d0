// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Races as breakpoints, without CUPTI.
//
// CUPTI and CUDA's debugger exclude each other: under cuda-gdb the driver loads
// no injection library. So that trap=1 works nevertheless, the program tells of
// its launches itself (runtime/host/Launch.c), and DebuggedRun switches on the
// code that is launched. Without CUPTI the images are not known. So there are
// no site tables, no reports and no shuffling: the debugger shows where a race
// is.
#ifndef CRSAN_INJECT_SESSION_DEBUGGEDRUN_H
#define CRSAN_INJECT_SESSION_DEBUGGEDRUN_H

#include "common/Flags.h"
#include "session/Context.h"

#include <cuda.h>

#include <map>
#include <memory>
#include <mutex>
#include <set>
#include <string>
#include <utility>

namespace crsan {

class DebuggedRun {
public:
  explicit DebuggedRun(const Flags &Options);

  /// Switches the function's module on before its first launch. Its context is
  /// current.
  void launching(CUfunction Function);

private:
  using ContextId = unsigned long long;

  std::string switchOn(CUmodule Module, ContextId Id, CUcontext Handle);

  const Flags &Options;
  bool IsPossible = false;
  std::mutex Lock;
  std::map<ContextId, std::unique_ptr<Context>> Contexts;
  std::set<std::pair<ContextId, CUmodule>> Seen;
};

} // namespace crsan

#endif // CRSAN_INJECT_SESSION_DEBUGGEDRUN_H

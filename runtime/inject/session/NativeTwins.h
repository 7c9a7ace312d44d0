// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Native twins of kernels, as the driver has them.
//
// A kernel with the collider's checks has a copy without them in its module
// (lib/Transforms/NativeTwin.h). Where the option launch_one_in leaves a launch
// out, the copy is launched in the kernel's place.
#ifndef CRSAN_INJECT_SESSION_NATIVETWINS_H
#define CRSAN_INJECT_SESSION_NATIVETWINS_H

#include "session/Context.h"
#include "session/Modules.h"

#include <cuda.h>

#include <atomic>
#include <cstdint>
#include <map>
#include <mutex>
#include <optional>
#include <set>
#include <string>
#include <utility>
#include <vector>

namespace crsan {

/// load() and find() call the driver. No function needs a lock of the session.
class NativeTwins {
public:
  using CodeWithKernels = std::pair<LoadedCode, std::vector<std::string>>;

  /// Loads the twins of these kernels in the context, for at most 20 ms. To
  /// load code, the driver may wait for kernels that run, so that nothing may
  /// have been launched.
  void load(const Context &C, const std::vector<CodeWithKernels> &All);
  /// What to launch in the place of the kernel `Name`, with the shape and in
  /// the stream of its launch: its twin, if it is loaded, or can be because the
  /// context is idle (`IsIdle`), and the launch is sure to succeed as that of
  /// the kernel would. Null: the kernel has to be launched itself.
  CUfunction find(const Context &C, const std::string &Name,
                  const LaunchShape &Shape, CUstream Stream, bool IsIdle);
  /// The program has changed attributes of a function.
  void attributesChanged() { ++Changes; }
  /// Handles of functions are about to be reused.
  void forget();

private:
  struct Twin {
    CUfunction Handle = nullptr; ///< Null: there is none.
    int MaxThreads = 0;          ///< Of a block.
    /// It needs no more registers and shared memory than the kernel.
    bool FitsAsWell = false;
    uint64_t Imitated = 0; ///< Changes, when it was given all attributes.
  };
  using Key = std::pair<CUcontext, CUfunction>;

  std::optional<Twin> known(const Key &Kernel);
  void make(const Context &C, const std::string &Name, CUfunction Kernel,
            bool MayLoad);
  void loadWanted(const Context &C);

  std::atomic<uint64_t> Changes{1}; ///< Of attributes.
  std::mutex Lock;
  std::map<Key, Twin> Known; ///< By the kernel.
  std::set<Key> Loaded;      ///< Twins.
  /// Names of kernels whose twins are still to be loaded.
  std::map<Key, std::string> Wanted;
};

} // namespace crsan

#endif // CRSAN_INJECT_SESSION_NATIVETWINS_H

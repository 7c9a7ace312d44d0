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
#include <string>
#include <tuple>
#include <utility>
#include <vector>

namespace crsan {

/// load() and find() call the driver. No function needs a lock of the session,
/// but load() a time in which nothing runs, and no code is unloaded.
class NativeTwins {
public:
  using CodeWithKernels = std::pair<LoadedCode, std::vector<std::string>>;

  /// Loads the twins of these kernels in the context, for at most 20 ms.
  void load(const Context &C, const std::vector<CodeWithKernels> &All);
  /// What to launch in the place of the kernel `Name`, with the shape and in
  /// the stream of its launch: its twin, if it is loaded, and the launch is
  /// sure to succeed as that of the kernel would. Null: the kernel has to be
  /// launched itself.
  CUfunction find(const Context &C, const std::string &Name,
                  const LaunchShape &Shape, CUstream Stream);
  /// The program has changed that attribute of a function; none: it is not
  /// known which.
  void attributeChanged(std::optional<CUfunction_attribute> Attribute);
  /// Handles of functions are about to be reused: those of this code, or all
  /// of the context.
  void forget(CUlibrary Library, CUmodule Module);
  void forget(CUcontext Ctx);

private:
  struct Twin {
    CUfunction Handle = nullptr; ///< Null: there is none.
    int MaxThreads = 0;          ///< Of a block.
    /// Whether it needs no more registers and shared memory than the kernel.
    std::optional<bool> FitsAsWell;
    bool IsLikeKernel = true; ///< It has all attributes of the kernel, ...
    uint64_t Imitated = 0;    ///< ... as they were after so many Changes.
  };
  using Key = std::pair<CUcontext, CUfunction>;

  std::optional<Twin> known(const Key &Kernel);
  Twin make(const Context &C, const std::string &Name, CUfunction Kernel);
  bool imitate(const Context &C, CUfunction Kernel, CUfunction Twin) const;

  /// How often the program has changed attributes, and which, as bits. A twin
  /// is loaded with the same attributes as its kernel.
  std::atomic<uint64_t> Changes{0}, Changed{0};
  std::mutex Lock;
  std::map<Key, Twin> Known; ///< By the kernel.
  /// Twins that are loaded, by context, library, module and name of the kernel.
  std::map<std::tuple<CUcontext, CUlibrary, CUmodule, std::string>, CUfunction>
      Loaded;
};

} // namespace crsan

#endif // CRSAN_INJECT_SESSION_NATIVETWINS_H

// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// The kernel that checks copies and fills, in a context; and the one that
// judges what host code has accessed.
#ifndef CRSAN_INJECT_OPERATIONS_OPERATIONCHECKS_H
#define CRSAN_INJECT_OPERATIONS_OPERATIONCHECKS_H

#include "crsan/abi/Config.h"
#include "crsan/abi/HostNote.h"
#include "crsan/abi/Operation.h"
#include "operations/StreamOperation.h"

#include <cuda.h>

#include <atomic>
#include <cstdint>
#include <map>
#include <mutex>
#include <string>
#include <vector>

namespace crsan {

/// A kernel of the program may wait for a copy that the library's kernel is
/// still in front of, and hold all of the device meanwhile. Both would wait for
/// ever. So from the launch of a kernel that may wait to when the context is
/// idle no operation is checked, and such a launch waits for the checks before
/// it. These depend on nothing that could wait for it.
///
/// Functions marked "driver" call the driver, in a context that is current, by
/// OwnCalls. Any thread may call any function.
class OperationChecks {
public:
  OperationChecks() = default;
  OperationChecks(const OperationChecks &) = delete;
  OperationChecks &operator=(const OperationChecks &) = delete;

  bool isLoaded() const { return Function != nullptr; }
  /// Loading was tried.
  bool wasLoaded() const { return WasTried; }
  /// It follows metadata mode.
  bool isShadowed() const { return IsShadowed; }
  void setShadowed(bool Is) { IsShadowed = Is; }
  /// (driver) Loads the kernel, which may wait for all kernels that run. The
  /// caller holds the configuration lock. `Stream`: the library's own.
  void load(CUstream Stream) { Error = tryToLoad(Stream); }
  /// What went wrong; empty: nothing did.
  const std::string &error() const { return Error; }
  /// Where the kernel's Config is, and the sites that it counts races in.
  CUdeviceptr config() const { return Config; }
  CUdeviceptr accessOf(uint32_t Site) const;
  CUdeviceptr siteOf(uint32_t Site) const;
  CUdeviceptr samplingOf(uint32_t Site) const;

  /// (driver) Launches the kernel into the operation's stream. NOT_READY: a
  /// kernel may be running that waits for something.
  CUresult launch(const StreamOperation &Op, abi::Operation Parameter,
                  uint32_t Blocks);

  /// (driver) Launches the kernel that judges accesses of host code; likewise.
  /// `Sites` of the notes is filled in.
  CUresult judge(StreamId Stream, CUstream Handle, abi::HostNotes Notes);

  /// (driver) Has the stream wait before what it is given next.
  void pause(CUstream Stream, uint32_t Ns);

  /// (driver) An event of the library's own behind all that the stream was
  /// given. Null: there is none.
  CUevent mark(CUstream Stream);
  void giveBack(CUevent Event);

  /// Whether a kernel may be running that waits for something.
  bool mayBeAwaited() const { return MayBeAwaited; }
  /// (driver) A kernel that may wait is about to be launched into the stream.
  void awaiting(CUstream Stream);
  void becameIdle();
  /// The stream is about to be destroyed. Its handle may be given to another.
  void destroyed(StreamId Stream);

private:
  std::string tryToLoad(CUstream Stream);
  CUevent eventOf(StreamId Stream);
  CUresult launch(CUfunction Kernel, StreamId Stream, CUstream Handle,
                  void *Parameter, uint32_t Blocks, uint32_t Threads);

  std::atomic<bool> WasTried{false}, IsShadowed{false};
  std::atomic<CUfunction> Function{nullptr}, Pause{nullptr}, Judges{nullptr};
  std::string Error; ///< Of load(). Guarded by the configuration lock.
  CUdeviceptr Config = 0, Sites = 0;
  std::atomic<bool> MayBeAwaited{false};
  std::mutex Lock; ///< Of what follows.
  /// Recorded behind the last check of each stream, ...
  std::map<StreamId, CUevent> Last;
  std::vector<CUevent> OfDestroyed; ///< ... and of streams that are gone.
  std::vector<CUevent> Unused;      ///< For mark().
  unsigned NumMarks = 0;            ///< Events that mark() has created.
};

} // namespace crsan

#endif // CRSAN_INJECT_OPERATIONS_OPERATIONCHECKS_H

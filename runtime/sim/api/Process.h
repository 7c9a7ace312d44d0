// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// The simulated GPUs of this process.
//
// One object behind all API calls. Execution is lazy: calls enqueue, and the
// machines run when the program waits for something, at its end, or when the
// host has called nothing for a while (it may be polling memory).
//
// One lock guards everything here. It may be taken again by the thread that
// holds it, because the session calls back through the driver table. Nobody who
// holds it may let the session take stock: that waits for a thread which needs
// it.
#ifndef CRSAN_SIM_PROCESS_H
#define CRSAN_SIM_PROCESS_H

#include "Objects.h"
#include "common/CallSites.h"
#include "operations/StreamOperation.h"
#include "order/StreamOrder.h"

#include <atomic>
#include <chrono>
#include <mutex>
#include <optional>
#include <thread>
#include <unordered_map>

#include <unistd.h>

namespace crsan {
class Session;
struct Flags;
} // namespace crsan

namespace crsan::api {

/// The architecture that the simulated GPU says it is.
inline constexpr unsigned Architecture = 90;

class SimulatedRun;

/// A launch's <<<...>>>, between the compiler's two calls.
struct CallConfiguration {
  dim3 Grid, Block;
  size_t Shared = 0;
  cudaStream_t Stream = nullptr;
};

/// What a host thread has of its own.
struct ThreadState {
  int Device = 0;
  cudaError_t Last = cudaSuccess;
  std::vector<CallConfiguration> Calls;
  std::map<int, cudaStream_t> OwnStreams; ///< Per-thread default streams.
  cudaStreamCaptureMode CaptureMode = cudaStreamCaptureModeGlobal;
};
ThreadState &thisThread();

/// A stream argument, resolved.
struct StreamRef {
  Device *On = nullptr;
  Stream Handle = 0;
  CUstream_st *Object = nullptr; ///< Null: the legacy default stream.
};

class Process {
public:
  static Process &get();

  /// A function of the API was called, beside those that compilers call before
  /// main. False: this is a child that was forked after such a call, and cannot
  /// use CUDA; says so once. As with CUDA, whose calls fail there.
  bool begin();
  /// The process that called such a function first; 0: none has.
  pid_t user() const { return User; }

  /// As a std::lock_guard takes it.
  void lock();
  /// For whoever must go on without it, too: true if it was got. The thread
  /// that holds it may be dying.
  bool tryLock(std::chrono::milliseconds Patience);
  void unlock();
  /// For code that is no call of CUDA: a program that only makes such accesses
  /// may be waiting for memory to change.
  void lockForHostCode();
  /// Whether this thread holds it.
  bool isHeldHere() const;

  const Flags &flags() const { return Options; }

  //===--- Devices ------------------------------------------------------===//
  int deviceCount() const { return int(Devices.size()); }
  Device &device(int Ordinal) { return *Devices[size_t(Ordinal)]; }
  Device &current() { return device(thisThread().Device); }
  void resetDevice(Device &D);

  //===--- Code (Registration.cpp) --------------------------------------===//
  CUlib_st *addImage(const void *Code, std::string Name);
  void removeImage(CUlib_st *Image);
  /// Null if it cannot be loaded; then `Error` says what the API returns.
  ModuleId loadOn(CUlib_st &Image, Device &D, cudaError_t &Error);
  /// By host function or by handle; null: neither.
  CUkern_st *findKernel(const void *Function);
  CUkern_st *kernelNamed(CUlib_st &Image, const std::string &Name);
  /// On the device, loaded. Null: see Error.
  const KernelInfo *infoOf(CUkern_st &Kernel, Device &D, cudaError_t &Error);
  CRSanVariable *findVariable(const void *HostVariable);
  std::optional<Symbol> symbolOf(const CRSanVariable &V, Device &D,
                                 cudaError_t &Error);
  std::unordered_map<const void *, CUkern_st *> HostFunctions;
  std::unordered_map<const void *, CRSanVariable> HostVariables;
  std::set<CUlib_st *> Images;

  //===--- Memory -------------------------------------------------------===//
  std::map<uintptr_t, Allocation> Allocations;
  std::map<std::string, LaunchSites> LaunchedAt; ///< By kernel, mangled.
  /// Where a kernel (mangled) was launched, in words; "": not known.
  std::string launchedAt(const std::string &Kernel) const;
  /// The allocation that the address lies in, or null.
  Allocation *findAllocation(const void *Address);
  /// What is at an address of device memory, in words; "": nothing is.
  std::string describeAllocation(uint64_t Address);
  /// Where that was allocated (CallSites); 0: not known.
  uint32_t madeAt(uint64_t Address);
  void addAllocation(Allocation A);
  /// Zeroed memory for the host and all devices, at an address that is, where
  /// possible, the same in every run. Null: there is none.
  void *mapHost(size_t Size);
  /// Also releases the memory.
  void dropAllocation(const void *Base);
  /// Devices may touch the memory from now on, or no longer.
  void beginLifetime(GraphMemory &M);
  void endLifetime(GraphMemory &M);
  /// Zeroed memory of a device for the session: none of the program's, which
  /// keeps its addresses, and costs nothing before it is touched. Null: there
  /// is none.
  void *mapForSession(Device &D, size_t Size);
  void unmapForSession(Device &D, void *Base);

  //===--- Streams ------------------------------------------------------===//
  cudaError_t resolve(cudaStream_t Handle, StreamRef &Found);
  /// Tells the session that there is another stream.
  void noteStream(CUstream_st &New);
  /// Enqueues, or captures.
  cudaError_t submit(const StreamRef &S, Operation What,
                     cudaGraphNodeType Type);
  /// The same of a copy, a fill or a free, which `Told` is to the session.
  cudaError_t submit(const StreamRef &S, HostOp What, cudaGraphNodeType Type,
                     const StreamOperation &Told);
  std::set<CUstream_st *> Streams;
  std::set<CUevent_st *> Events;
  std::set<CUgraph_st *> Graphs;
  std::set<CUgraphExec_st *> GraphExecs;
  std::set<CUmemPoolHandle_st *> Pools;
  uint64_t nextId() { return ++LastId; }

  //===--- Running ------------------------------------------------------===//
  /// Runs until it is done. The error is the device's sticky one, or success.
  cudaError_t wait(Device &D, Machine::Wait What, uint64_t Handle = 0);
  cudaError_t waitAll(Device &D) { return wait(D, Machine::Wait::All); }
  /// For a host that polls: it expects things to go on meanwhile.
  void runAWhile(Device &D);
  void noteIdle(Device &D);
  /// What was launched so far, until it has ended or waits for something.
  void runOn();
  /// All machines, for about so many warp instructions each.
  void runAll(uint64_t Steps);
  /// Everything on all devices, whatever fails.
  void drain();
  /// Prints the fault and makes it the device's error.
  void noteFault(Device &D, const Fault &F);

  /// Null if the collider is not used.
  Session *session() const { return TheSession; }
  bool isForkedChild() const { return getpid() != Owner; }
  SimulatedRun &run() const { return *TheRun; }

private:
  Process();
  /// Lets other threads of the program in while a machine runs.
  void letOthersIn();
  bool isDone(Device &D, Machine::Wait What, uint64_t Handle);
  void noteDone(Device &D, Machine::Wait What, uint64_t Handle);
  std::optional<Fault> runSome(Device &D, Machine::Wait What, uint64_t Handle);
  bool advanceOthers(Device &Idle);
  bool showImage(CUlib_st &Image, Device &D, ModuleId Id);
  void startWatchdog();
  void watch();

  const Flags &Options;
  std::recursive_timed_mutex Mutex;
  unsigned Depth = 0; ///< Of the lock, by its holder.
  std::atomic<unsigned> Waiting{0};
  std::atomic<uint64_t> Calls{0}; ///< For the watchdog: the host is alive.
  bool IsIdling = false;
  bool HasWatchdog = false;
  std::vector<std::unique_ptr<Device>> Devices;
  const pid_t Owner = getpid();
  Session *TheSession = nullptr;
  SimulatedRun *TheRun = nullptr;
  std::atomic<pid_t> User{0};
  uint64_t LastId = 0;
  // Apart from device memory modulo 2 TiB too: see abi::pageIndex.
  uintptr_t NextHost = 0x3010'0000'0000;
  uintptr_t NextOfSession = 0x2000'0000'0000;
};

/// As the session knows the stream.
StreamId idOf(const StreamRef &S);

/// Wraps an API function: takes the lock and keeps the thread's last error.
template <typename Body> cudaError_t enter(Body B) {
  Process &P = Process::get();
  if (!P.begin())
    return thisThread().Last = cudaErrorInitializationError;
  std::lock_guard Lock(P);
  cudaError_t Error = B(P);
  if (Error != cudaSuccess)
    thisThread().Last = Error;
  return Error;
}

/// The same, for functions that a failed kernel makes fail as well.
template <typename Body> cudaError_t enterDevice(Body B) {
  return enter([&](Process &P) {
    cudaError_t Sticky = P.current().Sticky;
    return Sticky != cudaSuccess ? Sticky : B(P);
  });
}

/// Runs a body with the device of that number.
template <typename Body> cudaError_t withDevice(int Ordinal, Body B) {
  return enter([&](Process &P) {
    if (Ordinal < 0 || Ordinal >= P.deviceCount())
      return cudaErrorInvalidDevice;
    return B(P, P.device(Ordinal));
  });
}

/// The stream argument of a function in its per-thread form.
inline cudaStream_t perThread(cudaStream_t S) {
  return S ? S : cudaStreamPerThread;
}

/// For what the simulated GPU lacks: names it and where it was called from, and
/// ends the program.
[[noreturn]] void stopAt(const char *What, const void *ReturnAddress);
[[noreturn]] void stop(const std::string &Why);

} // namespace crsan::api

/// What the library exports, beside what CUDA's headers declare.
#define CRSAN_API extern "C"
#define CRSAN_UNSUPPORTED(What)                                                \
  ::crsan::api::stopAt(What, __builtin_return_address(0))

#endif // CRSAN_SIM_PROCESS_H

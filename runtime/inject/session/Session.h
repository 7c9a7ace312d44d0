// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// One run, from cuInit to the end.
//
// A session is told what happens in the program (cupti/DriverCalls.def), and
// keeps what is known about the run.
//
// Two locks. The data lock guards all data. No thread holds it while it calls
// the driver, whose callbacks take the lock. The configuration lock orders
// threads that switch code on or change shadow. A thread takes it only where
// the driver holds no lock (at enter and exit of a call), before the data lock,
// and never waits for a kernel with it.
#ifndef CRSAN_INJECT_SESSION_SESSION_H
#define CRSAN_INJECT_SESSION_SESSION_H

#include "Report/RunFilter.h"
#include "common/CallSites.h"
#include "common/Flags.h"
#include "operations/OperationSites.h"
#include "operations/StreamOperation.h"
#include "order/LaunchOrdering.h"
#include "session/Context.h"
#include "session/Ending.h"
#include "session/Modules.h"
#include "session/NativeTwins.h"
#include "session/Summary.h"
#include "shadow/Allocations.h"

#include <cuda.h>

#include <atomic>
#include <functional>
#include <map>
#include <memory>
#include <mutex>
#include <optional>
#include <set>
#include <span>
#include <string>
#include <tuple>
#include <vector>

namespace crsan {

class Session final : public Run {
public:
  Session(Flags Options, bool IsInstrumentedProgram)
      : Options(std::move(Options)),
        IsInstrumentedProgram(IsInstrumentedProgram),
        Code(Data, this->Options, Memory),
        Ordering(Data, Configuring, Code, Memory) {}

  const Flags &options() const override { return Options; }

  /// The order of launches.
  LaunchOrdering &ordering() { return Ordering; }

  /// Called once, when the first instrumented code is seen: from then on the
  /// library takes part in the program's end.
  std::function<void()> OnFirstInstrumented;

  /// The run is on the simulated GPU. `Line` tells how to repeat the run, and
  /// is the last line of each finding. `Run` runs what was launched so far, as
  /// far as that does not wait for anything.
  void setSimulated(std::string Line, std::function<void()> Run) {
    IsSimulated = true;
    Replay = std::move(Line);
    RunOn = std::move(Run);
  }

  /// A line that the report shall have.
  void note(std::string Line);

  // Events. `Ctx` may be null where no context is current.
  /// The driver is about to load code from an image, and would compile PTX with
  /// these options of ptxas. Returns a fat binary with checks that it is to
  /// load instead; empty: the image is to stay. Name: what the report calls it.
  std::string codeLoading(const void *Image, const std::string &Name,
                          std::vector<std::string> DriverOptions);
  /// Whether code without checks gets them at all.
  bool addsChecks() const {
    return Options.addsChecks() && (IsSimulated || Options.add_checks_on_gpu);
  }
  void imageShown(std::span<const uint8_t> Cubin);
  void imageShown(std::span<const ImageObject> Objects);
  /// Bytes: what the code was loaded from; null: a file.
  void codeLoaded(CUlibrary Library, CUmodule Module, const void *Bytes,
                  CUcontext Ctx, uint32_t Uid);
  void codeUnloading(CUlibrary Library, CUmodule Module);
  /// Code that is loaded is switched on, so that the first launch need not wait
  /// for that.
  void prepare(CUcontext Ctx, uint32_t Uid);
  /// A graph is about to be launched, in any of the contexts, or may be from
  /// now on without a call of the driver.
  void prepareForGraphs();
  /// Launch: none where the launch has no known place in the order of launches.
  /// Stream: where it is made, as functions of the driver take it.
  void launching(CUcontext Ctx, uint32_t Uid,
                 const std::optional<OrderedLaunch> &Launch, CUstream Stream);
  /// To be asked between launching() and launchIsOver(): whether the kernel's
  /// native twin shall be launched in its place, as the option launch_one_in
  /// asks.
  bool leavesToTwin(CUcontext Ctx, const std::string &Kernel);
  /// The handle of that twin; null: the kernel has to be launched itself.
  CUfunction findTwin(CUcontext Ctx, const std::string &Kernel,
                      const LaunchShape &Shape, CUstream Stream);
  /// The launch has been made, or has failed.
  void launchIsOver(CUcontext Ctx, const std::optional<OrderedLaunch> &Launch);
  /// Shape: none where it is not known or blocks are placed in clusters.
  /// IsTwin: the kernel's native twin was launched.
  void launched(CUcontext Ctx, const char *Kernel,
                const std::optional<LaunchShape> &Shape, bool IsTwin);
  void launchFailed(const char *Kernel, const std::string &Error);
  /// The program has changed an attribute of a function, or may have; none: it
  /// is not known which.
  void functionChanged(std::optional<CUfunction_attribute> A = std::nullopt) {
    Twins.attributeChanged(A);
  }
  /// Grows whenever handles of functions may be given to other functions.
  uint64_t handlesReused() const { return HandlesReused; }
  /// A stream of the context is about to be given a copy or a fill. Returns
  /// OperationFlags, for operated().
  uint64_t operating(CUcontext Ctx, const StreamOperation &Op);
  /// It was given it, or the call has failed.
  void operated(CUcontext Ctx, const StreamOperation &Op, uint64_t Flags,
                bool HasFailed);
  /// The host knows that all work of the stream is done, or all work before the
  /// event. `Ctx`: where what host code has accessed is judged before.
  void streamDone(CUcontext Ctx, StreamId Stream);
  void eventDone(CUcontext Ctx, CUevent Event);
  /// Whether host code that accesses something now may race with a launch that
  /// the host has not waited for, whether it has ended or not.
  bool mayRaceWithHost(CUcontext Ctx);
  /// A copy or a fill is made that is not checked.
  void operatingUnchecked(CUcontext Ctx, NoCheck Why);
  /// What streams that overlap need is loaded, if nothing was launched before.
  void streamCreated(CUcontext Ctx);
  void streamDestroyed(CUcontext Ctx, StreamId Stream);
  void synchronised(CUcontext Ctx, CUresult Result);
  /// All work of the context is done. Awaited: what
  /// LaunchOrdering::awaitingIdle() returned before the wait.
  void becameIdle(CUcontext Ctx, uint64_t Awaited);
  /// The program is about to allocate device memory.
  void allocating(CUcontext Ctx, size_t Size);
  /// Memory that kernels may access has been allocated. Owner: null where every
  /// context and the host may access it. How, IsIO: as MemoryRange has it.
  void allocated(CUcontext Owner, uint64_t Base, size_t Size,
                 const char *How = nullptr, bool IsIO = false);
  void allocationFailed(CUcontext Ctx);
  /// A call begins that frees the allocation of this base, or unmaps all
  /// allocations that begin in the range; ...
  FreeCall freeing(uint64_t Base);
  FreeCall unmapping(uint64_t Base, size_t Size);
  /// The size of the allocation of this base; 0: it is not known.
  uint64_t sizeOf(uint64_t Base) const;
  /// ... and ends: the memory is free, will be freed by a stream, or is still
  /// allocated.
  void freed(FreeCall Call);
  void freedByStream(FreeCall Call);
  void freeFailed(FreeCall Call);
  /// One context, or all contexts of a device, may be about to be destroyed or
  /// reset.
  void contextEnding(CUcontext Ctx);
  void deviceEnding(CUdevice Device);
  void contextGone(CUcontext Ctx);

  /// Waits for kernels and reads exact counts, of all contexts that have run
  /// something since. False: some kernel still runs after exit_timeout_ms.
  bool takeStock() override;

  /// Prints the report unless that has been done. Calls no driver function, so
  /// that it works when the program is dying. Returns whether there are races.
  bool print() override;
  std::optional<ReportFile> recorded() override;

  bool hasChecked() const override { return HasChecked; }
  bool hasLaunched() const override { return NumLaunches != 0; }
  void reopen() override { HasReported = false; }

  /// Whether block indices are permuted while the kernel (mangled) runs.
  bool isShuffled(const std::string &Kernel) const;

  /// For halt_on_error: whether any race has been recorded so far.
  bool sawRace() override;
  std::optional<size_t> countRecorded() override;
  std::vector<std::string> lastKernels() override;

private:
  using ContextList = std::vector<std::shared_ptr<Context>>;

  template <typename Bytes> void addImage(Bytes Image);
  std::shared_ptr<Context> findContext(CUcontext Handle);
  std::shared_ptr<Context> enterContext(CUcontext Handle, uint32_t Uid);
  void configure(CUcontext Handle, uint32_t Uid);
  std::shared_ptr<Context> makeReady(CUcontext Ctx, uint32_t Uid);
  void countLaunch();
  /// What an operation is to memory.
  struct Footprint;
  Footprint footprintOf(CUcontext Ctx, const Context *C,
                        const StreamOperation &Op) const;
  void prepareForOverlaps(Context &C);
  void noteWaiting(Context &C, const std::optional<OrderedLaunch> &Launch,
                   CUstream Stream);
  void holdBack(Context &C, const OrderedLaunch &Launch);
  bool isAfterPause(LaunchPause &Pause, uint64_t Group, size_t Share);
  std::optional<NoCheck> whyUnchecked(Context &C, const StreamOperation &Op,
                                      const Footprint &F);
  std::optional<abi::Operation> toCheck(const Context &C,
                                        const StreamOperation &Op,
                                        const Footprint &F, uint32_t CallSite);
  CUresult launchCheck(Context &C, const StreamOperation &Op,
                       const abi::Operation &O, uint32_t Blocks, Footprint &F);
  std::optional<NoCheck> standIn(const std::shared_ptr<Context> &C,
                                 const StreamOperation &Op, Footprint &F);
  bool judgeHost(Context &C, StreamId Stream, CUstream Handle, bool IsIdle);
  void judgeHostBefore(Context &C, StreamId Stream, CUstream Handle);
  template <typename Learn> void judgeHostThen(CUcontext Ctx, Learn Do);
  void awaitJudgement(Context &C);
  bool judgeHostAtEnd(const ContextList &List);
  bool readBackAll(const ContextList &List);
  void awaitKernels(const ContextList &List);
  void setPaused(bool Paused);
  void loadTwins(Context &C, unsigned NumMine);
  void forgetHandles();
  void judgeOccupancy(const Context &C, const std::string &Kernel,
                      const LaunchShape &Shape);
  void kernelFailed(Context &C, CUresult Result);
  void noteFault(const Context &C, CUresult Result);
  bool takeStock(const ContextList &Contexts);
  template <typename Change>
  ContextList changeShadow(const std::vector<MemoryRange> &Ranges, Change What);
  void tellHostChecks(const MemoryRange &Range) const;
  void awaitGrace(std::unique_lock<std::timed_mutex> &Lock, Context &C);
  void forgetShadow(Context &C, uint64_t Serial);
  void forgetPast(Context &C);
  ReportFile collect() const;
  void collectOfHost(ReportFile &File) const;
  std::string describeKernel(const std::string &Kernel) const;
  /// Of all accesses of the loaded code. The caller holds the data lock.
  Coverage coverage() const;
  bool finishReadBack(Context &C, uint64_t Launches, const ReadBackPlan &Plan,
                      ReadBack Back);
  bool speaks() const {
    return IsInstrumentedProgram || Code.sawInstrumented();
  }

  const Flags Options;
  const bool IsInstrumentedProgram;
  bool IsSimulated = false;
  std::string Replay;
  std::function<void()> RunOn; ///< Of the simulated GPU.

  mutable std::timed_mutex Data;
  std::timed_mutex Configuring;
  std::mutex Stocktaking;
  std::timed_mutex Reporting;

  Allocations Memory;
  Modules Code;
  LaunchOrdering Ordering;
  NativeTwins Twins;
  ContextList Contexts;       ///< Dead ones too: they have findings.
  std::set<std::string> Said; ///< Lines that are said once.
  std::vector<std::string> Notes;
  /// Answers of the driver, by device, function, threads and dynamic shared
  /// memory of a block.
  std::map<std::tuple<CUdevice, CUfunction, int, uint32_t>, Residency>
      Residencies;
  std::atomic<uint64_t> HandlesReused{1}; ///< handlesReused()
  /// Kernels whose blocks cannot all run at once for want of registers, with
  /// the message that says so.
  std::map<std::string, std::string> Crowded;
  LaunchCounts Launches;
  OperationSites Places; ///< Of copies and fills.
  OperationCounts Operations;
  /// Where each kernel (mangled) was launched.
  std::map<std::string, LaunchSites> LaunchedAt;
  /// Of all kernels, where launches of several are drawn together.
  LaunchPause GroupPause;
  /// Launches so far, for the option `launches`.
  std::atomic<uint64_t> NumLaunches{0};
  /// What new contexts begin with (Context::IsPaused).
  std::atomic<bool> IsPaused{!runFilter().takesLaunch(1)};
  /// The same (Context::HasGraphs). Written with the configuration lock.
  std::atomic<bool> HasGraphs{false};
  /// Launches between their two events.
  std::atomic<uint32_t> BeingLaunched{0};
  /// No launch may begin: clocks of an idle context are being reset.
  std::atomic<bool> IsResetting{false};
  // Read and written by the threads that end the program, without a lock.
  std::atomic<bool> HasReported{false};
  std::atomic<bool> HasRaces{false};
  std::atomic<bool> HasChecked{true};
};

} // namespace crsan

#endif // CRSAN_INJECT_SESSION_SESSION_H

// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// What the library keeps for a CUDA context.
#ifndef CRSAN_INJECT_SESSION_CONTEXT_H
#define CRSAN_INJECT_SESSION_CONTEXT_H

#include "Report/Finding.h"
#include "common/Background.h"
#include "common/Flags.h"
#include "crsan/abi/Config.h"
#include "crsan/abi/Metadata.h"
#include "crsan/abi/Names.h"
#include "crsan/abi/Record.h"
#include "crsan/abi/Site.h"
#include "crsan/abi/SiteTable.h"
#include "operations/OperationChecks.h"
#include "session/CheckBuffers.h"
#include "session/LaunchPause.h"
#include "session/Occupancy.h"
#include "shadow/MetadataShadow.h"

#include <cuda.h>

#include <array>
#include <atomic>
#include <cstdint>
#include <memory>
#include <string>
#include <unordered_map>
#include <unordered_set>
#include <vector>

namespace crsan {

/// A Site array in the memory of a context.
struct SiteArray {
  uint64_t Code = 0;       ///< LoadedCode::Serial of the code it belongs to.
  CUdeviceptr Address = 0; ///< 0: unloaded, only Last is left.
  std::vector<abi::Site> Last; ///< As read last; sized when it is found.
};

/// An array in the memory of a context, as it was read last; sized when it is
/// found.
template <typename T> struct ArrayCopy {
  CUdeviceptr Address = 0; ///< 0: there is none, or it is unloaded.
  std::vector<T> Last;
};

/// What tells how often the accesses of a unit were checked (the option
/// coverage).
struct UnitCoverage {
  uint64_t Code = 0;                                  ///< As SiteArray's.
  std::vector<uint32_t> WindowOfSite, ChecksOfWindow; ///< ModuleInfo's.
  ArrayCopy<abi::Site> Sites;
  ArrayCopy<abi::Sampling> Windows;
  ArrayCopy<abi::AccessSite> Accesses; ///< Of metadata mode.
};

/// The addresses of kernels' shared variables, which the kernels write.
struct SharedUseArray {
  uint64_t Code = 0; ///< As SiteArray's, with Address.
  CUdeviceptr Address = 0;
  std::vector<SharedUseInfo> SharedUses;
  std::vector<uint32_t> Last; ///< See abi::SharedUsesPrefix; as read last.
};

/// What to read back from a context, and from where: a copy, so that another
/// thread can read without a lock while the program goes on.
struct ReadBackPlan {
  CUcontext Handle = nullptr;
  CUstream Stream = nullptr;
  CUdeviceptr Counters = 0;
  struct Array {
    size_t Index;
    CUdeviceptr Address;
    size_t Count;
  };
  std::vector<Array> Arrays, SharedUses;
  std::vector<UnitCoverage> Covered;
  /// Of metadata mode; 0: it is not used.
  CUdeviceptr Metadata = 0, Warps = 0, Pairs = 0;
};

struct ReadBack {
  CUresult Result = CUDA_ERROR_NOT_READY; ///< Of waiting for the kernels.
  bool Complete = false;                  ///< Everything below was read.
  abi::Counters Counters{};
  std::vector<std::vector<abi::Site>> Arrays; ///< As in the plan.
  std::vector<std::vector<uint32_t>> SharedUses;
  std::vector<UnitCoverage> Covered; ///< As in the plan.
  abi::Metadata Metadata{};
  AccessCounts Accesses; ///< Since the last reset.
  uint64_t BlocksLeftOut = 0;
  std::vector<abi::RacingPair> Pairs;
};

/// Waits for the context's work and reads counters and sites. Calls the driver;
/// may not return while a kernel hangs.
ReadBack readBack(const ReadBackPlan &Plan);

/// What a launch asks of the device.
struct LaunchShape {
  CUfunction Function = nullptr; ///< Or a CUkernel.
  uint64_t Blocks = 0;
  int Threads = 0; ///< A block.
  uint32_t DynamicSharedBytes = 0;
  /// All blocks must fit on the device at a time: those of a cooperative
  /// launch, or of a kernel that may wait for something.
  bool IsTogether = false;
};

/// Where and how code was switched on.
struct SwitchedOn {
  uint64_t Code = 0; ///< LoadedCode::Serial.
  CUdeviceptr Where = 0;
  abi::Config Config;
};

/// A variable of loaded code.
struct VariableInMemory {
  uint64_t Base = 0;
  VariableInfo Variable;
};

/// Guarded by the session's data lock, except where a function calls the
/// driver: those are called with the configuration lock only.
class Context {
public:
  Context(CUcontext Handle, uint32_t Uid) : Handle(Handle), Uid(Uid) {}
  ~Context();
  Context(const Context &) = delete;
  Context &operator=(const Context &) = delete;

  /// Asks the driver which device this is and what it holds. The context is
  /// current.
  void identify();

  /// Code may be switched on from now on, and write to these.
  void use(const CheckBuffers &New) { Buffers = New; }
  bool isPrepared() const { return Buffers.Records != nullptr; }
  /// Some code was switched on here. A context is prepared before it is known
  /// whether it has any.
  bool hasCheckedCode() const { return HasCheckedCode; }
  void noteCheckedCode() { HasCheckedCode = true; }
  /// The library's own.
  CUstream stream() const { return Buffers.Stream; }

  /// Makes what metadata mode needs. The context is current and prepared. Null:
  /// Error says what went wrong.
  std::unique_ptr<MetadataShadow> makeShadow(const Flags &Options,
                                             std::string &Error) const;

  /// What switches code on, once this is prepared. MayShuffle: all of the
  /// image can bear that blocks are permuted. IsShadowed: it was compiled for
  /// metadata mode, and there is shadow.
  abi::Config makeConfig(const Flags &Options, bool MayShuffle,
                         bool IsShadowed) const;
  /// Gives threads the stack that functions with checks need where the linker
  /// could not tell how much that is (abi::UnknownStack). The context is
  /// current. Returns what the user has to know; empty: nothing.
  std::string raiseStack();
  /// Writes a Config. The context is current.
  CUresult writeConfig(CUdeviceptr Where, const abi::Config &Config);
  /// Sets or clears abi::Paused in each Config. The context is current.
  CUresult setPaused(bool Paused);
  /// Kernels of several streams may overlap from now on, and get a larger
  /// budget. The context is current.
  CUresult setOverlapping(const Flags &Options);
  /// Graphs are launched from now on, whose grids share numbers. The context is
  /// current.
  CUresult setGraphs();
  /// abi::Config::Budget of this context's code.
  uint32_t budget(const Flags &Options) const;

  /// Asks the driver about a kernel that was launched, and so is loaded. Where
  /// it does not tell, no grid lacks registers. Needs no lock: it reads what
  /// identify() has set.
  Residency askResidency(const LaunchShape &Shape) const;

  ReadBackPlan plan() const;
  void accept(const ReadBackPlan &Plan, ReadBack Back);

  /// The code is about to be unloaded. What was read back last is kept.
  void forgetCode(uint64_t Code);

  void noteLaunch(const std::string &Kernel);
  /// "a(), b()": kernels launched last, the newest last.
  std::string lastKernels() const;
  /// The same, mangled, each once.
  std::vector<std::string> lateKernels() const;
  bool launchedLately(const std::string &Kernel) const;

  /// Null where code was never switched on. The records stay for ever, and the
  /// device writes them at any time.
  const abi::RecordBuffer *records() const { return Buffers.Records; }
  /// `Sites` has the sites of all code of the context.
  void collect(std::vector<Occurrence> &Found, uint32_t Seed,
               const Allocations &Memory, const SiteTable &Sites) const;
  /// How often the context checked the accesses of its code, loaded or not.
  void addTo(Coverage &All, const SiteTable &Sites) const;
  uint64_t dropped() const;
  const CUcontext Handle;
  const uint32_t Uid;
  CUdevice Device = -1;
  int ComputeMajor = 0, ComputeMinor = 0;
  Multiprocessors Processors;
  bool IsDead = false; ///< Destroyed; another context may have the Handle.
  CUresult Failure = CUDA_SUCCESS; ///< How a kernel of the context failed.
  std::string FailureName;
  bool IsStuck = false;    ///< A kernel ran longer than exit_timeout_ms.
  bool CanCheck = true;    ///< The device has the memory and architecture.
  bool CanShadow = true;   ///< The device has the memory for metadata mode.
  uint64_t Generation = 0; ///< Of the loaded code it was configured for.
  /// Of the loaded code whose native twins have been loaded early.
  uint64_t TwinsGeneration = 0;
  std::unordered_set<uint64_t> Configured; ///< LoadedCode::Serial, tried.
  std::vector<SiteArray> Arrays;
  std::vector<SharedUseArray> SharedUses;
  std::vector<UnitCoverage> Covered; ///< Empty without the option coverage.
  /// The configurations that switched code on. Guarded by the configuration
  /// lock, as IsPaused.
  std::vector<SwitchedOn> Configs;
  uint32_t Salt = 0; ///< Of abi::Metadata, and of launches that are drawn.
  /// Of each kernel, while launch_one_in leaves launches out.
  struct DrawnLaunches {
    uint64_t Count = 0; ///< Launches, drawn or not.
    LaunchPause Pause;
  };
  std::unordered_map<std::string, DrawnLaunches> LaunchesOf;
  bool IsPaused = false;                   ///< abi::Paused is set.
  std::atomic<bool> IsOverlapping = false; ///< Since setOverlapping.
  bool HasGraphs = false;                  ///< Since setGraphs.
  /// With shadow, by LoadedCode::Serial.
  std::vector<std::pair<uint64_t, MemoryRange>> Variables;
  std::vector<VariableInMemory> Named; ///< Of unloaded code, too.
  uint64_t UnreadLaunches = 0;         ///< Launches since the last read-back.
  abi::Counters LastCounters{};
  /// Of copies and fills. Needs no lock.
  OperationChecks Operations;
  /// Null where no code asks for it, or it could not be made.
  std::unique_ptr<MetadataShadow> TheShadow;
  /// Something was launched since the context was last known to be idle. Needs
  /// no lock.
  std::atomic<bool> MayRun{false};
  /// Waits for the kernels that may use retired shadow. Guarded by the
  /// configuration lock.
  std::shared_ptr<Background<CUresult>> Grace;
  /// What MetadataShadow::note has told the device. Guarded by the data lock.
  bool KnowsOverlaps = false, KnowsRepeats = false;
  abi::Metadata LastMetadata{};
  AccessCounts LastAccesses;      ///< Of metadata mode.
  uint64_t LastBlocksLeftOut = 0; ///< Of the table at BlocksLeftOutAt.

private:
  PlaceInMemory describe(uint64_t Address, const Allocations &Memory) const;
  std::string describeShared(uint64_t Address, const SiteInfo &Site) const;
  /// Applies `Change` to each Config, and writes it.
  template <typename ChangeT> CUresult change(const ChangeT &Change);

  CheckBuffers Buffers;
  bool HasCheckedCode = false;
  std::vector<abi::RacingPair> LastPairs;
  std::array<std::string, 4> Recent;
  unsigned NextRecent = 0;
  bool HasRaisedStack = false; ///< raiseStack has done what it can.
};

} // namespace crsan

#endif // CRSAN_INJECT_SESSION_CONTEXT_H

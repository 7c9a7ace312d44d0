// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// One simulated GPU.
//
// A device: modules, memory, streams, and a schedule that is a function of the
// seed. Nothing runs until drive(). A Machine is used by one thread at a time;
// threads of its own (Options::Threads) run only within drive(). No exceptions
// leave it.
//
// Device pointers are host pointers for global and constant memory, so managed
// and mapped memory need no more than allowRange().
#ifndef CRSAN_SIM_MACHINE_H
#define CRSAN_SIM_MACHINE_H

#include "Observer.h"

#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <variant>
#include <vector>

namespace crsan::sim {

struct Options {
  uint64_t Seed = 0;
  enum class Policy : uint8_t {
    RoundRobin,
    Random,
    PCT
  } Schedule = Policy::Random;
  unsigned PCTDepth = 3;
  unsigned Multiprocessors = 4;
  /// Host threads. With more than one, and no observer, multiprocessors run
  /// side by side, in rounds; how they interleave then is another function of
  /// the seed, the same for each number of threads.
  unsigned Threads = 1;
  bool InRounds = false; ///< Also with one thread.
  /// A read of shared memory that no thread of the block (or copy) has written
  /// is a fault.
  bool CheckUninitialisedShared = false;
  /// Functions, kernels, images and operations of the host whose names begin so
  /// are not the program's: observers are not told what they do. Empty: all
  /// are.
  std::string Hidden;
  uint64_t MaxSteps = 0; ///< Warp instructions; beyond is a fault. 0: no limit.
  /// Where device printf goes; standard output if empty.
  std::function<void(std::string_view)> Print;
};

struct SourceLine {
  std::string File;
  uint32_t Line = 0, Column = 0;
  std::string Function; ///< Mangled, or empty.
};

struct Fault {
  enum class Kind : uint8_t {
    InvalidAddress,
    Misaligned,
    BarrierDivergence,
    Deadlock,
    Trap,
    Assert,
    UnknownInstruction,
    UninitialisedShared,
    StepLimit,
    Unsupported,
  } What = Kind::Trap;
  std::string Message; ///< One line, without the place.
  std::string Kernel;  ///< Mangled; empty if no kernel is to blame.
  uint64_t Grid = 0;   ///< Its %gridid.
  Dim3 Block{0, 0, 0}, Thread{0, 0, 0};
  uint64_t Address = 0;          ///< Of memory faults.
  std::vector<SourceLine> Where; ///< Innermost first; empty if unknown.

  /// Message, kernel, block, thread and lines as a paragraph for people.
  std::string text() const;
};
std::string_view name(Fault::Kind);

using ModuleId = uint32_t; ///< From 1.

struct KernelInfo {
  struct Param {
    uint32_t Offset = 0, Size = 0;
  };
  std::string Name; ///< Mangled.
  ModuleId Module = 0;
  uint32_t Index = 0;        ///< Of the function in its module.
  std::vector<Param> Params; ///< As laid out in Launch::Params.
  uint32_t ParamBytes = 0;
  uint32_t StaticShared = 0;  ///< Bytes, of all functions that it may call.
  uint32_t LocalBytes = 0;    ///< Of the kernel's own frame.
  uint32_t Registers = 32;    ///< What is told; the machine has no limit.
  uint32_t MaxThreads = 1024; ///< .maxntid / .reqntid
  std::optional<Dim3> RequiredBlock;   ///< .reqntid
  std::optional<Dim3> RequiredCluster; ///< .reqnctapercluster
  bool MayCallUnknown = false;         ///< Calls through pointers.
};

struct Symbol {
  void *Address = nullptr;
  size_t Size = 0;
  bool IsConstant = false, IsManaged = false;
};

struct PlaceInVariable {
  std::string Name;
  uint64_t Offset = 0;
  uint64_t Size = 0; ///< Of the variable; 0: the launch says.
};

struct Launch {
  const KernelInfo *Kernel = nullptr;
  Dim3 Grid, Block, Cluster; ///< Cluster of 1,1,1: none.
  uint32_t DynamicShared = 0;
  bool IsCooperative = false;
  /// Programmatic dependent launch: after a kernel in its stream it may start
  /// as soon as each block of that has executed
  /// griddepcontrol.launch_dependents, or ended.
  bool MayOverlap = false;
  std::vector<uint8_t> Params; ///< KernelInfo::ParamBytes of them.
  /// Of a node of an executable graph: the %gridid of all its launches, which
  /// the first one sets. Null: each launch has its own, as outside of graphs.
  std::shared_ptr<uint64_t> GridId;
};

/// Something that the host side does in stream order: a copy, a fill, a
/// callback. Runs as one step of the schedule.
struct HostOp {
  std::string Name; ///< "cudaMemcpyAsync"
  std::function<void()> Run;
  std::vector<HostRange> Reads, Writes;
  bool IsFunction = false; ///< Run is a function of the program's.
  uint32_t MadeAt = 0;     ///< As Observer::streamOp() is told.
  std::function<bool()> Ready =
      nullptr; ///< It does not begin before; null: at once.
  std::function<void()> Prepare =
      nullptr; ///< Runs before observers are told; null: nothing does.
};

class Machine {
public:
  explicit Machine(int Ordinal, Options O);
  ~Machine();
  Machine(const Machine &) = delete;
  Machine &operator=(const Machine &) = delete;

  const Options &options() const;
  int ordinal() const;

  //===--- Code ---------------------------------------------------------===//
  /// The PTX texts of one image are linked together: extern, weak, common and
  /// relocatable device code. Else why not, in one line. Instructions that are
  /// not known are no error before they execute.
  std::variant<ModuleId, std::string> load(std::span<const std::string> PTX,
                                           std::string Name);
  void unload(ModuleId);
  /// Valid until unload().
  const KernelInfo *findKernel(ModuleId, std::string_view Name) const;
  std::vector<const KernelInfo *> kernels(ModuleId) const;
  std::optional<Symbol> findSymbol(ModuleId, std::string_view Name) const;
  /// Where the module's variables are, named or not.
  std::vector<HostRange> storage(ModuleId) const;
  /// The variable that an address is in, or an offset in the shared memory of a
  /// kernel (mangled), if that is but one.
  std::optional<PlaceInVariable> variableAt(uint64_t Address) const;
  std::optional<PlaceInVariable> sharedVariableAt(std::string_view Kernel,
                                                  uint64_t Offset) const;
  /// Lines of an instruction (Access::Instruction), innermost first; empty if
  /// unknown. Works for unloaded modules too.
  std::vector<SourceLine> where(int32_t Instruction) const;

  //===--- Memory -------------------------------------------------------===//
  /// Device memory, not initialised. Null: out of memory.
  void *allocate(size_t Bytes, size_t Align = 256);
  void free(void *);
  /// The allocation that an address lies in, if any (device memory and allowed
  /// ranges).
  std::optional<HostRange> rangeOf(const void *) const;
  /// Memory besides that device code may touch: a peer's, or (IsHosts) the
  /// host's, pinned or managed.
  void allowRange(void *, size_t, bool IsHosts = false);
  void disallowRange(void *);

  //===--- Streams ------------------------------------------------------===//
  Stream createStream(bool NonBlocking = false, int Priority = 0);
  /// What is enqueued still runs.
  void destroyStream(Stream);
  Event createEvent();
  void destroyEvent(Event);
  /// The caller has checked the launch against KernelInfo and limits.
  void launch(Stream, Launch);
  void enqueue(Stream, HostOp);
  void record(Event, Stream);
  void wait(Stream, Event);
  /// Holds the stream until an event of another machine.
  void wait(Stream, const Machine &Other, Event);
  bool
      isDone(Stream) const; ///< Of default stream 0: of what is enqueued there.
  bool isEventDone(Event) const; ///< True if never recorded.
  bool isAllDone() const;
  /// Virtual nanoseconds at which the event was reached last.
  std::optional<uint64_t> completedAt(Event) const;
  uint64_t now() const; ///< Virtual nanoseconds.

  enum class Wait : uint8_t { Stream, Event, All };
  /// Runs what can run, of all streams, interleaved by the schedule, until what
  /// is waited for is done. A fault ends the run, is returned by each drive()
  /// from then on, and drops all that was enqueued.
  std::optional<Fault> drive(Wait, uint64_t Handle = 0);
  /// Runs for about so many warp instructions at most: for callers that poll.
  std::optional<Fault> advance(uint64_t Steps);
  /// Called when nothing here can run but a wait for another machine is
  /// pending: runs other machines; false: nothing ran there either (then
  /// drive() reports a deadlock).
  void setIdle(std::function<bool()>);

  std::optional<Fault> fault() const;
  /// As cudaDeviceReset(): drops modules, memory, streams, events and the
  /// fault.
  void reset();

  /// Thread instructions executed so far, and warp instructions.
  uint64_t instructions() const;
  uint64_t steps() const;
  void setObserver(Observer *); ///< Null: none.

  //===--- Limits -------------------------------------------------------===//
  static constexpr uint32_t MaxSharedPerBlock = 227 * 1024;
  static constexpr uint32_t MaxSharedPerMultiprocessor = 228 * 1024;
  static constexpr uint32_t MaxThreadsPerMultiprocessor = 2048;
  static constexpr uint32_t MaxBlocksPerMultiprocessor = 32;
  /// Blocks of this shape that one multiprocessor holds; 0: none fits.
  unsigned blocksPerMultiprocessor(const KernelInfo &, uint32_t Threads,
                                   uint32_t DynamicShared) const;

private:
  class Impl;
  std::unique_ptr<Impl> P;
};

} // namespace crsan::sim

#endif // CRSAN_SIM_MACHINE_H

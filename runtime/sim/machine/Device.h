// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// The parts of a machine, together.
#ifndef CRSAN_SIM_DEVICE_H
#define CRSAN_SIM_DEVICE_H

#include "Crew.h"
#include "Execution.h"
#include "Memory.h"
#include "Random.h"
#include "StoreBuffer.h"

#include "PTX/SourceLines.h"

#include <mutex>

namespace crsan::sim {

/// What Machine hides. Its functions are in Launches.cpp (grids and blocks),
/// Scheduler.cpp, Convergence.cpp (fragments), Streams.cpp, Images.cpp and
/// Rounds.cpp (multiprocessors side by side).
class Device {
public:
  Device(int Ordinal, Options O);
  /// One multiprocessor of a device, which runs fragments and nothing else.
  explicit Device(Device &Whole);
  ~Device();

  //===--- Images.cpp ----------------------------------------------------===//
  std::variant<ModuleId, std::string> load(std::span<const std::string> PTX,
                                           std::string Name);
  void unload(ModuleId);
  void *allocate(size_t Bytes, size_t Align, bool IsReadOnly = false);
  bool release(void *);
  std::vector<SourceLine> where(int32_t Instruction) const;

  /// What remains known of an instruction when its code is gone.
  struct Origin {
    std::shared_ptr<const ptx::Module> Unit;
    const ptx::Function *In = nullptr;
    int32_t Location = -1;
  };

  //===--- Streams.cpp ---------------------------------------------------===//
  struct Operation {
    enum class Kind : uint8_t {
      Launch,
      Host,
      Record,
      Wait,
      Outside ///< A wait for an event of another machine.
    } What = Kind::Host;
    uint64_t Sequence = 0;
    Launch Code;
    HostOp Host;
    sim::Event Event = 0;
    uint64_t Generation = 0;        ///< Of the event: records so far.
    const Machine *Other = nullptr; ///< Whose event it is.
    bool IsRunning = false;
    bool IsHidden = false; ///< See Options::Hidden.
    uint64_t Grid = 0;     ///< Of a launch that runs.
  };
  struct StreamState {
    bool IsBlocking = true, IsDoomed = false;
    int Priority = 0;
    std::deque<Operation> Queue;
  };
  struct EventState {
    uint64_t Recorded = 0, Reached = 0; ///< Numbers of records.
    std::optional<uint64_t> Time;
    bool IsDoomed = false; ///< Destroyed, but not reached yet.
  };
  void push(Stream, Operation);
  void endStream(Stream);
  bool isHidden(std::string_view Name) const;
  /// The operation of the stream that comes next; null: none may start, because
  /// of what the stream itself still does.
  const Operation *nextOf(const StreamState &) const;
  bool canStart(Stream, const StreamState &) const;
  /// Starts what can start; true if anything did. `Instantly`: not up to the
  /// dice.
  bool startOperations(bool Instantly);
  void start(Stream, StreamState &);
  void finishFront(Stream);
  bool isIdle() const;

  //===--- Launches.cpp --------------------------------------------------===//
  void startGrid(Stream, Operation &, uint64_t Overlaps);
  /// All blocks have ended; tells whoever waits for it.
  void finishGrid(Grid &);
  /// Whether a kernel that may overlap with the grid may start.
  bool letsDependentsStart(uint64_t Grid) const;
  /// The block need not end for that any more.
  static void letDependentsStart(Block &);
  /// Makes blocks resident while there is room.
  void dispatch();
  bool makeResident(Grid &);
  std::optional<uint32_t>
  multiprocessorFor(const Grid &, const std::vector<uint32_t> &Taken) const;
  void startBlock(Cluster &, uint32_t Index, uint32_t Rank,
                  uint32_t Multiprocessor);
  void startWarp(Block &, uint32_t Index);
  void exitLanes(Execution &, uint32_t Lanes);
  void finishBlock(Block &);
  /// Clusters without live threads or copies go once no slice is in them.
  void buryClusters();
  void dropAll();
  std::vector<Cluster *> Doomed;

  //===--- Convergence.cpp -----------------------------------------------===//
  Fragment *newFragment(Warp &, uint32_t Lanes, uint32_t Pc, Frame *,
                        Meeting *);
  void retire(Fragment *);
  /// Lanes leave F for a fragment of their own, which is ready, at Pc.
  Fragment *split(Fragment &F, uint32_t Lanes, uint32_t Pc);
  /// Lanes of X go to Target, others to Else, to meet at I.Reconverge.
  Outcome diverge(Execution &X, uint32_t Lanes, uint32_t Target, uint32_t Else,
                  uint32_t Reconverge);
  Meeting *meetingFor(Fragment &F, uint32_t Reconverge);
  /// F is where its innermost meeting is. True: it goes on.
  bool meet(Fragment &F);
  void goOnAlone(Fragment &F);
  void leaveMeetings(Meeting *From, const Meeting *UpTo, uint32_t Lanes);
  void use(Frame *Fr) { ++Fr->Uses; }
  void drop(Frame *);
  void drop(Meeting *);
  static bool onSamePath(const Fragment &A, const Fragment &B);
  /// B's lanes join A; B is gone.
  void merge(Fragment &A, Fragment &B);
  Frame *newFrame(Function &, Frame *Caller, uint32_t LocalBase);
  bool growLocal(Warp &, uint32_t Bytes);
  /// Makes the fragment wait, or ready.
  void setState(Fragment &, Fragment::State);
  /// Makes fragments ready at the next instruction, merged where they are on
  /// the same path.
  void releaseTogether(std::vector<Fragment *>);

  //===--- In ops/: Collectives.cpp, Barriers.cpp, ClusterBarriers.cpp
  //-----===//
  /// After lanes have exited: has that completed what others wait for?
  void recheckCollectives(Warp &);
  void recheckBarriers(Block &);
  void recheckClusterBarrier(Cluster &);

  //===--- Scheduler.cpp -------------------------------------------------===//
  std::optional<Fault> drive(const std::function<bool()> &IsDone,
                             uint64_t MaxSteps);
  /// A slice, or time passes; false: there is nobody who could run.
  bool runSomething();
  void runNext();
  Fragment *pick();
  void runSlice(Fragment *, uint32_t Quantum);
  void sleep(Fragment &, uint64_t Nanoseconds);
  void at(uint64_t Time, std::function<void()> What);
  void passTime(uint64_t WarpInstructions);
  bool runDueEvents();
  bool freeSomebody();
  void reportDeadlock();
  void reportStepLimit(Fragment &, Warp *);
  void raise(Fault);
  bool shouldYield(const Instruction &);

  //===--- Rounds.cpp ----------------------------------------------------===//
  void chooseEngine();
  bool isAtRest() const; ///< Nobody is ready or asleep.
  /// All multiprocessors side by side for some instructions, then what they do
  /// to each other, one after the other. False: there is nobody who could run.
  bool runRound();
  bool jumpToNextTimer();
  void runAlone(uint64_t Quantum);
  void finishRound();
  void takeTurns(const std::vector<Device *> &Order);
  void takeOver();
  /// F's instruction is one for the end of the round.
  Outcome takeTurn(Fragment &F);
  /// Whether F is to wait for the end of the round before another strong
  /// access: it may be spinning, and nothing changes before.
  bool shouldRest(Fragment &F);
  void copyMemory(const Referent &To, const Referent &From, size_t Size);

  // State. Everything is ordered by numbers given in the order of the run,
  // never by addresses, so that a run depends on the seed alone.
  const int Ordinal;
  const Options Opt;
  Observer *Watch = nullptr;
  Random Dice;
  std::optional<Fault> Failed;

  Arena DeviceMemory;
  AllocationTable Table;
  std::map<ModuleId, std::unique_ptr<Image>> Images;
  ModuleId NextModule = 1;
  std::vector<Origin> Origins; ///< By instruction.
  mutable std::unordered_map<const ptx::Module *,
                             std::unique_ptr<ptx::SourceLines>>
      Lines;

  std::map<Stream, StreamState> Streams;
  std::map<Event, EventState> Events;
  Stream NextStream = 1;
  Event NextEvent = 1;
  uint64_t NextOperation = 1;
  std::function<bool()> Idle;

  std::map<uint64_t, std::unique_ptr<Grid>> Grids; ///< Running.
  uint64_t NextGrid = 1, NextGridId = 1, NextBlockUid = 0, NextThreadUid = 0,
           NextClusterUid = 0;
  struct Multiprocessor {
    uint32_t Threads = 0, Blocks = 0, Shared = 0;
  };
  std::vector<Multiprocessor> Multiprocessors;
  bool MayDispatch = false;

  uint64_t NextFragment = 1, NextBarrierUid = 1, NextAsync = 1;
  std::vector<Fragment *> Ready;
  std::vector<Fragment *> FreeFragments;
  std::vector<Meeting *> FreeMeetings;
  std::unordered_map<const Function *, std::vector<Frame *>> FreeFrames;

  uint64_t Now = 1'000'000; ///< Virtual nanoseconds.
  uint64_t NowFraction = 0;
  uint64_t NextTimer = 0;
  std::map<std::pair<uint64_t, uint64_t>, std::function<void()>> Timers;
  uint64_t Steps = 0, ThreadSteps = 0;
  uint64_t NextChange = 0; ///< PCT: step at which priorities change.
  uint64_t LowPriority = 1u << 20;

  // Of a device whose multiprocessors run side by side.
  bool InRounds = false;
  std::vector<std::unique_ptr<Device>> Alone; ///< By multiprocessor.
  std::unique_ptr<Crew> Hands;
  uint64_t Round = 0, RoundQuantum = 0;
  uint64_t RoundStart = 0;   ///< Steps when the last one began.
  mutable std::mutex Asking; ///< where()

  // Of a multiprocessor.
  Device *const Whole = nullptr;
  StoreBuffer *Buffer = nullptr; ///< While others run at the same time.
  StoreBuffer Stores;
  std::vector<Fragment *> Turns;   ///< Their instruction is for the end.
  std::vector<Fragment *> Resting; ///< Until the round ends.
  std::vector<std::function<void()>> Ending;   ///< Copies that are for the end.
  uint64_t ToldSteps = 0, ToldThreadSteps = 0; ///< What Whole has counted.
};

} // namespace crsan::sim

#endif // CRSAN_SIM_DEVICE_H

// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Random traces against the definitions.
//
// The model's definitions taken literally, on traces short enough for it: every
// relation is a set of pairs of events. The oracle must report only pairs that
// race, and something for every byte that is raced on.
#include "Trace.h"

#include <algorithm>
#include <random>

using namespace crsan::sim;

namespace {

struct Action : AccessTraits {
  enum class Kind : uint8_t {
    Memory,
    Fence,
    Arrive,
    Leave
  } What = Kind::Memory;
  uint32_t Block = 0, Thread = 0;
  MemoryOrder Order = MemoryOrder::Weak;
  Scope Within = Scope::Device;
  uint64_t Address = 0;
  uint32_t Size = 0;
  uint64_t Barrier = 0;
};

class Reference {
public:
  Reference(std::vector<Action> Trace, uint32_t Cluster)
      : Events(std::move(Trace)), Cluster(Cluster), Before(Events.size()),
        Observed(Events.size()) {
    computeObservation();
    computeBase();
  }

  /// By the letter; or without the pairs that the oracle may leave out, see
  /// "Limits" in docs/oracle.md.
  bool races(size_t X, size_t Y, bool ByTheLetter) const {
    return isMemory(X) && isMemory(Y) && !isSameThread(X, Y) && overlap(X, Y) &&
           (Events[X].writes() || Events[Y].writes()) &&
           !isMorallyStrong(X, Y) && !isOrdered(X, Y, ByTheLetter);
  }

private:
  using Set = std::vector<bool>;
  size_t size() const { return Events.size(); }
  bool isMemory(size_t X) const {
    return Events[X].What == Action::Kind::Memory;
  }
  bool isStrong(size_t X) const { return Events[X].Order != MemoryOrder::Weak; }
  bool isSameThread(size_t X, size_t Y) const {
    return Events[X].Block == Events[Y].Block &&
           Events[X].Thread == Events[Y].Thread;
  }
  bool isProgramOrder(size_t X, size_t Y) const {
    return X < Y && isSameThread(X, Y);
  }
  bool overlap(size_t X, size_t Y) const {
    const Action &A = Events[X], &B = Events[Y];
    return A.Address < B.Address + B.Size && B.Address < A.Address + A.Size;
  }
  bool isSameLocation(size_t X, size_t Y) const {
    return Events[X].Address == Events[Y].Address &&
           Events[X].Size == Events[Y].Size;
  }
  bool scopesInclude(size_t X, size_t Y) const {
    const Action &A = Events[X], &B = Events[Y];
    if (isSameThread(X, Y))
      return true;
    const Scope Needed = A.Block == B.Block ? Scope::Block
                         : A.Block / Cluster == B.Block / Cluster
                             ? Scope::Cluster
                             : Scope::Device;
    return A.Within >= Needed && B.Within >= Needed;
  }
  bool isMorallyStrong(size_t X, size_t Y) const {
    return isStrong(X) && isStrong(Y) && scopesInclude(X, Y) &&
           isSameLocation(X, Y);
  }

  /// Observed[R][W]: W precedes R in observation order.
  void computeObservation() {
    for (size_t R = 0; R < size(); ++R) {
      Observed[R].resize(size());
      if (!isMemory(R) || !(Events[R].reads() || Events[R].isAtomic()))
        continue;
      for (size_t W = R; W-- > 0;) {
        if (!isMemory(W) || !Events[W].writes() || !overlap(W, R))
          continue;
        if (!isMorallyStrong(W, R))
          break;
        if (Events[W].isAtomic())
          Observed[R] = Observed[W];
        Observed[R][W] = true;
        break;
      }
    }
  }

  bool isReleasePattern(size_t First, size_t W) const {
    if (!isMemory(W) || !Events[W].writes() || !isStrong(W) ||
        !isRelease(Events[First].Order))
      return false;
    if (First == W)
      return true;
    if (!isProgramOrder(First, W))
      return false;
    return Events[First].What == Action::Kind::Fence ||
           (isMemory(First) && isSameLocation(First, W));
  }
  bool isAcquirePattern(size_t R, size_t Last) const {
    if (!isMemory(R) || !Events[R].reads() || !isStrong(R) ||
        !isAcquire(Events[Last].Order))
      return false;
    if (R == Last)
      return true;
    if (!isProgramOrder(R, Last))
      return false;
    return Events[Last].What == Action::Kind::Fence ||
           (isMemory(Last) && isSameLocation(R, Last));
  }

  bool synchronises(size_t X, size_t Y) const {
    const Action &A = Events[X], &B = Events[Y];
    if (A.What == Action::Kind::Arrive && B.What == Action::Kind::Leave)
      return A.Barrier == B.Barrier;
    if (A.What == Action::Kind::Fence && B.What == Action::Kind::Fence &&
        A.Order == MemoryOrder::SequentiallyConsistent &&
        B.Order == MemoryOrder::SequentiallyConsistent && X < Y &&
        scopesInclude(X, Y))
      return true;
    if (!isRelease(A.Order) || !isAcquire(B.Order) || !scopesInclude(X, Y))
      return false;
    for (size_t W = 0; W < size(); ++W)
      if (isReleasePattern(X, W))
        for (size_t R = 0; R < size(); ++R)
          if (Observed[R][W] && isAcquirePattern(R, Y))
            return true;
    return false;
  }

  /// Every relation goes forwards in a schedule, so one pass will do.
  void computeBase() {
    for (size_t Y = 0; Y < size(); ++Y) {
      Before[Y].resize(size());
      for (size_t X = 0; X < Y; ++X)
        if (isProgramOrder(X, Y) || synchronises(X, Y)) {
          Before[Y][X] = true;
          for (size_t Z = 0; Z < X; ++Z)
            if (Before[X][Z])
              Before[Y][Z] = true;
        }
    }
  }

  bool isOrdered(size_t X, size_t Y, bool ByTheLetter) const {
    if (Before[Y][X])
      return true;
    for (size_t Z = 0; Z < Y; ++Z) {
      if (!Before[Y][Z])
        continue;
      if (Observed[Z][X])
        return true;
      // Where a later write of the thread was observed.
      for (size_t W = X + 1; !ByTheLetter && W < Z; ++W)
        if (Observed[Z][W] && isProgramOrder(X, W) && isStrong(X) &&
            isSameLocation(X, W) && Events[X].writes())
          return true;
    }
    return false;
  }

  std::vector<Action> Events;
  uint32_t Cluster;
  std::vector<Set> Before, Observed;
};

class Generator {
public:
  explicit Generator(unsigned Seed) : Random(Seed) {}

  std::vector<Action> trace(uint32_t Blocks) {
    std::vector<Action> Result;
    const unsigned Length = 6 + pick(22);
    while (Result.size() < Length) {
      Action A;
      A.Block = pick(Blocks);
      A.Thread = pick(2) * 40;
      A.Within = Scope(pick(4));
      switch (pick(10)) {
      case 0:
        barrier(Result, A.Block);
        continue;
      case 1:
      case 2: {
        constexpr MemoryOrder Orders[] = {
            MemoryOrder::AcquireRelease, MemoryOrder::AcquireRelease,
            MemoryOrder::SequentiallyConsistent, MemoryOrder::Acquire,
            MemoryOrder::Release};
        A.What = Action::Kind::Fence;
        A.Order = Orders[pick(5)];
        break;
      }
      default:
        memory(A);
      }
      Result.push_back(A);
    }
    return Result;
  }

  unsigned pick(unsigned N) { return Random() % N; }

private:
  void barrier(std::vector<Action> &Result, uint32_t Block) {
    Action A;
    A.Block = Block;
    A.Barrier = ++LastBarrier;
    for (Action::Kind What : {Action::Kind::Arrive, Action::Kind::Leave})
      for (uint32_t T : {0, 40}) {
        A.What = What;
        A.Thread = T;
        Result.push_back(A);
      }
  }
  void memory(Action &A) {
    A.Address = pick(3) ? Flag : Data + 4 * pick(2);
    A.Size = pick(12) ? 4 : pick(2) ? 2 : 8;
    if (A.Size == 8)
      A.Address &= ~uint64_t(7);
    switch (pick(4)) {
    case 0:
      A.Flags = IsAtomic | WritesMemory | (pick(3) != 0 ? ReadsMemory : 0);
      A.Order = pick(2)     ? MemoryOrder::Relaxed
                : A.reads() ? MemoryOrder::AcquireRelease
                            : MemoryOrder::Release;
      break;
    case 1:
      A.Flags = ReadsMemory;
      A.Order = pick(2) ? MemoryOrder::Acquire : MemoryOrder::Relaxed;
      break;
    case 2:
      A.Flags = WritesMemory;
      A.Order = pick(2) ? MemoryOrder::Release : MemoryOrder::Relaxed;
      break;
    case 3:
      A.Flags = pick(2) ? WritesMemory : ReadsMemory;
      if (pick(4))
        A.Address = Data + 4 * pick(2);
      break;
    }
  }

  std::mt19937 Random;
  uint64_t LastBarrier = 0;
};

void play(Trace &R, const std::vector<Action> &Actions, uint32_t Blocks,
          uint32_t Cluster) {
  R.start(0, Blocks, 64, Cluster);
  for (size_t I = 0; I < Actions.size(); ++I) {
    const Action &A = Actions[I];
    const ThreadRef T = R.at(A.Block, A.Thread);
    switch (A.What) {
    case Action::Kind::Fence:
      R.O.fence(T, A.Order, A.Within);
      break;
    case Action::Kind::Arrive:
      R.arrive(T, A.Barrier);
      break;
    case Action::Kind::Leave:
      R.leave(T, A.Barrier);
      break;
    case Action::Kind::Memory: {
      Access M;
      M.Order = A.Order;
      M.Within = A.Within;
      M.Flags = A.Flags;
      M.Address = A.Address;
      M.Size = A.Size;
      M.Instruction = int32_t(I);
      R.O.access(T, M);
      break;
    }
    }
  }
}

std::string describe(const std::vector<Action> &Actions) {
  std::string Text;
  for (size_t I = 0; I < Actions.size(); ++I) {
    const Action &A = Actions[I];
    constexpr const char *Names[] = {"memory", "fence", "arrive", "leave"};
    Text += std::to_string(I) + ": block " + std::to_string(A.Block) +
            " thread " + std::to_string(A.Thread) + ' ' + Names[int(A.What)] +
            " order " + std::to_string(int(A.Order)) + " scope " +
            std::to_string(int(A.Within)) + " at " + std::to_string(A.Address) +
            "+" + std::to_string(A.Size) + (A.reads() ? " R" : "") +
            (A.writes() ? " W" : "") + (A.isAtomic() ? " A" : "") + '\n';
  }
  return Text;
}

} // namespace

TEST(ReferenceTest, AgreesWithTheDefinitions) {
  Generator Random(1);
  size_t Racy = 0, Clean = 0;
  for (int Round = 0; Round < 20'000; ++Round) {
    const uint32_t Cluster = 1 + Random.pick(2), Blocks = 1 + Random.pick(2);
    const std::vector<Action> Actions = Random.trace(Blocks * Cluster);
    const Reference Model(Actions, Cluster);
    Trace Ran;
    play(Ran, Actions, Blocks * Cluster, Cluster);

    std::set<uint64_t> Raced, MustReport, Reported;
    const auto Touch = [&](std::set<uint64_t> &Bytes, size_t X, size_t Y) {
      const Action &A = Actions[X], &B = Actions[Y];
      for (uint64_t At = std::max(A.Address, B.Address);
           At < std::min(A.Address + A.Size, B.Address + B.Size); ++At)
        Bytes.insert(At);
    };
    for (size_t Y = 0; Y < Actions.size(); ++Y)
      for (size_t X = 0; X < Y; ++X)
        for (bool ByTheLetter : {false, true})
          if (Model.races(X, Y, ByTheLetter))
            Touch(ByTheLetter ? Raced : MustReport, X, Y);
    for (const RaceFinding &F : Ran.O.findings()) {
      const size_t X = size_t(F.Earlier.Instruction),
                   Y = size_t(F.Later.Instruction);
      ASSERT_TRUE(Model.races(X, Y, /*ByTheLetter=*/true))
          << "round " << Round << ": " << X << " and " << Y << ", cluster of "
          << Cluster << '\n'
          << describe(Actions);
      Touch(Reported, X, Y);
    }
    ASSERT_TRUE(std::includes(Reported.begin(), Reported.end(),
                              MustReport.begin(), MustReport.end()))
        << "round " << Round << ", cluster of " << Cluster << '\n'
        << describe(Actions);
    ++(Raced.empty() ? Clean : Racy);
  }
  // Otherwise the traces are no test.
  EXPECT_GT(Racy, 1000u);
  EXPECT_GT(Clean, 1000u);
}

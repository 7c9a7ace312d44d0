// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Which accesses race.
#ifndef CRSAN_SIM_ORACLE_CHECKER_H
#define CRSAN_SIM_ORACLE_CHECKER_H

#include "Actors.h"
#include "Shadow.h"

namespace crsan::sim {

/// An access in the name of an actor.
struct Op {
  ActorId Id = 0;
  uint32_t Time = 1;
  uint32_t Note = 0;
  Place Where;
  const Clock *Known = nullptr;
  const Clock *GridStart = nullptr; ///< What its whole grid knows; may be null.
  ThreadState *Thread = nullptr;    ///< Null for copies.
  BlockState *Block = nullptr;      ///< Null for stream work.
  Access A;

  bool isStrong() const { return A.Order != MemoryOrder::Weak; }
};

/// The earlier side of a race.
struct EarlierAccess : AccessTraits {
  ActorId Id = 0;
  uint32_t Time = 0;
  int32_t Instruction = -1;
  MemoryOrder Order = MemoryOrder::Weak;
  Scope Within = Scope::System;
  bool IsVolatile = false;
  uint32_t Size = 0; ///< Bytes of it that are still remembered.
  bool OverlapsCompletely = true;
  /// The access is ordered before the later one, but no fence between their
  /// proxies is between the two.
  bool LacksProxyFence = false;
};

class RaceSink {
public:
  virtual ~RaceSink() = default;
  /// `Count` pairs of accesses, of which one is shown.
  virtual void race(const EarlierAccess &Earlier, const Op &Later,
                    uint64_t Address, uint64_t Count) = 0;
};

/// Compares each access with all that matter, and remembers it.
class Checker {
public:
  Checker(Shadow &Memory, const Actors &Who, RaceSink &Sink, bool KeepsAll)
      : Memory(Memory), Who(Who), Sink(Sink), KeepsAll(KeepsAll) {}

  /// Of at most 16 bytes, within a granule. `Link` and `Position`: of a strong
  /// write in observation order.
  void access(const Op &O, std::shared_ptr<Chain> Link = nullptr,
              uint32_t Position = 0);
  /// Of any number of bytes, weak.
  void stretch(const Op &O);
  /// Of a bulk copy's read, of any number of bytes: reports the writes by
  /// threads of its grid that are known to the copy, but not in `Fenced`.
  void proxies(const Op &O, const Clock &Fenced);

private:
  bool isOrdered(ActorId Id, uint32_t Time, const Op &O) const;
  bool isMorallyStrong(const StrongRecord &S, const Op &O, uint16_t Mask) const;
  bool isMorallyStrong(const StrongList &L, const Op &O, uint16_t Mask) const;

  void checkWeak(WeakList &List, bool IsWrites, const Op &O, uint64_t Base,
                 uint16_t Mask);
  void checkStrong(StrongList &List, const Op &O, uint64_t Base, uint16_t Mask);
  void checkStretches(Page &P, const Op &O, uint64_t PageBase, uint32_t Begin,
                      uint32_t End);
  void checkGranule(Granule &G, const Op &O, uint64_t Base, uint16_t Mask);
  void checkProxies(const Page &P, const Op &O, const Clock &Fenced,
                    uint64_t Base, uint16_t Mask);
  void rememberRead(Granule &G, const Op &O, uint16_t Mask);
  void rememberWrite(Granule &G, const Op &O, uint16_t Mask);
  void rememberStrong(Granule &G, const Op &O, uint16_t Mask,
                      std::shared_ptr<Chain> Link, uint32_t Position);
  void pruneStrong(StrongList &L, bool IsWrites, const Op &O, uint16_t Mask);
  void stretchOfPage(const Op &O, uint64_t PageBase, uint32_t Begin,
                     uint32_t End);

  Shadow &Memory;
  const Actors &Who;
  RaceSink &Sink;
  const bool KeepsAll; ///< OracleOptions::KeepsEveryLine
};

/// Lanes, the own one included, that the clock does not cover.
uint32_t unknownLanes(const WeakRecord &R, const Clock &Known);
/// The actor's own lane, if it has one in this warp.
uint32_t ownLane(uint64_t Warp, const Op &O);

/// Bytes of a granule, as a mask.
inline uint16_t maskOf(uint64_t Address, uint32_t Size) {
  return uint16_t(((uint32_t(1) << Size) - 1) << Address % GranuleBytes);
}

} // namespace crsan::sim

#endif // CRSAN_SIM_ORACLE_CHECKER_H

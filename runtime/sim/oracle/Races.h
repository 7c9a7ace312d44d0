// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// What the oracle found.
#ifndef CRSAN_SIM_ORACLE_RACES_H
#define CRSAN_SIM_ORACLE_RACES_H

#include "Checker.h"

#include <string>
#include <tuple>
#include <vector>

namespace crsan::sim {

/// One of the two accesses of a race.
struct RaceSide : AccessTraits {
  /// Of the kernel (mangled), or the operation of a stream; of host code, none.
  std::string Name;
  bool IsHost = false, IsAsync = false;
  uint32_t MadeAt = 0; ///< On the host: as Observer::streamOp() was told.
  // Of device code:
  Dim3 GridDim{0, 0, 0}, BlockDim{0, 0, 0}; ///< Of its grid.
  Dim3 Block{0, 0, 0}, Thread{0, 0, 0};     ///< Indices.
  MemoryOrder Order = MemoryOrder::Weak;
  Scope Within = Scope::System;
  bool IsVolatile = false;
  uint32_t Size = 0;
  int32_t Instruction = -1;

  bool isHostCode() const { return isHostInstruction(Instruction); }
  bool isStrong() const { return Order != MemoryOrder::Weak; }
};

/// Races of one pair of instructions, with the pair of accesses seen first of
/// those whose threads are farthest apart.
struct RaceFinding {
  RaceSide Earlier, Later; ///< In the schedule; nothing orders them.
  uint64_t Address = 0;    ///< Of the first byte in both.
  abi::Space Space = Space::Global;
  std::string Missing; ///< What would have ordered them: a sentence.
  uint64_t Count = 0;  ///< Pairs of accesses.
  bool OverlapsCompletely = true;
  /// The two are barriers at which threads of a block have met.
  bool AreBarriers = false;
  /// The threads came to the two in different iterations.
  bool AreIterations = false;
  /// The two are ordered, but not between their proxies.
  bool LacksProxyFence = false;
  abi::Distance Width = Distance::Warp;
  uint32_t Device = 0; ///< Ordinal; of the later access, if it is a kernel's.
  /// Strong reads of what the earlier thread had told behind a fence, by the
  /// later one or by one that it has met since, with no fence after them.
  std::vector<StrongRead> ToldAt;
  std::string Memory;  ///< What is at the address, in words; empty: not known.
  uint32_t MadeAt = 0; ///< OracleOptions::MadeAt.
};

/// Findings in the order in which they were first seen.
class Races {
public:
  /// The finding of this pair; Count is 0 if it is new and is to be filled in.
  /// `IsOther`: one that LacksProxyFence, or of AreIterations.
  RaceFinding &of(int32_t Earlier, const std::string &EarlierName,
                  int32_t Later, const std::string &LaterName, bool IsOther);
  const std::vector<RaceFinding> &all() const { return Findings; }

private:
  using Key = std::tuple<int32_t, std::string, int32_t, std::string, bool>;
  std::map<Key, size_t> Index;
  std::vector<RaceFinding> Findings;
};

/// What an explanation is made of.
struct RaceCircumstances {
  Place Earlier, Later;
  bool SameWarp = false;
  bool CompletelyOverlap = true;
  /// Synchronisation there was, but of a scope that is too narrow.
  bool Narrow = false;
  /// A strong access passed something on, but nothing released or acquired.
  bool Unfenced = false;
  /// Of two kernels, the one need not wait for the other to end.
  bool MayOverlap = false;
  bool LacksProxyFence = false;
};
std::string explainRace(const RaceSide &Earlier, const RaceSide &Later,
                        const RaceCircumstances &C);

} // namespace crsan::sim

#endif // CRSAN_SIM_ORACLE_RACES_H

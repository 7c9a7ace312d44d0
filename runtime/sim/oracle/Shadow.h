// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// The accesses that still matter, by byte.
//
// Memory in granules of 16 bytes, because no scalar access crosses one, so that
// a mask of 16 bits says exactly which bytes an access touches. A granule keeps
// every access that a later one may race with unless a later access stands for
// it: the rules for that are in Checker.cpp.
#ifndef CRSAN_SIM_ORACLE_SHADOW_H
#define CRSAN_SIM_ORACLE_SHADOW_H

#include "Releases.h"

#include <memory>
#include <optional>
#include <unordered_map>
#include <vector>

namespace crsan::sim {

constexpr unsigned GranuleBytes = 16;
constexpr unsigned PageBytes = 4096;

/// A weak access by lanes of one warp, of one instruction, at one time of
/// theirs.
struct WeakRecord {
  uint64_t Warp = 0; ///< Actor ids / 32.
  uint32_t Time = 0;
  uint32_t Lanes = 0;
  int32_t Instruction = -1;
  uint16_t Mask = 0;
};

/// A weak access to a stretch of a page, by a copy or fill.
struct StretchRecord {
  ActorId Id = 0;
  uint32_t Time = 0;
  uint32_t Begin = 0, End = 0; ///< Bytes in the page.
  int32_t Instruction = -1;
  bool IsWrite = false;
  Clock Known = {}; ///< What the copy comes after; only if every write is kept.
};

/// Writes that are linked by read-modify-writes, each of which observed the one
/// before it, and who observed them: the model's observation order.
class Chain {
public:
  /// The actor has read what the write at the position left.
  void observe(ActorId Id, uint32_t Time, uint32_t Position);
  /// The latest position that somebody has observed before the point that the
  /// clock of the actor describes.
  std::optional<uint32_t> knownTo(ActorId Id, const Clock &Known) const;

private:
  struct Sighting {
    ActorId Id;
    uint32_t Time, Position;
  };
  std::vector<Sighting> Sightings;
  std::unordered_map<ActorId, uint32_t> LastOf; ///< Index into Sightings.
};

/// "The first `Count` records are ordered before whoever knows `By`." Threads
/// of a grid start with one clock, and those of a block leave a barrier with
/// one, so this spares all but the first of them the walk over a long list.
struct Verified {
  Clock By;
  size_t Count = 0;

  size_t known(const Clock &Known) const {
    return Count && By.same(Known) ? Count : 0;
  }
  /// Record `Index` is another now.
  void changed(size_t Index) {
    if (Index < Count)
      Count = 0;
  }
};

/// "Whoever knows `By` and no more is unordered with all lanes of the first
/// `Count` records, but for his own." The same for a location that everybody
/// races on, where each access is a pair with each before it.
struct Unordered {
  Clock By;
  size_t Count = 0;
  uint64_t Lanes = 0;                             ///< In all of them.
  std::unordered_map<uint64_t, uint32_t> LanesOf; ///< By warp.
  uint32_t Misses = 0;

  void clear() {
    Count = 0;
    Lanes = 0;
    LanesOf.clear();
  }
};

struct StrongRecord : AccessTraits {
  ActorId Id = 0;
  uint32_t Time = 0;
  uint32_t Note = 0;
  int32_t Instruction = -1;
  uint16_t Mask = 0;  ///< Bytes for which it still matters.
  uint16_t Range = 0; ///< Bytes accessed.
  MemoryOrder Order = MemoryOrder::Relaxed;
  Scope Within = Scope::System;
  bool IsVolatile = false;
  bool MayBeWider = false; ///< Access::MayBeWider
  uint32_t Position = 0;   ///< Of a write in its chain.
  std::shared_ptr<Chain> Link;
};

/// Strong accesses to a granule, reads or writes, and what they have in common,
/// so that one look tells that a further one of the kind is morally strong with
/// all of them.
struct StrongList {
  std::vector<StrongRecord> Records;
  std::unordered_map<uint64_t, uint32_t> IndexOf; ///< If there are many.
  uint16_t Range = 0; ///< Of all, 0 if they differ or one may be wider.
  Scope Least = Scope::System;
  std::optional<uint64_t> Block;  ///< Key, if all are of one.
  std::optional<uint32_t> Device; ///< If all are of one.
  Verified Before;
  size_t PruneAt = 64;

  void add(StrongRecord R, const Place &Where);
  template <typename Predicate> void eraseIf(Predicate Dead) {
    if (!std::erase_if(Records, Dead))
      return;
    Before.Count = 0;
    reindex();
  }

private:
  void summarise(const StrongRecord &R, const Place &Where);
  void reindex();
};

/// The last write to a location, if that was a strong one.
struct SyncPoint {
  uint16_t Range = 0;
  bool MayBeWider = false;
  ActorId Writer = 0;
  uint32_t Time = 0;
  Place Where;
  Scope Within = Scope::System;
  uint32_t Position = 0;
  std::shared_ptr<Chain> Link;
  ReleaseSet Releases;
};

struct StrongPart {
  StrongList Reads, Writes;
  std::vector<SyncPoint> Points;
};

/// Weak accesses, reads or writes. New ones join one of the last few records.
struct WeakList {
  std::vector<WeakRecord> Records;
  /// Only of long lists.
  struct Shortcuts {
    Verified Before;
    Unordered Racing;
  };
  std::unique_ptr<Shortcuts> Cuts;
  uint32_t PruneAt = 16; ///< Reads.

  static constexpr size_t Short = 8;

  bool empty() const { return Records.empty(); }
  /// Records were taken out, or changed.
  void changed() {
    if (Cuts) {
      Cuts->Before.Count = 0;
      Cuts->Racing.clear();
    }
  }
};

struct Granule {
  WeakList Writes, Reads;
  std::unique_ptr<StrongPart> Strong;
};

struct Page {
  Granule Granules[PageBytes / GranuleBytes];
  std::vector<StretchRecord> Stretches;
  uint32_t Touched[PageBytes / GranuleBytes / 32] = {};

  bool isTouched(unsigned I) const { return Touched[I / 32] >> I % 32 & 1; }
  void touch(unsigned I) { Touched[I / 32] |= 1u << I % 32; }
  void forget(unsigned I) {
    Granules[I] = {};
    Touched[I / 32] &= ~(1u << I % 32);
  }
};

class Shadow {
public:
  Page &page(uint64_t Address);
  /// Forgets bytes; of granules that are touched in part, those bytes.
  void erase(uint64_t Begin, uint64_t End);
  /// Forgets a block's shared memory.
  void eraseShared(uint64_t BlockUid);
  void clear();
  size_t pages() const { return Pages.size(); }

private:
  std::unordered_map<uint64_t, std::unique_ptr<Page>> Pages;
  std::unordered_map<uint32_t, std::vector<uint64_t>> SharedPages;
  static constexpr unsigned CacheSize = 256;
  struct {
    uint64_t Number = ~uint64_t(0);
    Page *P = nullptr;
  } Cache[CacheSize];
};

} // namespace crsan::sim

#endif // CRSAN_SIM_ORACLE_SHADOW_H

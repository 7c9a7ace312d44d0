// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// What addresses mean.
#include "Memory.h"

#include <algorithm>
#include <sys/mman.h>

using namespace crsan::sim;

//===----------------------------------------------------------------------===//
// AllocationTable
//===----------------------------------------------------------------------===//

static bool beginsBefore(const AllocationTable::Range &R, uint64_t Address) {
  return R.Begin < Address;
}

void AllocationTable::add(uint64_t Begin, uint64_t Size, bool IsReadOnly) {
  ++Changes;
  auto It = std::lower_bound(Ranges.begin(), Ranges.end(), Begin, beginsBefore);
  Ranges.insert(It, Range{Begin, Begin + Size, IsReadOnly});
}

bool AllocationTable::remove(uint64_t Begin) {
  ++Changes;
  std::fill(std::begin(Last), std::end(Last), Range());
  auto It = std::lower_bound(Ranges.begin(), Ranges.end(), Begin, beginsBefore);
  if (It == Ranges.end() || It->Begin != Begin)
    return false;
  Ranges.erase(It);
  return true;
}

void AllocationTable::clear() {
  ++Changes;
  Ranges.clear();
  std::fill(std::begin(Last), std::end(Last), Range());
}

const AllocationTable::Range *AllocationTable::nearest(uint64_t Address) const {
  auto It =
      std::lower_bound(Ranges.begin(), Ranges.end(), Address + 1, beginsBefore);
  return It == Ranges.begin() ? nullptr : &*std::prev(It);
}

const AllocationTable::Range *AllocationTable::findSlow(uint64_t Address,
                                                        uint64_t Size) const {
  const Range *R = nearest(Address);
  if (!R || !R->contains(Address, Size))
    return nullptr;
  Range &Slot = Last[NextLast++ % std::size(Last)];
  Slot = *R;
  return &Slot;
}

//===----------------------------------------------------------------------===//
// Arena
//===----------------------------------------------------------------------===//

Arena::Arena(int Ordinal) {
  constexpr uint64_t First = uint64_t(0x1000)
                             << 32; // 16 TiB: unused by loaders.
  for (Size = uint64_t(64) << 30; !Base && Size >= uint64_t(1) << 28;
       Size /= 2) {
    void *Hint = reinterpret_cast<void *>(First + (uint64_t(Ordinal) << 37));
    void *P = mmap(Hint, Size, PROT_READ | PROT_WRITE,
                   MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
    if (P == MAP_FAILED)
      continue;
    Base = static_cast<uint8_t *>(P);
    break;
  }
  clear();
}

Arena::~Arena() {
  if (Base)
    munmap(Base, Size);
}

void Arena::clear() {
  Used.clear();
  Holes.clear();
  if (Base)
    Holes[0] = Size;
}

void *Arena::allocate(size_t Bytes, size_t Align) {
  Align = std::max<size_t>(Align, 16);
  for (auto It = Holes.begin(); It != Holes.end(); ++It) {
    auto [Start, Room] = *It;
    size_t First = (Start + Gap + Align - 1) / Align * Align;
    size_t Reserved = First - Start + Bytes + Gap;
    if (Bytes > Size || Reserved > Room)
      continue;
    Holes.erase(It);
    if (Room > Reserved)
      Holes[Start + Reserved] = Room - Reserved;
    Used[First] = {Start, Reserved, Bytes};
    return Base + First;
  }
  return nullptr;
}

size_t Arena::free(void *P) {
  if (!Base || P < Base || P >= Base + Size)
    return 0;
  auto It = Used.find(static_cast<uint8_t *>(P) - Base);
  if (It == Used.end())
    return 0;
  Piece Freed = It->second;
  Used.erase(It);
  auto [Hole, Inserted] = Holes.emplace(Freed.Start, Freed.Reserved);
  auto Next = std::next(Hole);
  if (Next != Holes.end() && Hole->first + Hole->second == Next->first) {
    Hole->second += Next->second;
    Holes.erase(Next);
  }
  if (Hole != Holes.begin()) {
    auto Before = std::prev(Hole);
    if (Before->first + Before->second == Hole->first) {
      Before->second += Hole->second;
      Holes.erase(Hole);
    }
  }
  return Freed.Bytes;
}

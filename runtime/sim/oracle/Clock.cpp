// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Vector clocks over many threads.
#include "Clock.h"

#include <algorithm>
#include <cstring>
#include <iterator>

using namespace crsan::sim;

namespace crsan::sim {

/// A leaf or an inner node; the height says which.
struct Clock::Node {
  uint32_t Refs = 1;
};

} // namespace crsan::sim

namespace {

constexpr unsigned Fan = Clock::Fan;

struct Leaf : Clock::Node {
  uint32_t Times[Fan];
};

struct Inner : Clock::Node {
  Clock::Node *Children[Fan];
};

} // namespace

/// Stands for any node below which everything is Forever. Not counted.
static Leaf *fullNode() {
  static Leaf *Full = [] {
    auto *N = new Leaf;
    std::fill(std::begin(N->Times), std::end(N->Times), Clock::Forever);
    return N;
  }();
  return Full;
}

static bool isFull(const Clock::Node *N) { return N == fullNode(); }
static Leaf *leaf(Clock::Node *N) { return static_cast<Leaf *>(N); }
static Inner *inner(Clock::Node *N) { return static_cast<Inner *>(N); }
static const Leaf *leaf(const Clock::Node *N) {
  return static_cast<const Leaf *>(N);
}
static const Inner *inner(const Clock::Node *N) {
  return static_cast<const Inner *>(N);
}

/// Actors below a node of this height, as a power of two.
static unsigned bitsOf(unsigned Height) { return 5 * Height; }

void Clock::retain(Node *N) {
  if (N && !isFull(N))
    ++N->Refs;
}

void Clock::release(Node *N, unsigned Height) {
  if (!N || isFull(N) || --N->Refs)
    return;
  if (Height == 1) {
    delete leaf(N);
    return;
  }
  for (Node *Child : inner(N)->Children)
    release(Child, Height - 1);
  delete inner(N);
}

/// Makes the slot's node one that nobody else sees.
Clock::Node *Clock::own(Node *&Slot, unsigned Height) {
  if (Slot && !isFull(Slot) && Slot->Refs == 1)
    return Slot;
  Node *Old = Slot;
  if (Height == 1) {
    auto *New = new Leaf;
    if (Old)
      std::memcpy(New->Times, leaf(Old)->Times, sizeof(New->Times));
    else
      std::memset(New->Times, 0, sizeof(New->Times));
    Slot = New;
  } else {
    auto *New = new Inner;
    for (unsigned I = 0; I < Fan; ++I) {
      New->Children[I] = !Old          ? nullptr
                         : isFull(Old) ? Old
                                       : inner(Old)->Children[I];
      retain(New->Children[I]);
    }
    Slot = New;
  }
  release(Old, Height);
  return Slot;
}

/// Drops a node that has become full.
void Clock::collapse(Node *&Slot, unsigned Height) {
  if (!Slot || isFull(Slot))
    return;
  const bool Full =
      Height == 1 ? std::all_of(std::begin(leaf(Slot)->Times),
                                std::end(leaf(Slot)->Times),
                                [](uint32_t Time) { return Time == Forever; })
                  : std::all_of(std::begin(inner(Slot)->Children),
                                std::end(inner(Slot)->Children),
                                [](const Node *N) { return isFull(N); });
  if (!Full)
    return;
  release(Slot, Height);
  Slot = fullNode();
}

const uint32_t *Clock::warp(uint64_t Warp) const {
  if (!Root || Warp >> (bitsOf(Height) - 5))
    return nullptr;
  const Node *N = Root;
  for (unsigned H = Height; H > 1; --H) {
    if (isFull(N))
      return leaf(N)->Times;
    N = inner(N)->Children[Warp >> (bitsOf(H - 1) - 5) & (Fan - 1)];
    if (!N)
      return nullptr;
  }
  return leaf(N)->Times;
}

uint32_t Clock::get(ActorId Id) const {
  const uint32_t *Times = warp(Id / Fan);
  return Times ? Times[Id % Fan] : 0;
}

void Clock::growTo(unsigned NewHeight) {
  for (; Height < NewHeight; ++Height) {
    if (!Root)
      continue;
    auto *N = new Inner;
    std::fill(std::begin(N->Children), std::end(N->Children), nullptr);
    N->Children[0] = Root;
    Root = N;
  }
}

void Clock::growFor(ActorId Id) {
  unsigned Needed = Height;
  while (Id >> bitsOf(Needed))
    ++Needed;
  growTo(Needed);
}

void Clock::raise(ActorId Id, uint32_t Time) {
  if (get(Id) >= Time)
    return;
  growFor(Id);
  Node **Slot = &Root;
  for (unsigned H = Height; H > 1; --H)
    Slot = &inner(own(*Slot, H))->Children[Id >> bitsOf(H - 1) & (Fan - 1)];
  leaf(own(*Slot, 1))->Times[Id % Fan] = Time;
}

void Clock::raiseRange(Node *&Slot, unsigned Height, ActorId Base,
                       ActorId Begin, ActorId End) {
  const ActorId Last = Base + (ActorId(1) << bitsOf(Height));
  if (isFull(Slot) || End <= Base || Last <= Begin)
    return;
  if (Begin <= Base && Last <= End) {
    release(Slot, Height);
    Slot = fullNode();
    return;
  }
  Node *N = own(Slot, Height);
  for (unsigned I = 0; I < Fan; ++I)
    raiseRange(inner(N)->Children[I], Height - 1,
               Base + (ActorId(I) << bitsOf(Height - 1)), Begin, End);
  collapse(Slot, Height);
}

void Clock::raiseAll(ActorId Begin, ActorId End) {
  if (Begin == End)
    return;
  growFor(End - 1);
  raiseRange(Root, Height, 0, Begin, End);
}

void Clock::joinLeaf(Node *&Into, Node *From) {
  const uint32_t *A = leaf(Into)->Times, *B = leaf(From)->Times;
  bool NeedsA = false, NeedsB = false;
  for (unsigned I = 0; I < Fan; ++I) {
    NeedsA |= A[I] > B[I];
    NeedsB |= B[I] > A[I];
  }
  if (!NeedsB)
    return;
  if (!NeedsA) {
    retain(From);
    release(Into, 1);
    Into = From;
    return;
  }
  Leaf *N = leaf(own(Into, 1));
  for (unsigned I = 0; I < Fan; ++I)
    N->Times[I] = std::max(N->Times[I], B[I]);
  collapse(Into, 1);
}

/// Of two inner nodes, the first of which others may see.
void Clock::joinShared(Node *&Into, Node *From, unsigned Height) {
  Node *Result[Fan];
  bool IsInto = true, IsFrom = true;
  for (unsigned I = 0; I < Fan; ++I) {
    Result[I] = inner(Into)->Children[I];
    retain(Result[I]);
    joinNode(Result[I], inner(From)->Children[I], Height - 1);
    IsInto &= Result[I] == inner(Into)->Children[I];
    IsFrom &= Result[I] == inner(From)->Children[I];
  }
  Node *New = IsInto ? Into : IsFrom ? From : nullptr;
  if (New) {
    retain(New);
    for (Node *N : Result)
      release(N, Height - 1);
  } else {
    auto *N = new Inner;
    std::copy(std::begin(Result), std::end(Result), std::begin(N->Children));
    New = N;
  }
  release(Into, Height);
  Into = New;
  collapse(Into, Height);
}

void Clock::joinNode(Node *&Into, Node *From, unsigned Height) {
  if (Into == From || !From || isFull(Into))
    return;
  if (!Into || isFull(From)) {
    retain(From);
    release(Into, Height);
    Into = From;
    return;
  }
  if (Height == 1)
    return joinLeaf(Into, From);
  if (Into->Refs > 1)
    return joinShared(Into, From, Height);
  for (unsigned I = 0; I < Fan; ++I)
    joinNode(inner(Into)->Children[I], inner(From)->Children[I], Height - 1);
  collapse(Into, Height);
}

void Clock::join(const Clock &Other) {
  if (!Other.Root || same(Other))
    return;
  if (Other.Height > Height)
    growTo(Other.Height);
  if (Other.Height == Height)
    return joinNode(Root, Other.Root, Height);
  Clock Tall = Other;
  Tall.growTo(Height);
  joinNode(Root, Tall.Root, Height);
}

bool Clock::covered(const Node *By, const Node *What, unsigned Height) {
  if (By == What || !What || isFull(By))
    return true;
  if (!By)
    return false;
  if (Height == 1) {
    for (unsigned I = 0; I < Fan; ++I)
      if (leaf(What)->Times[I] > leaf(By)->Times[I])
        return false;
    return true;
  }
  if (isFull(What))
    return false; // A full node would have collapsed.
  for (unsigned I = 0; I < Fan; ++I)
    if (!covered(inner(By)->Children[I], inner(What)->Children[I], Height - 1))
      return false;
  return true;
}

bool Clock::covers(const Clock &Other) const {
  Clock A = *this, B = Other;
  A.growTo(B.Height);
  B.growTo(A.Height);
  return covered(A.Root, B.Root, A.Height);
}

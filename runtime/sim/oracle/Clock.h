// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Vector clocks over many threads.
//
// A vector clock maps every thread that has ever run to a time, which is a lot
// of threads. So clocks are persistent trees with 32 children a node: what two
// clocks have in common they share, a join looks only at what differs, and
// whoever alone owns a node changes it in place. A block that leaves a barrier
// has one clock, not one a thread. Ranges of threads that have ended and are
// known to have ended take no memory.
#ifndef CRSAN_SIM_ORACLE_CLOCK_H
#define CRSAN_SIM_ORACLE_CLOCK_H

#include <cstdint>
#include <utility>

namespace crsan::sim {

/// Identity of something that acts in program order: a thread, a side of an
/// asynchronous copy, an operation of a stream. Ids of a warp's threads are 32
/// consecutive ones, aligned. Given anew once nothing old matters any more.
using ActorId = uint64_t;

class Clock {
public:
  static constexpr uint32_t Forever = ~0u;
  static constexpr unsigned Fan = 32;

  Clock() = default;
  Clock(const Clock &Other) : Root(Other.Root), Height(Other.Height) {
    retain(Root);
  }
  Clock(Clock &&Other) noexcept
      : Root(std::exchange(Other.Root, nullptr)),
        Height(std::exchange(Other.Height, 1)) {}
  Clock &operator=(Clock Other) noexcept {
    std::swap(Root, Other.Root);
    std::swap(Height, Other.Height);
    return *this;
  }
  ~Clock() { release(Root, Height); }

  /// What of the actor is known: everything up to and at this time.
  uint32_t get(ActorId Id) const;
  /// Times of the 32 actors from Warp * 32; null if nothing is known of them.
  const uint32_t *warp(uint64_t Warp) const;
  /// Knows at least Time of the actor from now on.
  void raise(ActorId Id, uint32_t Time);
  /// Knows all of the actors in a range, which must be of whole warps.
  void raiseAll(ActorId Begin, ActorId End);
  void join(const Clock &Other);

  bool covers(const Clock &Other) const;
  bool empty() const { return !Root; }
  /// Surely equal, found without looking.
  bool same(const Clock &Other) const {
    return Root == Other.Root && (Height == Other.Height || !Root);
  }

  struct Node;

private:
  static void retain(Node *N);
  static void release(Node *N, unsigned Height);
  static Node *own(Node *&Slot, unsigned Height);
  static void collapse(Node *&Slot, unsigned Height);
  static void joinNode(Node *&Into, Node *From, unsigned Height);
  static void joinLeaf(Node *&Into, Node *From);
  static void joinShared(Node *&Into, Node *From, unsigned Height);
  static void raiseRange(Node *&Slot, unsigned Height, ActorId Base,
                         ActorId Begin, ActorId End);
  static bool covered(const Node *By, const Node *What, unsigned Height);
  void growTo(unsigned NewHeight);
  void growFor(ActorId Id);

  Node *Root = nullptr;
  unsigned Height = 1; ///< Levels of nodes; 1: the root is a leaf.
};

} // namespace crsan::sim

#endif // CRSAN_SIM_ORACLE_CLOCK_H

// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Where lanes that part meet again.
//
// Immediate post-dominators of the blocks that end in a branch (Cooper, Harvey
// and Kennedy, "A Simple, Fast Dominance Algorithm", on the reversed graph).
// What ends in exit or trap has no successor and is left out: lanes that are
// gone need nobody to wait for them, so a failed assertion does not move the
// meeting point of the check before it.
#include "Decoder.h"

#include <algorithm>

using namespace crsan::sim;

namespace {

using Flow = Instruction::Flow;

class Graph {
public:
  explicit Graph(const std::vector<Instruction> &Code) : Code(Code) {
    findBlocks();
    connect();
    order();
    dominate();
  }

  /// First instruction of the block that post-dominates the one of `At`.
  uint32_t after(uint32_t At) const {
    uint32_t B = BlockOf[At], To = Dominator[B];
    if (To == Unknown)
      return Instruction::Nowhere;
    return To == exit() ? Instruction::AtReturn : First[To];
  }

private:
  static constexpr uint32_t Unknown = ~0u;

  uint32_t exit() const { return uint32_t(First.size()); }

  static bool endsBlock(const Instruction &I) {
    return I.Flows != Flow::Straight;
  }

  void findBlocks() {
    std::vector<bool> Leads(Code.size() + 1, false);
    Leads[0] = true;
    for (uint32_t N = 0; N < Code.size(); ++N) {
      const Instruction &I = Code[N];
      if (!endsBlock(I))
        continue;
      Leads[N + 1] = true;
      if (I.Flows == Flow::Branch)
        Leads[I.Target] = true;
      if (I.Flows == Flow::Switch)
        for (uint32_t T : *I.Targets)
          Leads[T] = true;
    }
    BlockOf.resize(Code.size());
    for (uint32_t N = 0; N < Code.size(); ++N) {
      if (Leads[N])
        First.push_back(N);
      BlockOf[N] = uint32_t(First.size() - 1);
    }
  }

  void connect() {
    uint32_t Count = exit();
    Successors.resize(Count + 1);
    Predecessors.resize(Count + 1);
    auto Edge = [&](uint32_t From, uint32_t To) {
      Successors[From].push_back(To);
      Predecessors[To].push_back(From);
    };
    for (uint32_t B = 0; B < Count; ++B) {
      uint32_t End = B + 1 < Count ? First[B + 1] : uint32_t(Code.size());
      const Instruction &Last = Code[End - 1];
      bool FallsThrough = Last.Flows == Flow::Straight || Last.HasGuard;
      if (Last.Flows == Flow::Branch)
        Edge(B, BlockOf[Last.Target]);
      else if (Last.Flows == Flow::Switch)
        for (uint32_t T : *Last.Targets)
          Edge(B, BlockOf[T]);
      else if (Last.Flows == Flow::Return)
        Edge(B, Count);
      if (FallsThrough && B + 1 < Count)
        Edge(B, B + 1);
    }
  }

  /// Post-order of the reversed graph from its entry, which is the exit.
  void order() {
    Number.assign(exit() + 1, Unknown);
    std::vector<std::pair<uint32_t, size_t>> Stack{{exit(), 0}};
    std::vector<bool> Seen(exit() + 1, false);
    Seen[exit()] = true;
    while (!Stack.empty()) {
      auto &[B, Next] = Stack.back();
      if (Next < Predecessors[B].size()) {
        uint32_t To = Predecessors[B][Next++];
        if (!Seen[To]) {
          Seen[To] = true;
          Stack.push_back({To, 0});
        }
        continue;
      }
      Number[B] = uint32_t(PostOrder.size());
      PostOrder.push_back(B);
      Stack.pop_back();
    }
  }

  uint32_t intersect(uint32_t A, uint32_t B) const {
    while (A != B) {
      while (Number[A] < Number[B])
        A = Dominator[A];
      while (Number[B] < Number[A])
        B = Dominator[B];
    }
    return A;
  }

  void dominate() {
    Dominator.assign(exit() + 1, Unknown);
    Dominator[exit()] = exit();
    for (bool Changed = true; Changed;) {
      Changed = false;
      for (auto It = PostOrder.rbegin(); It != PostOrder.rend(); ++It) {
        uint32_t B = *It, New = Unknown;
        if (B == exit())
          continue;
        for (uint32_t S : Successors[B])
          if (Dominator[S] != Unknown)
            New = New == Unknown ? S : intersect(New, S);
        if (Dominator[B] != New) {
          Dominator[B] = New;
          Changed = true;
        }
      }
    }
  }

  const std::vector<Instruction> &Code;
  std::vector<uint32_t> First, BlockOf;
  std::vector<std::vector<uint32_t>> Successors, Predecessors;
  std::vector<uint32_t> Number, PostOrder, Dominator;
};

} // namespace

void crsan::sim::findReconvergence(Function &F) {
  if (!F.Error.empty())
    return;
  Graph G(F.Code);
  for (uint32_t N = 0; N < F.Code.size(); ++N) {
    Instruction &I = F.Code[N];
    if (I.Flows == Flow::Straight)
      I.Reconverge = N + 1;
    else
      I.Reconverge = G.after(N);
  }
}

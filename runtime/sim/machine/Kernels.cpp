// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// What is fixed of a kernel when it is linked.
#include "Kernels.h"
#include "Memory.h"
#include "Program.h"

#include <algorithm>
#include <cstring>

namespace ptx = crsan::ptx;
using namespace crsan::sim;

static std::optional<Dim3> dimensions(const ptx::Function &F,
                                      std::string_view Name) {
  for (const ptx::Directive &D : F.Directives)
    if (D.Name == Name) {
      Dim3 Out;
      uint32_t *To[] = {&Out.X, &Out.Y, &Out.Z};
      for (size_t N = 0; N < D.Operands.size() && N < 3; ++N)
        *To[N] = uint32_t(D.Operands[N].Bits);
      return Out;
    }
  return std::nullopt;
}

/// Which shared variables the functions that the kernel may reach use.
static std::vector<bool> findSharedUses(Kernel &K, const Image &To,
                                        const Function &F) {
  std::vector<bool> Seen(To.Functions.size()), Uses(To.SharedVariables.size());
  std::vector<uint32_t> Work{F.Index};
  auto Reach = [&](uint32_t Index) {
    if (!Seen[Index])
      Work.push_back(Index);
    Seen[Index] = true;
  };
  while (!Work.empty()) {
    const Function &Now = To.Functions[Work.back()];
    Work.pop_back();
    for (uint32_t Variable : Now.UsesShared)
      Uses[Variable] = true;
    for (uint32_t Callee : Now.Calls)
      Reach(Callee);
    if (Now.CallsUnknown && !K.Info.MayCallUnknown) {
      K.Info.MayCallUnknown = true;
      for (const Function &Other : To.Functions)
        if (Other.TakesAddress)
          Reach(Other.Index);
    }
  }
  return Uses;
}

/// Gives the shared variables their offsets: the dynamic ones, which begin at
/// one offset, come last.
static void layOutShared(Kernel &K, const Image &To,
                         const std::vector<bool> &Uses) {
  std::vector<uint64_t> Offsets(To.SharedVariables.size(), Kernel::NotUsed);
  uint64_t Next = 0, DynamicAlign = 16;
  auto AlignTo = [&](uint64_t Align) {
    Next = (Next + Align - 1) / Align * Align;
  };
  for (size_t V = 0; V < Offsets.size(); ++V) {
    const SharedVariable &S = To.SharedVariables[V];
    if (S.IsDynamic)
      DynamicAlign = std::max<uint64_t>(DynamicAlign, S.Align);
    else if (Uses[V]) {
      AlignTo(S.Align);
      Offsets[V] = Next;
      Next += S.Size;
    }
  }
  K.Info.StaticShared = uint32_t(Next);
  AlignTo(DynamicAlign);
  for (size_t V = 0; V < Offsets.size(); ++V)
    if (Uses[V] && To.SharedVariables[V].IsDynamic) {
      Offsets[V] = Next;
      K.Info.StaticShared = uint32_t(Next);
    }
  K.SharedOffsets = std::move(Offsets);
  K.SharedRows = K.sharedRows(0);
}

void crsan::sim::addKernel(Image &To, const Function &F) {
  Kernel &K = To.Kernels.emplace_back();
  K.Info.Name = F.Name;
  K.Info.Module = To.Id;
  K.Info.Index = F.Index;
  for (const Slot &S : F.Parameters) {
    K.Info.Params.push_back({S.Offset, S.Size});
    K.Info.ParamBytes = S.Offset + S.Size;
  }
  K.Info.LocalBytes = F.LocalBytes;
  K.Info.RequiredBlock = dimensions(*F.Tree, ".reqntid");
  K.Info.RequiredCluster = dimensions(*F.Tree, ".reqnctapercluster");
  if (auto Max = dimensions(*F.Tree, ".maxntid"))
    K.Info.MaxThreads = uint32_t(std::min<uint64_t>(Max->count(), 1024));
  if (K.Info.RequiredBlock)
    K.Info.MaxThreads = uint32_t(K.Info.RequiredBlock->count());
  layOutShared(K, To, findSharedUses(K, To, F));
  To.KernelsByName[K.Info.Name] = &K;
}

std::vector<uint8_t> Kernel::sharedRows(uint32_t Rank) const {
  std::vector<uint8_t> Rows(
      std::max<size_t>(SharedOffsets.size() * SharedRowStride, 1));
  for (size_t V = 0; V < SharedOffsets.size(); ++V)
    for (unsigned L = 0; L < WarpSize; ++L) {
      uint8_t *Row = Rows.data() + V * SharedRowStride;
      const uint64_t Long = ClusterAddress::withRank(SharedOffsets[V], Rank);
      const uint32_t Short = uint32_t(Long);
      std::memcpy(Row + L * 8, &Long, 8);
      std::memcpy(Row + WarpSize * 8 + L * 4, &Short, 4);
    }
  return Rows;
}

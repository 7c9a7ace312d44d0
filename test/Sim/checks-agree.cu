// Intent: the check in line and the check that is called agree: what the check in line (or the
// first test of the called one) takes for ordered, the judgement of a race takes for ordered, too.
// Both run over the same random states of warps and the same accessors.

// REQUIRES: sim
// RUN: %clangxx -Wno-unknown-cuda-version -std=c++20 -O1 --cuda-path=%cuda_path --offload-arch=sm_90 --cuda-include-ptx=all -I%crsan_src/include -I%crsan_src/runtime/device %s -L%cuda_path/lib64 -lcudart -o %t
// RUN: env CRSAN_OPTIONS=require_checked=0 %crsan run --device=sim %t 2>&1 | FileCheck %s
// CHECK: 0 disagreements
// CHECK: the check in line: ordered {{[1-9][0-9][0-9][0-9]+}}, else {{[1-9][0-9][0-9][0-9]+}}
// CHECK: the called check: ordered {{[1-9][0-9][0-9][0-9]+}}, else {{[1-9][0-9][0-9][0-9]+}}
// CHECK: the judgement: ordered {{[1-9][0-9][0-9][0-9]+}}, else {{[1-9][0-9][0-9][0-9]+}}

// This program has the runtime's functions, but is not instrumented.
#define __crsan_config TheConfig
#include "metadata/entry/InLine.h"
#include "metadata/CellCheck.h"

#include <cstdio>

using namespace crsan::device;

extern "C" __device__ uint32_t __crsan_cluster_extent(uint32_t) { return 1; }
extern "C" __device__ uint32_t __crsan_cluster_rank() { return 0; }
extern "C" __device__ uint32_t __crsan_is_shared(Address A) {
  return __nvvm_isspacep_shared(reinterpret_cast<void *>(A));
}

constexpr unsigned Blocks = 48, Trials = 24, TheSite = 3;

struct Outcome {
  unsigned Disagreements, InLine[2], Called[2], Judged[2];
  unsigned Example[8];
};

/// Numbers of one thread, or of one block if all its threads ask alike.
struct Dice {
  uint32_t State;
  __device__ uint32_t operator()(uint32_t Bound) {
    State = State * 1664525u + 1013904223u;
    return (State >> 8) % Bound;
  }
};

/// A state as the runtime may leave it: Floor <= Start <= Barrier <= Clock.
__device__ void makeState(WarpState &W, Dice &D, uint32_t Floor, uint32_t Place,
                          uint32_t Barrier, uint64_t Block) {
  W.Floor = Floor;
  W.Start = Floor + D(3);
  W.Barrier = Barrier;
  W.Clock = max(W.Start, Barrier) + D(4);
  W.Met = D(2) ? W.Start + D(W.Clock - W.Start + 1) : 0;
  W.Place = Place;
  W.LockedLanes = 0;
  W.Alive = D(3) ? 32 : 0;
  W.Flags = D(2) ? HasKnown : 0;
  W.Heard = ~0u;
  W.Grid = 1;
  W.Block = Block;
  W.Seen = 0;
  W.GridFirst = uint64_t(hashOfGrid(1)) << 32 | Floor;
}

__global__ void compare(AccessSite *Sites, char *Global, Outcome *Out) {
  __shared__ unsigned Word;
  // A block of up to four warps, of which this is one, and another block.
  Dice OfBlock{blockIdx.x * 7919 + 17};
  Dice OfLane{blockIdx.x * 104729 + threadIdx.x * 31 + 5};
  const uint32_t First = blockIdx.x * 16;
  for (unsigned Trial = 0; Trial < Trials; ++Trial) {
    const uint32_t Warps = 1 + OfBlock(4), Mine = OfBlock(Warps);
    const bool Shares = OfBlock(2);
    auto PlaceFor = [&](uint32_t FirstWarp, uint32_t At) {
      return FirstWarp | Warps << 16 | At << 22 | (Shares ? SharesNumber : 0);
    };
    const uint32_t Floor = 8, Barrier = OfBlock(3) ? Floor + 2 + OfBlock(4) : 0;
    Dice Both = OfBlock;
    if (threadIdx.x == 0) {
      Dice D = Both;
      for (uint32_t I = 0; I < Warps; ++I) {
        makeState(Self::stateOf(First + I), D, Floor, PlaceFor(First, I),
                  Barrier, 0);
        makeState(Self::stateOf(First + 8 + I), D, Floor,
                  PlaceFor(First + 8, I), Floor + D(5), 1);
      }
      WarpState &Own = Self::stateOf(First + Mine);
      Own.Alive = 32;
      for (uint32_t I = 0; I < KnownEntries; ++I)
        table<uint32_t>(KnownAt)[(First + Mine) * KnownEntries + I] =
            Own.Flags & HasKnown ? D(16) : 0;
    }
    OfBlock(1u << 20);
    // All lanes may have handed on all that they did: the judgement knows more
    // than the checks of lanes that have not.
    for (uint32_t I = 0; I < 16; ++I) {
      const LaneRef T = Self::stateOf(First + I, threadIdx.x);
      T.Epoch = T.WarpArrive = T.WarpDepart = T.PartDepart = T.Release = 0;
      T.given() = uint64_t(100) << 32 | 100;
    }
    __threadfence();
    __syncthreads();
    const Self Me(PlaceOf{PlaceFor(First, Mine)});
    const WarpState &W = Me.warp();

    // The earlier access, of this block or of the other one.
    const uint32_t Warp =
        OfLane(3) ? First + OfLane(Warps) : First + 8 + OfLane(Warps);
    const uint32_t Lane = OfLane(2) ? Me.Lane : OfLane(32);
    const uint32_t Then = 5 + OfLane(12);
    Accessor Earlier = Accessor::make(TheSite, Lane, Warp, Then);
    const bool WasStrong = OfLane(3) == 0, IsStrong = OfLane(3) == 0;
    if (WasStrong)
      Earlier = Earlier.strong(OfLane(2));
    else if (OfLane(4) == 0)
      Earlier = Earlier.several();
    const bool InShared = OfLane(3) == 0, IsWide = OfLane(2);
    const uint64_t A = InShared ? uint64_t(&Word) : uint64_t(Global);

    // The access of this thread, by both checks.
    uint32_t Shape = 4 | ShapeWrites | ShapeMayBeShared | ShapeMayBeGlobal |
                     ShapeBarriers | ShapeMeetings | ShapeLocks;
    if (IsStrong)
      Shape |= ShapeStrong | (IsWide ? ShapeWide : 0);
    const uint64_t State = uint64_t(&W);
    const Snapshot S = __crsan_md_snapshot(State, 0, Shape);
    const uint64_t Now = __crsan_in_accessor(S.Mine, TheSite, A, 0, Shape);
    const uint64_t Pages = TheConfig.Metadata + PagesAt;
    const bool InLine = __crsan_in_is_ordered(
        S.Mine, S.Place, S.Barrier, S.Floor, S.Met, Now, Earlier.Bits, InShared,
        __crsan_in_start(W.Start, S.Place), Pages, Shape);
    const Quick Test{Me, W.Barrier, W.Floor};
    const bool Called = Test.isOrdered(Earlier, Accessor(Now), InShared);
    const AccessSite &Here = Sites[IsStrong ? 1 + IsWide : 0];
    const bool Judged =
        raceWith(Me.Place, Here, A, Now, Earlier.Bits) == Order::Ordered;
    atomicAdd(&Out->InLine[!InLine], 1);
    atomicAdd(&Out->Called[!Called], 1);
    atomicAdd(&Out->Judged[!Judged], 1);
    // The check in line takes it that a warp of this block began when its own
    // did.
    const bool IsSure = !Shares || Self::stateOf(Warp).Start == W.Start;
    // What the first test of the called check shows, the check in line shows,
    // unless an earlier block may have had the numbers.
    if ((Called && !Judged) || (IsSure && InLine && !Judged) ||
        (!Shares && Called && !InLine))
      if (atomicAdd(&Out->Disagreements, 1) == 0) {
        const uint32_t Example[] = {
            Then,    Warp - First, Lane,      Me.Lane,
            W.Start, W.Barrier,    uint32_t(Shares | InShared << 1 | IsStrong << 2),
            uint32_t(InLine | Called << 1 | Judged << 2)};
        for (int I = 0; I < 8; ++I)
          Out->Example[I] = Example[I];
      }
    // Both note alike what a lane has read strongly.
    uint64_t &Seen = table<LaneStates>(LanesAt)[First + Mine].Seen[threadIdx.x];
    const uint64_t Had = seenNothingSince(W.Barrier - OfLane(2)) | 1u << OfLane(32);
    const uint32_t Size = 4u << OfLane(3);
    const uint64_t Read = uint64_t(Global) + OfLane(4096 / Size) * Size;
    Seen = Had;
    __crsan_in_note_read(State, Read, S.Mine, S.Barrier, Pages, Size);
    const uint64_t Noted = Seen;
    Seen = Had;
    noteRead(Me, Read, Size);
    if (Seen != Noted || !(uint32_t(Noted) & seenWords(Read + Size - 4, 1)))
      atomicAdd(&Out->Disagreements, 1);
    __syncthreads();
  }
}

int main() {
  char *Tables, *Global;
  AccessSite *Sites;
  Outcome *Out;
  cudaMalloc((void **)&Tables, MetadataBytes);
  cudaMalloc((void **)&Global, 4096);
  cudaMallocManaged((void **)&Sites, 4 * sizeof(AccessSite));
  cudaMallocManaged((void **)&Out, sizeof(Outcome));
  *Out = {};
  for (int I = 0; I < 4; ++I) {
    Sites[I] = {};
    Sites[I].Size = 4;
    Sites[I].Flags = WritesMemory | ReadsMemory | (I ? IsStrong : 0);
    Sites[I].Scope = I == 2 ? Scope::Device : Scope::Block;
    Sites[I].Index = TheSite;
  }
  cudaMemset(Tables, 0, MetadataBytes);
  const uint64_t Address = uint64_t(Sites);
  cudaMemcpy(Tables + SitesAt + 8 * TheSite, &Address, 8, cudaMemcpyHostToDevice);
  Config C = {};
  C.Flags = Enabled | Shadowed;
  C.Metadata = uint64_t(Tables);
  cudaMemcpyToSymbol(TheConfig, &C, sizeof(C));
  compare<<<Blocks, 32>>>(Sites, Global, Out);
  if (cudaError_t Error = cudaDeviceSynchronize(); Error != cudaSuccess)
    return std::printf("%s\n", cudaGetErrorString(Error)), 1;
  std::printf("%u disagreements\n", Out->Disagreements);
  if (Out->Disagreements)
    for (unsigned V : Out->Example)
      std::printf("  %u\n", V);
  auto Show = [](const char *Which, const unsigned (&Number)[2]) {
    std::printf("%s: ordered %u, else %u\n", Which, Number[0], Number[1]);
  };
  Show("the check in line", Out->InLine);
  Show("the called check", Out->Called);
  Show("the judgement", Out->Judged);
}

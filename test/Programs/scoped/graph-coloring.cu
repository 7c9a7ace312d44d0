// Intent: blocks color the vertices of a graph, with work that they steal from
// each other and colors that they read while others choose theirs.
// FIXED: device
// RACY: own-head -DOWN_ADD=atomicAdd_block
// RACY: steal-head -DSTEAL_ADD=atomicAdd_block
// RACY: look -DPLAIN_LOOK
// RACY: color-store -DEXCHANGE=atomicExch_block
// RACY: color-load -DPLAIN_COLOR
// RACY: append -DAPPEND_ADD=atomicAdd_block
// UNSEEN: collider (append color-store own-head steal-head): no value changes while a check looks at it
#include "../check.h"
#include "atomics.h"
#include "graph.h"
#include "stealing.h"

#ifndef EXCHANGE
#define EXCHANGE atomicExch
#endif
#ifndef APPEND_ADD
#define APPEND_ADD atomicAdd
#endif
#ifdef PLAIN_COLOR
typedef const unsigned Read;
#else
typedef const volatile unsigned Read;
#endif

constexpr unsigned Threads = 64;
CONSTANT Scaled<1024, 4> Blocks;
CONSTANT Scaled<19, 9> Bits;
CONSTANT Scaled<3000000, 1000> NumEdges;

struct Vertices {
  const unsigned *First, *Neighbours;
  unsigned *Colors; ///< 0: none yet.
};

/// The least color that no neighbour has.
__device__ unsigned choose(Vertices G, unsigned V) {
  for (unsigned Base = 1;; Base += 32) {
    unsigned Used = 0;
    for (unsigned I = G.First[V]; I < G.First[V + 1]; ++I) {
      unsigned Color = *(Read *)&G.Colors[G.Neighbours[I]]; // RACE: color-*
      if (Color >= Base && Color < Base + 32)
        Used |= 1u << (Color - Base);
    }
    if (~Used)
      return Base + __ffs(~Used) - 1;
  }
}

__global__ void color(Partitions P, Vertices G, const unsigned *List) {
  unsigned I;
  while (P.take(I))
    if (I != Partitions::None)
      EXCHANGE(&G.Colors[List[I]], choose(G, List[I])); // RACE: color-*
}

/// Lists the vertices that have a lesser neighbour of their color.
__global__ void check(Vertices G, const unsigned *List, unsigned N,
                      unsigned *Again, unsigned *NumAgain) {
  unsigned Index = blockIdx.x * Threads + threadIdx.x;
  if (Index >= N)
    return;
  unsigned V = List[Index];
  for (unsigned I = G.First[V]; I < G.First[V + 1]; ++I) {
    unsigned Other = G.Neighbours[I];
    if (Other < V && G.Colors[Other] == G.Colors[V]) {
      Again[APPEND_ADD(NumAgain, 1)] = V; // RACE: append
      return;
    }
  }
}

int main() {
  const unsigned NumVertices = 1u << Bits;
  std::vector<Edge> Edges = randomEdges(Bits, NumEdges);
  Adjacency A(NumVertices, Edges);
  Vertices G = {upload(A.First), upload(A.Neighbours),
                zeroed<unsigned>(NumVertices)};
  std::vector<unsigned> All(NumVertices);
  for (unsigned V = 0; V < NumVertices; ++V)
    All[V] = V;
  unsigned *List = upload(All), *Again = zeroed<unsigned>(NumVertices);
  unsigned *NumAgain = zeroed<unsigned>(1), N = NumVertices;
  Partitions P(Blocks);
  for (unsigned Rounds = 0; N > 0 && Rounds < 100; ++Rounds) {
    P.divide(N, Blocks);
    color<<<Blocks, Threads>>>(P, G, List);
    check<<<(N + Threads - 1) / Threads, Threads>>>(G, List, N, Again, NumAgain);
    N = download(NumAgain, 1)[0];
    CHECK(cudaMemset(NumAgain, 0, sizeof(unsigned)));
    std::swap(List, Again);
  }
  std::vector<unsigned> Colors = download(G.Colors, NumVertices);
  bool Right = N == 0;
  for (unsigned Color : Colors)
    Right &= Color != 0;
  for (Edge E : Edges)
    Right &= Colors[E.From] != Colors[E.To];
  return finish(Right);
}

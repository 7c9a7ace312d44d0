// Intent: blocks hand on the least label along the edges of a graph until every
// component has one, with work that they steal from each other.
// FIXED: device
// RACY: own-head -DOWN_ADD=atomicAdd_block
// RACY: steal-head -DSTEAL_ADD=atomicAdd_block
// RACY: look -DPLAIN_LOOK
// RACY: label-min -DMIN=atomicMin_block
// RACY: label-load -DPLAIN_LABEL
// UNSEEN: collider (label-min own-head steal-head): no value changes while a check looks at it
#include "../check.h"
#include "atomics.h"
#include "graph.h"
#include "stealing.h"

#ifndef MIN
#define MIN atomicMin
#endif
#ifdef PLAIN_LABEL
typedef const unsigned Read;
#else
typedef const volatile unsigned Read;
#endif

constexpr unsigned Threads = 64;
CONSTANT Scaled<1024, 4> Blocks;
CONSTANT Scaled<20, 10> Bits;
CONSTANT Scaled<3000000, 1000> NumEdges;

__global__ void connect(Partitions P, const Edge *Edges, unsigned *Labels,
                        unsigned *Changes) {
  unsigned I, Mine = 0;
  while (P.take(I)) {
    if (I == Partitions::None)
      continue;
    Edge E = Edges[I];
    unsigned From = *(Read *)&Labels[E.From]; // RACE: label-*
    unsigned To = *(Read *)&Labels[E.To];     // RACE: label-*
    if (From == To)
      continue;
    unsigned Greater = From < To ? E.To : E.From;
    MIN(&Labels[Greater], From < To ? From : To); // RACE: label-*
    ++Mine;
  }
  if (Mine > 0)
    atomicAdd(Changes, Mine);
}

/// The root of \p V in a forest where each vertex names its parent.
static unsigned root(std::vector<unsigned> &Parents, unsigned V) {
  while (Parents[V] != V)
    V = Parents[V] = Parents[Parents[V]];
  return V;
}

int main() {
  const unsigned NumVertices = 1u << Bits;
  std::vector<Edge> Edges = randomEdges(Bits, NumEdges);
  std::vector<unsigned> Parents(NumVertices);
  for (unsigned V = 0; V < NumVertices; ++V)
    Parents[V] = V;
  unsigned *Labels = upload(Parents), *Changes = zeroed<unsigned>(1);
  const Edge *DeviceEdges = upload(Edges);
  Partitions P(Blocks);
  unsigned More = 1;
  for (unsigned Rounds = 0; More > 0 && Rounds < 100; ++Rounds) {
    P.divide(Edges.size(), Blocks);
    CHECK(cudaMemset(Changes, 0, sizeof(unsigned)));
    connect<<<Blocks, Threads>>>(P, DeviceEdges, Labels, Changes);
    More = download(Changes, 1)[0];
  }
  for (Edge E : Edges) {
    unsigned A = root(Parents, E.From), B = root(Parents, E.To);
    Parents[A < B ? B : A] = A < B ? A : B;
  }
  return finish(More == 0 && matches(Labels, NumVertices, [&](size_t V) {
                  return root(Parents, V);
                }));
}

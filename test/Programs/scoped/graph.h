// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Random graphs whose degrees differ much.
#ifndef CRSAN_TEST_PROGRAMS_GRAPH_H
#define CRSAN_TEST_PROGRAMS_GRAPH_H

#include <cstdint>
#include <vector>

struct Edge {
  unsigned From, To;
};

/// Edges among 2^\p Bits vertices, none from a vertex to itself. Each bit of both
/// ends is drawn together, low ones more often (R-MAT).
inline std::vector<Edge> randomEdges(unsigned Bits, unsigned Count) {
  std::vector<Edge> Edges;
  uint64_t State = 88172645463325252u;
  while (Edges.size() < Count) {
    Edge E = {0, 0};
    for (unsigned B = 0; B < Bits; ++B) {
      State ^= State << 13;
      State ^= State >> 7;
      State ^= State << 17;
      unsigned Dice = State >> 32 & 255; // 45 %, 22 %, 22 % and 11 %.
      E.From = E.From * 2 + (Dice >= 171);
      E.To = E.To * 2 + ((Dice >= 115 && Dice < 171) || Dice >= 227);
    }
    if (E.From != E.To)
      Edges.push_back(E);
  }
  return Edges;
}

/// The neighbours of vertex V are Neighbours[First[V]] to before First[V + 1].
struct Adjacency {
  std::vector<unsigned> First, Neighbours;

  Adjacency(unsigned Vertices, const std::vector<Edge> &Edges)
      : First(Vertices + 1), Neighbours(2 * Edges.size()) {
    for (Edge E : Edges) {
      ++First[E.From + 1];
      ++First[E.To + 1];
    }
    for (unsigned V = 0; V < Vertices; ++V)
      First[V + 1] += First[V];
    std::vector<unsigned> Next(First);
    for (Edge E : Edges) {
      Neighbours[Next[E.From]++] = E.To;
      Neighbours[Next[E.To]++] = E.From;
    }
  }
};

#endif // CRSAN_TEST_PROGRAMS_GRAPH_H

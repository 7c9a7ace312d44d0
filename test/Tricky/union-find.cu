// Intent: components of a graph by union and find without locks: parents are read and
// changed by atomics only. The racy twin shortens paths by a plain store.
#include "../Device/check.h"
#include "orders.h"

constexpr unsigned Vertices = 96, Parts = 3, Threads = 64, Blocks = 2;

__device__ unsigned root(unsigned *Parent, unsigned V) {
  for (;;) {
    unsigned Up = LOAD(relaxed, &Parent[V]); // RACE
    unsigned Above = LOAD(relaxed, &Parent[Up]); // RACE
    if (Up == Above)
      return Up;
#ifdef RACY
    Parent[V] = Above; // RACE
#else
    SWAP(relaxed, &Parent[V], Up, Above);
#endif
    V = Above;
  }
}

__global__ void unite(unsigned *Parent) {
  unsigned I = blockIdx.x * Threads + threadIdx.x;
  // All threads begin at the end of the chain of their part.
  for (unsigned V = I; V + Parts < Vertices; V += Threads * Blocks) {
    unsigned A = V + Parts, B = V;
    for (;;) {
      A = root(Parent, A);
      B = root(Parent, B);
      if (A == B)
        break;
      if (A < B) {
        unsigned Swapped = A;
        A = B;
        B = Swapped;
      }
      if (SWAP(relaxed, &Parent[A], A, B) == A) // RACE
        break;
    }
  }
}

__global__ void flatten(unsigned *Parent, unsigned *Out) {
  unsigned V = blockIdx.x * Threads + threadIdx.x;
  if (V < Vertices) {
    unsigned R = V;
    while (Parent[R] != R)
      R = Parent[R];
    Out[V] = R;
  }
}

int main() {
  std::vector<unsigned> Own(Vertices);
  for (unsigned V = 0; V < Vertices; ++V)
    Own[V] = V;
  unsigned *Parent = upload(Own), *Out = zeroed<unsigned>(Vertices);
  unite<<<Blocks, Threads>>>(Parent);
  flatten<<<Blocks, Threads>>>(Parent, Out);
  return finish(matches(Out, Vertices, [](size_t V) { return unsigned(V % Parts); }));
}

// Intent: components of a graph by union and find without locks: parents are read and
// changed by atomics only. The racy twin shortens paths by a plain store.
#include "../check.h"
#include "../orders.h"

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

__device__ void unite(unsigned *Parent, unsigned A, unsigned B) {
  for (;;) {
    A = root(Parent, A);
    B = root(Parent, B);
    if (A == B)
      return;
    unsigned Larger = max(A, B), Smaller = min(A, B);
    if (SWAP(relaxed, &Parent[Larger], Larger, Smaller) == Larger) // RACE
      return;
  }
}

__global__ void work(unsigned *Parent) {
  unsigned I = blockIdx.x * Threads + threadIdx.x;
  // Many begin far down in the same chains, of which the first two become one.
  if (I + 1 < Vertices)
    unite(Parent, I, I % Parts == 0 ? I + 1 : I + Parts < Vertices ? I + Parts : I);
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
    Own[V] = V < Parts ? V : V - Parts; // Chains.
  unsigned *Parent = upload(Own), *Out = zeroed<unsigned>(Vertices);
  work<<<Blocks, Threads>>>(Parent);
  flatten<<<Blocks, Threads>>>(Parent, Out);
  return finish(matches(Out, Vertices, [](size_t V) { return unsigned(V % Parts / 2 * 2); }));
}

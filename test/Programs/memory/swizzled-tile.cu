// Intent: a tile is transposed through shared memory at swizzled places, no two of them
// alike. The racy twin's swizzle puts two words in one place.
#include "../check.h"

constexpr unsigned Side = 16, Blocks = 2, N = Side * Side;

__device__ unsigned place(unsigned Row, unsigned Column) {
#ifdef RACY
  return Row * Side + (Column | (Row & 1));
#else
  return Row * Side + (Column ^ (Row & 7));
#endif
}

__global__ void transpose(const unsigned *In, unsigned *Out) {
  __shared__ unsigned Tile[N];
  unsigned Row = threadIdx.y, Column = threadIdx.x, First = blockIdx.x * N;
  Tile[place(Row, Column)] = In[First + Row * Side + Column]; // RACE
  __syncthreads();
  Out[First + Row * Side + Column] = Tile[place(Column, Row)];
  __syncthreads();
  // In place as well: each thread changes the word that it put there.
  Tile[place(Row, Column)] += 1; // RACE
}

int main() {
  std::vector<unsigned> In;
  for (unsigned I = 0; I < Blocks * N; ++I)
    In.push_back(I);
  unsigned *Out = zeroed<unsigned>(Blocks * N);
  transpose<<<Blocks, dim3(Side, Side)>>>(upload(In), Out);
  return finish(matches(Out, Blocks * N, [](size_t I) {
    return unsigned(I / N * N + I % Side * Side + I % N / Side);
  }));
}

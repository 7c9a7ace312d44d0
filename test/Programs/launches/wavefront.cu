// Intent: a table is filled row by row, a block a row, each as soon as the flags of the
// row above allow it; the last block has the first row.
// CLEAN-ONLY
#include "persistent.h"

constexpr unsigned Tiles = 8;

__host__ __device__ inline unsigned cellOf(unsigned Above, unsigned Left,
                                           unsigned R, unsigned C) {
  return Above * 3 + Left + R * 5 + C;
}

__global__ void fill(unsigned *Table, unsigned *Done) {
  const unsigned N = blockDim.x * Tiles, Row = gridDim.x - 1 - blockIdx.x;
  for (unsigned Tile = 0; Tile < Tiles; ++Tile) {
    if (Row && threadIdx.x == 0)
      waitFor(&Done[Row - 1], Tile + 1);
    __syncthreads();
    const unsigned C = Tile * blockDim.x + threadIdx.x;
    const unsigned Above = Row ? Table[(Row - 1) * N + C] : C;
    const unsigned Left = Row && C ? Table[(Row - 1) * N + C - 1] : 1;
    Table[Row * N + C] = cellOf(Above, Left, Row, C);
    __syncthreads();
    if (threadIdx.x == 0)
      tell(&Done[Row], Tile + 1);
  }
}

int main() {
  const unsigned Blocks = blocksByHand(), N = Threads * Tiles;
  unsigned *Table = zeroed<unsigned>(Blocks * N),
           *Done = zeroed<unsigned>(Blocks);
  measure("wavefront", [&] {
    CHECK(cudaMemsetAsync(Done, 0, Blocks * sizeof(unsigned)));
    fill<<<Blocks, Threads>>>(Table, Done);
  });
  std::vector<unsigned> Want(Blocks * N);
  for (unsigned R = 0; R < Blocks; ++R)
    for (unsigned C = 0; C < N; ++C)
      Want[R * N + C] = cellOf(R ? Want[(R - 1) * N + C] : C,
                               R && C ? Want[(R - 1) * N + C - 1] : 1, R, C);
  return finish(matches(Table, Blocks * N, [&](size_t I) { return Want[I]; }));
}

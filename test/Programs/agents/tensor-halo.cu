// Intent: a block doubles a slice of a tensor, tile by tile. Tensor copies bring the tiles,
// swizzled, into two buffers, and tensor reductions add them to the result, which has some
// rows more in front. The first and the last tile reach beyond the tensor, and the last one
// beyond the result. In the end the block looks at the result. The
// racy twins read a tile before it is there, refill a buffer that is still being read, or
// look at the result when the reductions have only read.
// FIXED: fixed
// RACY: read-too-early -DREAD_EARLY
// RACY: refilled-too-early -DNO_WAIT
// RACY: looked-too-early -DONLY_READS
// UNSEEN-GPU: collider: a copy is seldom under way while a check looks at a tile
// UNSEEN: collider (looked-too-early): the collider does not look at what tensor copies access in global memory
// ARCH: sm_90
#include "tensor.h"

constexpr unsigned Width = 32, Rows = 8, Halo = 4, Threads = Rows * Width, Slices = 2;
CONSTANT Scaled<16, 4> Tiles;

__global__ void twice(const __grid_constant__ CUtensorMap In,
                      const __grid_constant__ CUtensorMap Out, const int *Result, int *Sums) {
  __shared__ alignas(1024) int Buffers[2][Threads];
  __shared__ uint64_t Full[2];
  const unsigned T = threadIdx.x, Row = T / Width, Column = T % Width, B = blockIdx.x;
  // Chunks of 16 bytes are swizzled.
  const unsigned Place = Row * Width + (Column / 4 ^ Row) * 4 + Column % 4;
  if (T < 2)
    initBarrier(&Full[T], 1);
  __syncthreads();
  auto Begin = [&](unsigned Tile) {
    if (T != 0 || Tile > Tiles)
      return;
    fenceForCopies();
    expect(&Full[Tile % 2], sizeof Buffers[0]);
    TENSOR_LOAD_SLICE(Buffers[Tile % 2], &In, int(Tile * Rows - Halo), B, // RACE: read-too-early refilled-too-early
                      &Full[Tile % 2]);
  };
  Begin(0);
  for (unsigned Tile = 0; Tile <= Tiles; ++Tile) {
#ifndef NO_WAIT
    if (T == 0)
      awaitBulkReads();
#endif
    Begin(Tile + 1);
    int *Buffer = Buffers[Tile % 2];
#ifndef READ_EARLY
    wait(&Full[Tile % 2], Tile / 2 % 2);
#endif
    const int Value = Buffer[Place]; // RACE: read-too-early refilled-too-early
#ifdef READ_EARLY
    wait(&Full[Tile % 2], Tile / 2 % 2);
#endif
    Buffer[Place] = 2 * Value; // RACE: refilled-too-early
    fenceForCopies();
    __syncthreads();
    if (T == 0) {
      // Where a copy out of shared memory begins, no coordinate may be negative.
      TENSOR_ADD_SLICE(&Out, Tile * Rows, B, Buffer); // RACE: refilled-too-early looked-too-early
      commitBulk();
    }
  }
  if (T == 0) {
#ifdef ONLY_READS
    awaitBulkReads();
#else
    awaitBulk();
#endif
  }
  __syncthreads();
  int Sum = 0;
  const unsigned Cells = Tiles * Threads, InFront = Halo * Width;
  for (unsigned I = T; I < Cells; I += Threads)
    Sum += Result[B * (InFront + Cells) + InFront + I]; // RACE: looked-too-early
  Sums[B * Threads + T] = Sum;
}

int main() {
  const unsigned Height = Tiles * Rows, Cells = Height * Width;
  std::vector<int> In, Want(Slices * Threads);
  for (unsigned I = 0; I < Slices * Cells; ++I)
    In.push_back(int(I) + 1);
  for (unsigned I = 0; I < Slices * Cells; ++I)
    Want[I / Cells * Threads + I % Cells % Threads] += 2 * In[I];
  int *Out = zeroed<int>(Slices * (Height + Halo) * Width);
  int *Sums = zeroed<int>(Slices * Threads);
  const auto MapOf = [&](int *Tensor, unsigned Height) {
    return mapOf<3>(Tensor, {Width, Height, Slices}, {Width, Rows, 1},
                    CU_TENSOR_MAP_SWIZZLE_128B);
  };
  twice<<<Slices, Threads>>>(MapOf(upload(In), Height), MapOf(Out, Height + Halo), Out,
                             Sums);
  return finish(matches(Sums, Slices * Threads, [&](size_t I) { return Want[I]; }));
}

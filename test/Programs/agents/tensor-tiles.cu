// Intent: tensor copies (cp.async.bulk.tensor, TMA) take tiles of a matrix apart from its
// rows, a block turns each tile over, and other tensor copies put it back elsewhere. The
// racy twins read a tile before it is there, or refill it while it is still being stored.
// FIXED: fixed
// RACY: read-too-early -DREAD_EARLY
// RACY: refilled-too-early -DNO_WAIT
// UNSEEN-GPU: collider (read-too-early): the copy is seldom under way while a check looks at a tile
// ARCH: sm_90
#include "tensor.h"

constexpr unsigned Edge = 16, Threads = Edge * Edge;
CONSTANT Scaled<16, 3> Tiles;

/// A block turns a row of tiles over and makes a column of tiles of it.
__global__ void transpose(const __grid_constant__ CUtensorMap In,
                          const __grid_constant__ CUtensorMap Out) {
  __shared__ alignas(128) int Before[2][Edge][Edge], After[Edge][Edge];
  __shared__ uint64_t Full[2];
  const unsigned T = threadIdx.x, X = T % Edge, Y = T / Edge, B = blockIdx.x;
  if (T < 2)
    initBarrier(&Full[T], 1);
  __syncthreads();
  auto Begin = [&](unsigned Tile) {
    if (T != 0 || Tile == Tiles)
      return;
    fenceForCopies();
    expect(&Full[Tile % 2], sizeof Before[0]);
    TENSOR_LOAD(Before[Tile % 2], &In, Tile * Edge, B * Edge, // RACE: read-too-early
                &Full[Tile % 2]);
  };
  Begin(0);
  for (unsigned Tile = 0; Tile < Tiles; ++Tile) {
    Begin(Tile + 1);
#ifndef READ_EARLY
    wait(&Full[Tile % 2], Tile / 2 % 2);
#endif
    const int Cell = Before[Tile % 2][X][Y]; // RACE: read-too-early
#ifdef READ_EARLY
    wait(&Full[Tile % 2], Tile / 2 % 2);
#endif
#ifndef NO_WAIT
    if (T == 0)
      awaitBulkReads();
#endif
    __syncthreads();
    After[Y][X] = Cell; // RACE: refilled-too-early
    fenceForCopies();
    __syncthreads();
    if (T == 0) {
      TENSOR_STORE(&Out, B * Edge, Tile * Edge, After); // RACE: refilled-too-early
      commitBulk();
    }
  }
  if (T == 0)
    awaitBulkReads();
}

int main() {
  const unsigned Size = Tiles * Edge;
  std::vector<int> In;
  for (unsigned I = 0; I < Size * Size; ++I)
    In.push_back(int(I) + 1);
  int *Out = zeroed<int>(Size * Size);
  const auto MapOf = [&](int *Matrix) {
    return mapOf<2>(Matrix, {Size, Size}, {Edge, Edge});
  };
  transpose<<<Tiles, Threads>>>(MapOf(upload(In)), MapOf(Out));
  return finish(matches(Out, Size * Size,
                        [&](size_t I) { return In[I % Size * Size + I / Size]; }));
}

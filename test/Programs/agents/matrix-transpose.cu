// Intent: warps transpose a matrix of halves by 16 x 16 tiles: ldmatrix takes a tile from
// shared memory, stmatrix.trans puts it elsewhere in shared memory, other warps store it.
// The racy twins lack the barrier in front of the one or behind the other.
// FIXED: fixed
// RACY: loaded-too-early -DNO_BARRIER_BEFORE
// RACY: read-too-early -DNO_BARRIER_BEHIND
// ARCH: sm_90
#include "asynchronous.h"

constexpr unsigned Edge = 16, Warps = 4, Threads = 32 * Warps, Cells = Edge * Edge;
CONSTANT Scaled<128, 32> Size;

struct Tile {
  alignas(16) unsigned short Cells[Edge][Edge];
};

/// Four matrices of 8 x 8: a lane gives the address of a row of one of them.
#define LOAD_MATRICES(X, Row)                                                  \
  asm volatile("ldmatrix.sync.aligned.m8n8.x4.shared.b16 {%0,%1,%2,%3}, [%4];" \
               : "=r"(X[0]), "=r"(X[1]), "=r"(X[2]), "=r"(X[3])                \
               : "r"(shared(Row))                                              \
               : "memory")
#define STORE_TRANSPOSED(Row, X)                                               \
  asm volatile("stmatrix.sync.aligned.m8n8.x4.trans.shared.b16 "               \
               "[%0], {%1,%2,%3,%4};" ::"r"(shared(Row)),                      \
               "r"(X[0]), "r"(X[1]), "r"(X[2]), "r"(X[3])                      \
               : "memory")

/// A block has a row of tiles, and works on as many tiles at a time as it has warps. The
/// tile that a warp transposes was brought by another warp, and is stored by a third.
__global__ void transpose(const unsigned short *In, unsigned short *Out) {
  __shared__ Tile Before[Warps], After[Warps];
  const unsigned T = threadIdx.x, Warp = T / 32, Lane = T % 32, N = Size;
  const unsigned Row = Lane % 8, Matrix = Lane / 8; // 0 1 / 2 3
  for (unsigned First = 0; First < N / Edge; First += Warps) {
    const unsigned Many = N / Edge - First < Warps ? N / Edge - First : Warps;
    for (unsigned I = T; I < Many * Cells; I += Threads) {
      const unsigned Which = I / Cells, Y = I % Cells / Edge, X = I % Edge;
      Before[(Which + 1) % Many].Cells[Y][X] = // RACE: loaded-too-early
          In[(blockIdx.x * Edge + Y) * N + (First + Which) * Edge + X];
    }
#ifndef NO_BARRIER_BEFORE
    __syncthreads();
#endif
    if (Warp < Many) {
      unsigned X[4];
      const unsigned Y = Matrix / 2 * 8 + Row, Left = Matrix % 2 * 8;
      LOAD_MATRICES(X, &Before[Warp].Cells[Y][Left]); // RACE: loaded-too-early
      // The upper right matrix becomes the lower left one.
      const unsigned ToY = Matrix % 2 * 8 + Row, ToLeft = Matrix / 2 * 8;
      STORE_TRANSPOSED(&After[Warp].Cells[ToY][ToLeft], X); // RACE: read-too-early
    }
#ifndef NO_BARRIER_BEHIND
    __syncthreads();
#endif
    for (unsigned I = T; I < Many * Cells; I += Threads) {
      const unsigned Which = I / Cells, Y = I % Cells / Edge, X = I % Edge;
      Out[((First + Which) * Edge + Y) * N + blockIdx.x * Edge + X] =
          After[(Which + 1) % Many].Cells[Y][X]; // RACE: read-too-early
    }
    __syncthreads();
  }
}

int main() {
  const unsigned N = Size;
  std::vector<unsigned short> In;
  for (unsigned I = 0; I < N * N; ++I)
    In.push_back(I * 40503 >> 3);
  unsigned short *Out = zeroed<unsigned short>(N * N);
  transpose<<<N / Edge, Threads>>>(upload(In), Out);
  return finish(matches(Out, N * N, [&](size_t I) { return In[I % N * N + I / N]; }));
}

// Intent: blocks compute generations of a cellular automaton; a cell at the border
// of a block is passed on with a fence and an atomic of device scope.
// FIXED: device
// RACY: block-fence -DFENCE=__threadfence_block
// RACY: block-flag -DEXCHANGE=atomicExch_block
// UNSEEN: collider: no value changes while a check looks at it
#include "../check.h"
#include "atomics.h"

#ifndef FENCE
#define FENCE __threadfence
#endif
#ifndef EXCHANGE
#define EXCHANGE atomicExch
#endif

constexpr unsigned Threads = 256;
CONSTANT Scaled<256, 4> Blocks;
CONSTANT Scaled<10240, 320> CellsABlock;
CONSTANT Scaled<150, 6> Generations;

__host__ __device__ unsigned rule110(unsigned Left, unsigned Here,
                                     unsigned Right) {
  return 110 >> (Left * 4 + Here * 2 + Right) & 1;
}

/// Cells beyond the ends are 0. Generation G is in Cells[G % 2]; Flags[2 * B] and
/// Flags[2 * B + 1] say which one the first and last cell of block B have reached.
__global__ void evolve(unsigned *Cells0, unsigned *Cells1, unsigned *Flags) {
  unsigned First = blockIdx.x * CellsABlock, Last = First + CellsABlock - 1;
  unsigned N = gridDim.x * CellsABlock;
  for (unsigned G = 0; G < Generations; ++G) {
    const unsigned *From = G % 2 ? Cells1 : Cells0;
    unsigned *To = G % 2 ? Cells0 : Cells1;
    for (unsigned I = First + threadIdx.x; I <= Last; I += Threads) {
      bool IsFirst = I == First && I > 0, IsLast = I == Last && I + 1 < N;
      unsigned Flag = 2 * blockIdx.x + IsLast;
      unsigned Neighbour = IsLast ? Flag + 1 : Flag - 1;
      if (IsFirst || IsLast) {
        while (atomicAdd(&Flags[Neighbour], 0) < G) // RACE: block-flag
          ;
        __threadfence();
      }
      To[I] = rule110(I > 0 ? From[I - 1] : 0, From[I], // RACE
                      I + 1 < N ? From[I + 1] : 0);     // RACE
      if (IsFirst || IsLast) {
        FENCE();
        EXCHANGE(&Flags[Flag], G + 1); // RACE: block-flag
      } else {
        __threadfence_block();
      }
    }
    __syncthreads();
  }
}

int main() {
  unsigned N = Blocks * CellsABlock;
  std::vector<unsigned> Cells(N), Next(N);
  for (unsigned I = 0; I < N; ++I)
    Cells[I] = I * 2654435761u >> 20 & 1;
  unsigned *Device[] = {upload(Cells), zeroed<unsigned>(N)};
  unsigned *Flags = zeroed<unsigned>(2 * Blocks);
  // All blocks must run at the same time, which this makes sure of.
  void *Arguments[] = {&Device[0], &Device[1], &Flags};
  CHECK(cudaLaunchCooperativeKernel((const void *)evolve, Blocks, Threads,
                                    Arguments, 0, 0));
  for (unsigned G = 0; G < Generations; ++G) {
    for (unsigned I = 0; I < N; ++I)
      Next[I] = rule110(I > 0 ? Cells[I - 1] : 0, Cells[I],
                        I + 1 < N ? Cells[I + 1] : 0);
    Cells.swap(Next);
  }
  return finish(matches(Device[Generations % 2], N,
                        [&](size_t I) { return Cells[I]; }));
}

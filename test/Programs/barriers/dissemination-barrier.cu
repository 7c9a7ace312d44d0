// Intent: a barrier without a centre: in round R each block tells the one 2^R further.
// The racy twin has a round too few, so that each knows of some blocks only.
#include "../check.h"
#include "../orders.h"

constexpr unsigned Blocks = 5, Epochs = 4;
#ifdef RACY
constexpr unsigned Rounds = 2;
#else
constexpr unsigned Rounds = 3;
#endif

/// Away from others, as is usual: metadata mode takes neighbours for one.
struct alignas(32) Flag {
  unsigned Epoch;
};

__device__ void wait(Flag (*Flags)[Blocks], unsigned Epoch) {
  for (unsigned R = 0; R < Rounds; ++R) {
    STORE(release, &Flags[R][(blockIdx.x + (1u << R)) % Blocks].Epoch, Epoch);
    while (LOAD(acquire, &Flags[R][blockIdx.x].Epoch) < Epoch)
      ;
  }
}

__global__ void gather(Flag (*Flags)[Blocks], unsigned *Cells, unsigned *Out) {
  unsigned Sum = 0;
  for (unsigned E = 1; E <= Epochs; ++E) {
    Cells[blockIdx.x] = E * (blockIdx.x + 1); // RACE
    wait(Flags, 2 * E - 1);
    for (unsigned I = 0; I < Blocks; ++I)
      Sum += Cells[I]; // RACE
    wait(Flags, 2 * E);
  }
  Out[blockIdx.x] = Sum;
}

int main() {
  auto *Flags = reinterpret_cast<Flag(*)[Blocks]>(zeroed<Flag>(3 * Blocks));
  unsigned *Cells = zeroed<unsigned>(Blocks), *Out = zeroed<unsigned>(Blocks);
  gather<<<Blocks, 1>>>(Flags, Cells, Out);
  return finish(matches(Out, Blocks, [](size_t) {
    return Epochs * (Epochs + 1) / 2 * (Blocks * (Blocks + 1) / 2);
  }));
}

// Intent: the host and a kernel that goes on running take turns with managed memory: a
// flag of each says whose turn it is, with release and acquire of system scope. The racy
// twins' kernel passes the turn before all its threads have written, or lets its other
// threads read before the turn has come.
// BUILD: -fsanitize-cuda-race-host
// FIXED: fixed
// RACY: told-too-early -DTOLD_EARLY
// RACY: read-too-early -DREAD_EARLY
// UNSEEN: metadata: the kernel's accesses are not judged against the host's
// UNSEEN: collider: the host seldom stores while a check looks at the cell
#include "agents.h"

#include <atomic>

constexpr unsigned Threads = 64;
CONSTANT Scaled<100, 10> Rounds;

struct Table {
  unsigned Cells[Threads];
  unsigned DeviceTurn, HostTurn; ///< The last round in which it was their turn.
};

__device__ unsigned turnOf(const unsigned *Turn) {
  unsigned Seen;
  asm volatile("ld.acquire.sys.global.u32 %0, [%1];" : "=r"(Seen) : "l"(Turn) : "memory");
  return Seen;
}

__device__ void pass(unsigned *Turn, unsigned Round) {
  asm volatile("st.release.sys.global.u32 [%0], %1;" ::"l"(Turn), "r"(Round) : "memory");
}

/// Mixes the cells in each round.
__global__ void play(Table *Shared, unsigned Rounds) {
  const unsigned T = threadIdx.x;
  for (unsigned R = 1; R <= Rounds; ++R) {
    if (T == 0)
      while (turnOf(&Shared->DeviceTurn) != R)
        ;
#ifndef READ_EARLY
    __syncthreads();
#endif
    const unsigned Cell = Shared->Cells[Threads - 1 - T]; // RACE
    __syncthreads();
#ifdef TOLD_EARLY
    if (T == 0)
      pass(&Shared->HostTurn, R);
#endif
    Shared->Cells[T] = 3 * Cell + T; // RACE
#ifndef TOLD_EARLY
    __syncthreads();
    if (T == 0)
      pass(&Shared->HostTurn, R);
#endif
  }
}

int main() {
  if (const char *Why = lacksConcurrentAccess())
    return skip(Why);
  Table *Shared = shared<Table>(1);
  cudaStream_t Player = makeStream();
  play<<<1, Threads, 0, Player>>>(Shared, 0); // Loads the kernel.
  CHECK(cudaDeviceSynchronize());
  play<<<1, Threads, 0, Player>>>(Shared, Rounds);
  std::vector<unsigned> Want(Threads);
  bool Right = true;
  for (unsigned R = 1; R <= Rounds; ++R) {
    for (unsigned T = 0; T < Threads; ++T) {
      Right &= Shared->Cells[T] == Want[T]; // RACE: told-too-early
      Shared->Cells[T] = Want[T] = Want[T] + R; // RACE
    }
    __atomic_store_n(&Shared->DeviceTurn, R, __ATOMIC_RELEASE);
    while (__atomic_load_n(&Shared->HostTurn, __ATOMIC_ACQUIRE) != R)
      isRunning(Player);
    const std::vector<unsigned> Before = Want;
    for (unsigned T = 0; T < Threads; ++T)
      Want[T] = 3 * Before[Threads - 1 - T] + T;
  }
  CHECK(cudaStreamSynchronize(Player));
  for (unsigned T = 0; T < Threads; ++T)
    Right &= Shared->Cells[T] == Want[T];
  return finish(Right);
}

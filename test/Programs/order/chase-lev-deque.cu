// Intent: a Chase-Lev deque: its owner pushes and pops at the bottom, thieves take
// from the top. The tasks are plain memory, and a store to the bottom hands them over.
// UNSEEN: collider: no value changes while a check looks at it
#include "../check.h"
#include "../orders.h"

constexpr unsigned N = 40, Thieves = 3;

struct Deque {
  unsigned Top, Bottom, Done, Sum;
  unsigned Slots[N + 1];
  uint2 Tasks[N];
};

__device__ void push(Deque *D, unsigned Task) {
  unsigned Bottom = LOAD(relaxed, &D->Bottom);
  STORE(relaxed, &D->Slots[Bottom], Task);
  STORE(RELEASE_UNLESS_RACY, &D->Bottom, Bottom + 1);
}

__device__ bool pop(Deque *D, unsigned &Task) {
  unsigned Bottom = LOAD(relaxed, &D->Bottom) - 1;
  STORE(RELEASE_UNLESS_RACY, &D->Bottom, Bottom);
  FENCE(sc);
  unsigned Top = LOAD(relaxed, &D->Top);
  bool Won = Top <= Bottom;
  if (Top < Bottom) {
    Task = LOAD(relaxed, &D->Slots[Bottom]);
    return true;
  }
  if (Won) {
    Task = LOAD(relaxed, &D->Slots[Bottom]);
    Won = SWAP(relaxed, &D->Top, Top, Top + 1) == Top;
  }
  STORE(RELEASE_UNLESS_RACY, &D->Bottom, Bottom + 1);
  return Won;
}

__device__ bool steal(Deque *D, unsigned &Task) {
  unsigned Top = LOAD(acquire, &D->Top);
  FENCE(sc);
  unsigned Bottom = LOAD(acquire, &D->Bottom);
  if (Top >= Bottom)
    return false;
  Task = LOAD(relaxed, &D->Slots[Top]);
  return SWAP(relaxed, &D->Top, Top, Top + 1) == Top;
}

__device__ void complete(Deque *D, unsigned Task) {
  uint2 T = D->Tasks[Task]; // RACE
  atomicAdd(&D->Sum, T.x + T.y);
  atomicAdd(&D->Done, 1);
}

__global__ void run(Deque *D) {
  unsigned Task;
  if (blockIdx.x == 0) {
    for (unsigned I = 0; I < N; ++I) {
      D->Tasks[I] = make_uint2(I, 2 * I); // RACE
      push(D, I);
      // The last ones are left to the thieves.
      if (I < N / 2 && I % 3 == 2 && pop(D, Task))
        complete(D, Task);
    }
    return;
  }
  while (LOAD(relaxed, &D->Done) < N)
    if (steal(D, Task))
      complete(D, Task);
}

int main() {
  Deque *D = zeroed<Deque>(1);
  // A bottom of zero cannot be lowered.
  const unsigned Bounds[2] = {1, 1};
  CHECK(cudaMemcpy(D, Bounds, sizeof(Bounds), cudaMemcpyHostToDevice));
  run<<<1 + Thieves, 1>>>(D);
  return finish(matches(&D->Sum, 1, [](size_t) { return 3 * N * (N - 1) / 2; }));
}

// Intent: the lanes of a warp are compared where their stores are evenly spaced, forwards, backwards or at one place, of all lanes or of some, and where
// they are not. Each racy kernel is found, and lanes that meet only their own places are not accused.
// REQUIRES: sim
// RUN: %sim_clangxx -fsanitize=cuda-race -O2 -DRACY %s -o %t.racy
// RUN: env CRSAN_OPTIONS=watchpoints=0:delay_ns=0 not %crsan run --device=sim %t.racy 2>&1 | FileCheck %s --check-prefix=RACY
// RACY-DAG: #0 forwards at
// RACY-DAG: #0 backwards at
// RACY-DAG: #0 oddLanes at
// RACY-DAG: #0 onePlace at
// RACY-DAG: #0 wide at
// RACY-DAG: #0 bytes at
// RACY-DAG: #0 scattered at
// RACY-DAG: #0 unlike at
// RUN: %sim_clangxx -fsanitize=cuda-race -O2 %s -o %t.fixed
// RUN: env CRSAN_OPTIONS=verbosity=1 %crsan run --device=sim %t.fixed 2>&1 | FileCheck %s
// CHECK: CRSan: checked 8 kernel launches
// CHECK: no data races found
#include <cstdint>

#ifdef RACY
#define RACE(Racy, Fixed) Racy
#else
#define RACE(Racy, Fixed) Fixed
#endif

// Each lane stores an element and loads another one; no barrier is between the two.
__global__ void forwards(int *Data) {
  const int I = threadIdx.x;
  Data[2 * I] = Data[RACE(2 * I + 2, 2 * I + 1)];
}
__global__ void backwards(int *Data) {
  const int I = 31 - threadIdx.x;
  Data[I] = Data[RACE(I + 1, I)];
}
__global__ void oddLanes(int *Data) {
  const int I = threadIdx.x;
  if (I % 2)
    Data[I] = Data[RACE(I ^ 2, I - 1)];
}
__global__ void onePlace(int *Data) {
  if (threadIdx.x == 3 || RACE(true, false))
    Data[5] = Data[threadIdx.x + 3] + threadIdx.x; // Lane 2 loads it, too.
}
__global__ void wide(int *Data) {
  const int I = threadIdx.x;
  reinterpret_cast<longlong2 *>(Data)[I] = {I, Data[RACE(4 * I + 7, 4 * I + 3)]};
}
__global__ void bytes(int *Data) {
  auto *Bytes = reinterpret_cast<uint8_t *>(Data);
  const int I = threadIdx.x;
  Bytes[4 * I + 1] = Data[RACE(31 - I, 32 + I)];
}
__global__ void scattered(int *Data) {
  const int I = threadIdx.x;
  Data[5 * I % 32] = Data[RACE(5 * (I + 1) % 32, 40 + I)];
}
__global__ void unlike(int *Data) {
  const int I = threadIdx.x;
  Data[I < 16 ? I : 2 * I] = Data[RACE(I ^ 1, 64 + I)];
}

int main() {
  int *Data;
  cudaMalloc(&Data, 4096);
  forwards<<<1, 32>>>(Data);
  backwards<<<1, 32>>>(Data);
  oddLanes<<<1, 32>>>(Data);
  onePlace<<<1, 32>>>(Data);
  wide<<<1, 32>>>(Data);
  bytes<<<1, 32>>>(Data);
  scattered<<<1, 32>>>(Data);
  unlike<<<1, 32>>>(Data);
  cudaDeviceSynchronize();
}

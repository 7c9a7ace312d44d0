// Intent: a kernel that may wait for other blocks has a native twin, in which
// nothing is checked; a kernel that updates atomically and waits for nobody has none.
// REQUIRES: plugin
// RUN: %crsan_clangxx -fsanitize=cuda-race -O2 --cuda-gpu-arch=sm_80 --cuda-device-only -S %s -o - | FileCheck %s

// CHECK: .entry _Z5waitsPi
// CHECK: .entry _Z7updatesPi
// CHECK: .entry __crsan_twin__Z5waitsPi
// CHECK-NOT: call{{.*}}__crsan_check
// CHECK-NOT: .entry __crsan_twin__Z7updatesPi

__device__ volatile int Flag;

__device__ __noinline__ void waitFor(int Least) {
  while (Flag < Least)
    ;
  __threadfence();
}

__global__ void waits(int *Cells) {
  Cells[blockIdx.x] = 1;
  for (int Round = 0; Round < 3; ++Round)
    waitFor(Round);
  Cells[blockIdx.x] += Cells[blockIdx.x ^ 1];
}

__global__ void updates(int *Cells) {
  for (int I = 0; I < 3; ++I)
    Cells[atomicAdd(Cells, 1)] = I;
}

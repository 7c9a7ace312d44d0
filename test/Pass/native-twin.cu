// Intent: in the collider a kernel has a native twin, in which nothing is checked and no block index is permuted, unless a function
// that it calls may be called by others, or it is compiled without optimisation. crsan-ptxas is told which twins to ask for their
// registers: those of kernels that may wait for other blocks. In metadata mode there are no twins but those that are asked.
// REQUIRES: plugin
// RUN: %crsan_clangxx -fsanitize=cuda-race -O2 --cuda-gpu-arch=sm_80 --cuda-device-only -S %s -o %t.ptx
// RUN: FileCheck %s < %t.ptx
// RUN: FileCheck %s --check-prefix=ABSENT < %t.ptx
// RUN: %crsan_clangxx -fsanitize=cuda-race -fsanitize-cuda-race-mode=metadata -O2 --cuda-gpu-arch=sm_80 --cuda-device-only -S %s -o - | FileCheck %s --check-prefix=METADATA
// RUN: %crsan_clangxx -fsanitize=cuda-race -O0 --cuda-gpu-arch=sm_80 --cuda-device-only -S %s -o - | FileCheck %s --check-prefix=UNOPTIMISED

// CHECK-DAG: // crsan twin asked: _Z5waitsPi{{$}}
// CHECK-DAG: // crsan twin asked: _Z7pointedPi{{$}}
// CHECK: .entry _Z5waitsPi
// CHECK: .entry _Z7updatesPi
// CHECK: .entry __crsan_twin__Z5waitsPi
// CHECK-NOT: call{{.*}}__crsan_check
// CHECK: .func __crsan_twin__Z7waitFori
// CHECK: .entry __crsan_twin__Z7updatesPi
// CHECK-NOT: __crsan_config
// CHECK: ret;
// CHECK: .entry __crsan_spare_twin__Z7pointedPi

// ABSENT-NOT: crsan twin asked: _Z7updatesPi
// ABSENT-NOT: .entry __crsan_twin__Z7pointedPi

// METADATA: // crsan twin asked: _Z5waitsPi{{$}}
// METADATA: .entry _Z5waitsPi
// METADATA-NOT: .entry __crsan_twin_
// METADATA: .entry __crsan_spare_twin__Z5waitsPi
// METADATA-NOT: .entry __crsan_spare_twin__Z7updatesPi

// UNOPTIMISED-NOT: .entry __crsan_twin_

__device__ volatile int Flag;

__device__ __noinline__ void waitFor(int Least) {
  while (Flag < Least)
    ;
  __threadfence();
}

__device__ void (*Pointer)(int);

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

__global__ void pointed(int *Cells) {
  Pointer = waitFor;
  while (Flag < 4)
    ;
  Cells[blockIdx.x] = 2;
}

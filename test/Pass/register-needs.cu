// Intent: crsan-ptxas is told of kernels that seem to need few registers without checks, and of kernels that seem to need
// more than others may use; the native twins of the latter are asked. Of few registers it is told in the collider alone.
// REQUIRES: plugin
// RUN: %crsan_clangxx -fsanitize=cuda-race -O2 --cuda-gpu-arch=sm_80 --cuda-device-only -S %s -o - | FileCheck %s --check-prefixes=CHECK,FEW
// RUN: %crsan_clangxx -fsanitize=cuda-race -fsanitize-cuda-race-mode=metadata -O2 --cuda-gpu-arch=sm_80 --cuda-device-only -S %s -o - | FileCheck %s --implicit-check-not='crsan few'
// RUN: %crsan_clangxx -fsanitize=cuda-race -O2 --cuda-gpu-arch=sm_80 --cuda-device-only -fgpu-rdc -S %s -o - | FileCheck %s --implicit-check-not='crsan few'

// FEW: // crsan few registers: _Z5smallPi{{$}}
// CHECK-NOT: // crsan {{few|many}} registers: _Z7boundedPf
// CHECK: // crsan many registers: _Z5largePf{{$}}
// CHECK-NOT: // crsan twin asked: {{_Z5smallPi|_Z7boundedPf}}
// CHECK: // crsan twin asked: _Z5largePf{{$}}
// CHECK: .entry __crsan_{{(spare_)?}}twin__Z5largePf

__global__ void small(int *P) { P[threadIdx.x] = P[threadIdx.x ^ 1]; }

static __device__ void shuffle(float *P) {
  float Values[80];
#pragma unroll
  for (int I = 0; I < 80; ++I)
    Values[I] = P[I * 64 + threadIdx.x];
  __syncthreads();
#pragma unroll
  for (int I = 0; I < 80; ++I)
    P[I * 64 + threadIdx.x] = Values[79 - I];
}

__global__ void __launch_bounds__(128) bounded(float *P) { shuffle(P); }
__global__ void large(float *P) { shuffle(P); }

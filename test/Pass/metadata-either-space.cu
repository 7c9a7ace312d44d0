// Intent: where one store may go to shared or to global memory, by lane, its check asks at
// run time, and nothing concludes from the check's own conversions that it need not.
// REQUIRES: plugin
// RUN: %crsan_clangxx -fsanitize=cuda-race -fsanitize-cuda-race-mode=metadata -O2 \
// RUN:   --cuda-device-only --cuda-gpu-arch=sm_80 -S %s -o - | FileCheck %s

// CHECK-LABEL: .entry _Z6eitherPjj(
// CHECK: st.b32
// CHECK: isspacep.shared
// CHECK: exch.b64
__global__ void either(unsigned *Far, unsigned N) {
  __shared__ unsigned Near[128];
  const unsigned T = threadIdx.x;
  unsigned *To = T % 2 ? Far : Near;
#pragma unroll 1
  for (unsigned I = 0; I < N; ++I) {
    To[I % 2 * 64 + T] = I;
    __syncthreads();
    Far[T + 128] += Near[(T + I) % 128];
    __syncthreads();
  }
}

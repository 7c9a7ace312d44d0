// Intent: sums of products by a tree whose barriers are cooperative groups', in loops
// of which the number of iterations depends on the lane; the racy variant lacks one.
// ALSO-GPU: -O1
// ALSO-GPU: -O3
#include "../check.h"
#include <cooperative_groups.h>

namespace cg = cooperative_groups;

constexpr unsigned Threads = 256, Slots = 1024, Blocks = 128;
CONSTANT Scaled<256, 3> Vectors;
CONSTANT Scaled<4096, 1024> Length;
CONSTANT Scaled<5, 1> Launches;

__global__ void sums(float *Out, const float *A, const float *B) {
  cg::thread_block Block = cg::this_thread_block();
  __shared__ float Part[Slots];
  for (unsigned V = blockIdx.x; V < Vectors; V += gridDim.x) {
    const unsigned Begin = Length * V, End = Begin + Length;
    for (unsigned I = threadIdx.x; I < Slots; I += blockDim.x) {
      float Sum = 0;
      for (unsigned P = Begin + I; P < End; P += Slots)
        Sum += A[P] * B[P];
      Part[I] = Sum; // RACE
    }
    for (unsigned Stride = Slots / 2; Stride > 0; Stride >>= 1) {
#ifndef RACY
      cg::sync(Block);
#endif
      for (unsigned I = threadIdx.x; I < Stride; I += blockDim.x)
        Part[I] += Part[Stride + I]; // RACE
    }
    cg::sync(Block);
    if (threadIdx.x == 0)
      Out[V] = Part[0];
    // The next vector's thread 0 does not wait for this one's, but it is the same.
  }
}

int main() {
  const unsigned N = Vectors * Length;
  std::vector<float> A(N), B(N), Want(Vectors);
  for (unsigned I = 0; I < N; ++I) {
    A[I] = I % 7;
    B[I] = I % 5;
    Want[I / Length] += A[I] * B[I];
  }
  float *DeviceA = upload(A), *DeviceB = upload(B);
  bool Right = true;
  for (unsigned L = 0; L < Launches; ++L) {
    float *Out = zeroed<float>(Vectors);
    sums<<<Blocks, Threads>>>(Out, DeviceA, DeviceB);
    Right &= matches(Out, Vectors, [&](size_t V) { return Want[V]; });
  }
  return finish(Right);
}

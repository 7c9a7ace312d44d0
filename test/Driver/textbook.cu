// Intent: what a CUDA course begins with compiles and links at every level.

// REQUIRES: plugin, host-runtime
// RUN: %crsan_clangxx -fsanitize=cuda-race -Wall -Werror -O0 %s -o %t
// RUN: %crsan_clangxx -fsanitize=cuda-race -Wall -Werror -O1 --offload-arch=sm_80 %s -o %t
// RUN: %crsan_clangxx -fsanitize=cuda-race -Wall -Werror -O2 --offload-arch=sm_75 --offload-arch=sm_90 %s -o %t
// RUN: %crsan_clangxx -fsanitize=cuda-race -Wall -Werror -O3 --offload-arch=sm_100 %s -o %t

#include <cassert>
#include <cmath>
#include <cstdio>
#include <vector>

__constant__ float Weights[8];
__device__ unsigned Done;

__global__ void vectorAdd(const float *A, const float *B, float *C, int N) {
  int I = blockIdx.x * blockDim.x + threadIdx.x;
  if (I < N)
    C[I] = A[I] + B[I] * Weights[I & 7];
}

template <int BlockSize> __global__ void reduce(const float *In, float *Out) {
  __shared__ float Sums[BlockSize];
  int T = threadIdx.x;
  Sums[T] = In[blockIdx.x * BlockSize + T];
  __syncthreads();
  for (int S = BlockSize / 2; S > 0; S >>= 1) {
    if (T < S)
      Sums[T] += Sums[T + S];
    __syncthreads();
  }
  float V = Sums[0];
  for (int D = 16; D; D >>= 1)
    V = fmaxf(V, __shfl_xor_sync(~0u, V, D));
  if (T == 0) {
    Out[blockIdx.x] = V;
    __threadfence();
    atomicInc(&Done, gridDim.x - 1);
  }
  assert(V >= 0);
}

__global__ void transpose(float *Out, const float *In, int N) {
  extern __shared__ float Tile[];
  Tile[threadIdx.y * 33 + threadIdx.x] =
      In[(blockIdx.y * 32 + threadIdx.y) * N + blockIdx.x * 32 + threadIdx.x];
  __syncthreads();
  Out[(blockIdx.x * 32 + threadIdx.y) * N + blockIdx.y * 32 + threadIdx.x] =
      Tile[threadIdx.x * 33 + threadIdx.y];
  if (threadIdx.x == 0 && threadIdx.y == 0)
    printf("block %d,%d\n", blockIdx.x, blockIdx.y);
}

int main() {
  const int N = 1 << 10;
  std::vector<float> Host(N, 1.0f);
  float *A, *B;
  cudaMalloc(&A, N * sizeof(float));
  cudaMallocManaged(&B, N * sizeof(float));
  cudaMemcpy(A, Host.data(), N * sizeof(float), cudaMemcpyHostToDevice);
  float W[8] = {1, 2, 3, 4, 5, 6, 7, 8};
  cudaMemcpyToSymbol(Weights, W, sizeof(W));
  int Block = min(256, N);
  vectorAdd<<<(N + Block - 1) / Block, Block>>>(A, A, B, N);
  reduce<256><<<N / 256, 256>>>(B, A);
  auto Twice = [=] __device__(float X) { return 2 * X; };
  (void)Twice;
  transpose<<<dim3(1, 1), dim3(32, 32), 32 * 33 * sizeof(float)>>>(A, B, 32);
  cudaError_t Error = cudaDeviceSynchronize();
  printf("%s\n", cudaGetErrorString(Error));
}

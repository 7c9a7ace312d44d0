// Intent: bugs that are planted, each with one finding, whose advice makes the program right.
// The script builds the program with each bug, applies literally what the report says, and builds
// and runs the program again.

// REQUIRES: plugin, host-runtime, sim
// RUN: rm -rf %t && mkdir -p %t
// RUN: %python %S/Inputs/apply.py --crsan %crsan --source %s --folder %t -- %sim_clangxx -fsanitize=cuda-race -fsanitize-cuda-race-mode=metadata -O1 --offload-arch=sm_90

#include <cstdio>
#include <cstring>

constexpr unsigned Threads = 128, Blocks = 4;

__device__ unsigned Counts[64];
__device__ float Total;
__device__ int Balance;
struct State {
  unsigned Done, Mask;
};

// BUG 1 global
__global__ void histogram(unsigned *Out, const unsigned *In) {
  unsigned Bin = In[blockIdx.x * Threads + threadIdx.x] % 64;
  Counts[Bin] += 1; // RACE Counts
}
// BUG 2 global
__global__ void sum(unsigned *Out, const unsigned *In) {
  if (In[threadIdx.x] % 2)
    Total += 0.5f * In[threadIdx.x]; // RACE Total
}
// BUG 3 global
__global__ void count(unsigned *Out, const unsigned *In) {
  ++*Out; // RACE cudaMalloc
}
// BUG 4 global
__global__ void countLater(unsigned *Out, const unsigned *In) {
  State *S = (State *)Out;
  S->Done++; // RACE cudaMalloc
}
// BUG 5 global
__global__ void flags(unsigned *Out, const unsigned *In) {
  State *S = (State *)Out;
  S->Mask |= 1u << threadIdx.x % 32; // RACE cudaMalloc
}
// BUG 6 global
__global__ void spend(unsigned *Out, const unsigned *In) {
  Balance -= In[threadIdx.x] % 3; // RACE Balance
}
// BUG 7 shared
__global__ void parity(unsigned *Out, const unsigned *In) {
  __shared__ unsigned Bits[2];
  if (threadIdx.x < 2)
    Bits[threadIdx.x] = 0;
  __syncthreads();
  Bits[threadIdx.x % 2] ^= In[threadIdx.x]; // RACE Bits
}
// BUG 8 scope
__global__ void tickets(unsigned *Out, const unsigned *In) {
  atomicAdd_block(&Out[0], 1u); // RACE cudaMalloc
}
// BUG 9 scope
__global__ void largest(unsigned *Out, const unsigned *In) {
  if (threadIdx.x == 0)
    atomicMax_block(&Out[1], In[blockIdx.x]); // RACE cudaMalloc
}
// BUG 10 block
__global__ void reverse(unsigned *Out, const unsigned *In) {
  __shared__ unsigned Part[Threads];
  Part[threadIdx.x] = In[threadIdx.x]; // RACE Part
  unsigned Other = Threads - 1 - threadIdx.x;

  Out[blockIdx.x * Threads + threadIdx.x] = Part[Other]; // RACE
}
// BUG 11 block
__global__ void windows(unsigned *Out, const unsigned *In) {
  __shared__ unsigned Part[Threads];
  if (In) {
    Part[threadIdx.x] = In[threadIdx.x]; // RACE Part
  }
  unsigned Sum = 0;
  for (unsigned I = 32; I < 64; I += 8)
    Sum += Part[(threadIdx.x + I) % Threads]; // RACE
  Out[blockIdx.x * Threads + threadIdx.x] = Sum;
}
// BUG 12 warp
__global__ void neighbours(unsigned *Out, const unsigned *In) {
  __shared__ unsigned Part[Threads];
  Part[threadIdx.x] = In[threadIdx.x]; // RACE Part
  Out[blockIdx.x * Threads + threadIdx.x] = Part[threadIdx.x ^ 1]; // RACE
}
// BUG 13 proxy
__global__ void publish(unsigned *Out, const unsigned *In) {
  __shared__ alignas(128) unsigned Part[Threads];
  Part[threadIdx.x] = In[threadIdx.x]; // RACE Part
  __syncthreads();
  unsigned From = unsigned(__cvta_generic_to_shared(Part));
  if (threadIdx.x == 0) {
    asm volatile("cp.async.bulk.global.shared::cta.bulk_group [%0], [%1], 512;" // RACE
                 ::"l"(Out + blockIdx.x * Threads), "r"(From) : "memory");
    asm volatile("cp.async.bulk.commit_group;" ::: "memory");
    asm volatile("cp.async.bulk.wait_group 0;" ::: "memory");
  }
}

int main() {
  static unsigned Host[Blocks * Threads];
  for (unsigned I = 0; I < Blocks * Threads; ++I)
    Host[I] = I * 2654435761u >> 20;
  unsigned *In, *Out;
  cudaMalloc(&In, sizeof(Host));
  cudaMalloc(&Out, sizeof(Host));
  cudaMemcpy(In, Host, sizeof(Host), cudaMemcpyHostToDevice);
  cudaMemset(Out, 0, sizeof(Host));
  KERNEL<<<Blocks, Threads>>>(Out, In);
  return cudaDeviceSynchronize() != cudaSuccess;
}

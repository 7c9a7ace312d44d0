// Intent: where nothing orders the blocks of a kernel, an access is reported that conflicts with one that another block made long before, and where only __syncthreads() orders the warps, with one of another warp since the last one. Blocks that a fence and an atomic order, accesses of one warp, those with a barrier between them, those of different launches, and those of launches of one graph, whose grids have one number, are not.
// REQUIRES: sim
// RUN: %sim_clangxx -fsanitize=cuda-race -O2 %s -o %t
// DEFINE: %{run} = %crsan run --device=sim --seeds 1-3 %t
// RUN: not %{run} blocks 2>&1 | FileCheck %s --check-prefix=BLOCKS
// RUN: not %{run} warps 2>&1 | FileCheck %s --check-prefix=WARPS
// In a loop, few executions are checked; with look_overhead, the others look and leave watchpoints as well.
// DEFINE: %{few} = overhead=1:budget=1:max_interval=1
// RUN: env CRSAN_OPTIONS=%{few}:look_overhead=0 %{run} loop 2>&1 | FileCheck %s --check-prefix=CLEAN
// RUN: env CRSAN_OPTIONS=%{few}:look_overhead=100000 not %{run} loop 2>&1 | FileCheck %s --check-prefix=LOOP
// RUN: env CRSAN_OPTIONS=%{few}:look_overhead=100000 %{run} barriers 2>&1 | FileCheck %s --check-prefix=CLEAN
// RUN: env CRSAN_OPTIONS=lasting_watchpoints=0 %{run} blocks 2>&1 | FileCheck %s --check-prefix=CLEAN
// RUN: %{run} ordered 2>&1 | FileCheck %s --check-prefix=CLEAN
// RUN: %{run} barriers 2>&1 | FileCheck %s --check-prefix=CLEAN
// RUN: %{run} launches 2>&1 | FileCheck %s --check-prefix=CLEAN
// RUN: %{run} graph 2>&1 | FileCheck %s --check-prefix=CLEAN
// CLEAN: SUMMARY: CRSan: no data races found
#include <cstring>

/// Time that is longer than any delay.
static __device__ void waitLong() { __nanosleep(400000); }

// BLOCKS: data race: conflicting accesses of 4 bytes in global memory
// BLOCKS: lasting-watchpoints.cu:[[#@LINE+10]]
// BLOCKS: conflicts with the write by another thread
// BLOCKS: lasting-watchpoints.cu:[[#@LINE+5]]
// BLOCKS: Another block of the same launch accesses this location, too
// BLOCKS: SUMMARY: CRSan: 1 data race (1 conflicting accesses)
__global__ void blocks(int *Data, int *Out) {
  if (blockIdx.x == 0) {
    Data[threadIdx.x] = 7;
  } else {
    waitLong();
    Out[threadIdx.x] = Data[threadIdx.x];
  }
}

// LOOP: data race: conflicting accesses of 4 bytes in global memory
// LOOP: SUMMARY: CRSan: 1 data race (1 conflicting accesses)
__global__ void loop(int *Data, int *Out) {
  int Sum = 0;
  if (blockIdx.x == 1)
    waitLong();
#pragma unroll 1
  for (int I = 0; I < 64; ++I)
    if (blockIdx.x == 0)
      Data[4 * I] = 7;
    else
      Sum += Data[4 * (63 - I)];
  Out[blockIdx.x] = Sum;
}

__global__ void ordered(int *Data, int *Out, int *Flag) {
  if (blockIdx.x == 0) {
    Data[threadIdx.x] = 7;
    __syncthreads();
    __threadfence();
    if (threadIdx.x == 0)
      atomicExch(Flag, 1);
  } else {
    while (atomicAdd(Flag, 0) == 0)
      ;
    __threadfence();
    Out[threadIdx.x] = Data[threadIdx.x];
  }
}

// WARPS: data race: conflicting accesses of 4 bytes in shared memory
// WARPS: lasting-watchpoints.cu:[[#@LINE+12]]
// WARPS: conflicts with the write by another thread
// WARPS: lasting-watchpoints.cu:[[#@LINE+7]]
// WARPS: Another warp of the block accesses this location, too, and no barrier
// WARPS: SUMMARY: CRSan: 1 data race (1 conflicting accesses)
__global__ void warps(int *Out) {
  __shared__ int Shared[32];
  __syncthreads();
  if (threadIdx.x < 32) {
    Shared[threadIdx.x] = 7;
  } else {
    waitLong();
    Out[threadIdx.x] = Shared[threadIdx.x - 32];
  }
}

__global__ void barriers(int *Data, int *Out) {
  __shared__ int Shared[64];
  int *Own = Data + blockIdx.x * blockDim.x;
  for (int Round = 0; Round < 4; ++Round) {
    Shared[threadIdx.x ^ (Round & 1) * 32] = 7;
    __syncwarp();
    Shared[threadIdx.x ^ (Round & 1) * 32 ^ 1] += 1; // Of the same warp.
    Own[threadIdx.x] = Round;
    __syncthreads();
    if (threadIdx.x >= 32)
      waitLong();
    Out[blockIdx.x * blockDim.x + threadIdx.x] =
        Own[threadIdx.x ^ 33] + Shared[threadIdx.x ^ 34];
    __syncthreads();
  }
}

/// Each block counts in another place in each launch.
__global__ void rotate(int *Data, const int *Turn) {
  Data[(blockIdx.x + *Turn) % gridDim.x] += 1;
}
__global__ void next(int *Turn) { ++*Turn; }

int main(int, char **Args) {
  int *Data, *Out, *Flag;
  cudaMalloc(&Data, 1024);
  cudaMalloc(&Out, 1024);
  cudaMalloc(&Flag, 4);
  cudaMemset(Data, 0, 1024);
  cudaMemset(Flag, 0, 4);
  if (!strcmp(Args[1], "blocks"))
    blocks<<<2, 64>>>(Data, Out);
  else if (!strcmp(Args[1], "loop"))
    loop<<<2, 1>>>(Data, Out);
  else if (!strcmp(Args[1], "warps"))
    warps<<<1, 64>>>(Out);
  else if (!strcmp(Args[1], "ordered"))
    ordered<<<2, 64>>>(Data, Out, Flag);
  else if (!strcmp(Args[1], "barriers"))
    barriers<<<2, 64>>>(Data, Out);
  else if (!strcmp(Args[1], "launches"))
    for (int I = 0; I < 8; ++I) {
      rotate<<<4, 1>>>(Data, Flag);
      next<<<1, 1>>>(Flag);
    }
  else {
    cudaStream_t Stream;
    cudaGraph_t Graph;
    cudaGraphExec_t Exec;
    cudaStreamCreate(&Stream);
    cudaStreamBeginCapture(Stream, cudaStreamCaptureModeGlobal);
    rotate<<<4, 1, 0, Stream>>>(Data, Flag);
    next<<<1, 1, 0, Stream>>>(Flag);
    cudaStreamEndCapture(Stream, &Graph);
    cudaGraphInstantiate(&Exec, Graph, 0);
    for (int I = 0; I < 8; ++I)
      cudaGraphLaunch(Exec, Stream);
    cudaStreamSynchronize(Stream);
  }
  return cudaDeviceSynchronize();
}

// Intent: metadata mode follows a kernel until its launches have taken follow_ms, and then few of its
// launches: single blocks where blocks synchronise with nothing outside of them, else whole launches.
// What is left out computes the same and is counted. Once kernels of two streams may overlap, launches
// are followed again, and the race between the streams is found.
// REQUIRES: plugin, host-runtime, sim
// RUN: %sim_clangxx -fsanitize=cuda-race -fsanitize-cuda-race-mode=metadata -O2 %s -o %t
// RUN: %sim_clangxx -fsanitize=cuda-race -fsanitize-cuda-race-mode=metadata -O2 -DRACY %s -o %t.racy

// RUN: env CRSAN_OPTIONS=follow_ms=1:verbosity=1 %crsan run --device=sim %t blocks 2>&1 | FileCheck %s --check-prefix=BLOCKS
// BLOCKS: right
// BLOCKS: CRSan: metadata mode left out to save time: {{[1-7]?[0-9]}} blocks of kernel launches; CRSAN_OPTIONS=effort=thorough follows all
// BLOCKS: SUMMARY: CRSan: no data races found in what was checked ({{[1-7]?[0-9]}} blocks not followed)
// RUN: env CRSAN_OPTIONS=follow_ms=1:verbosity=1 %crsan run --device=sim %t launches 2>&1 | FileCheck %s --check-prefix=LAUNCHES
// LAUNCHES: right
// LAUNCHES: CRSan: metadata mode left out to save time: {{1?[0-9]}} of 20 kernel launches; CRSAN_OPTIONS=effort=thorough follows all
// LAUNCHES: SUMMARY: CRSan: no data races found in what was checked ({{1?[0-9]}} kernel launches not followed)

// With enough time none are left out, nor with effort=thorough, nor by default on the simulated GPU.
// RUN: env CRSAN_OPTIONS=follow_ms=1000:verbosity=1 %crsan run --device=sim %t launches 2>&1 | FileCheck %s --check-prefix=ALL --implicit-check-not="left out"
// RUN: env CRSAN_OPTIONS=effort=thorough:verbosity=1 %crsan run --device=sim %t blocks 2>&1 | FileCheck %s --check-prefix=ALL --implicit-check-not="left out"
// RUN: env CRSAN_OPTIONS=verbosity=1 %crsan run --device=sim %t launches 2>&1 | FileCheck %s --check-prefix=ALL --implicit-check-not="left out"
// ALL: right
// ALL: SUMMARY: CRSan: no data races found{{$}}

// The first launch is followed.
// RUN: env CRSAN_OPTIONS=follow_ms=1 %python %S/Inputs/status.py 66 %crsan run --device=sim %t.racy blocks 2>&1 | FileCheck %s --check-prefix=RACE
// RUN: env CRSAN_OPTIONS=follow_ms=1 %python %S/Inputs/status.py 66 %crsan run --device=sim %t.racy launches 2>&1 | FileCheck %s --check-prefix=RACE
// RACE: CRSan: data race:

// RUN: env CRSAN_OPTIONS=follow_ms=1:verbosity=1 %crsan run --device=sim --seeds 1-4 %t streams 2>&1 | FileCheck %s --check-prefix=ORDERED
// ORDERED: left out to save time: {{[1-9][0-9]*}} of
// ORDERED: SUMMARY: CRSan: no data races found
// RUN: env CRSAN_OPTIONS=follow_ms=1 %python %S/Inputs/status.py 66 %crsan run --device=sim --seeds 1-4 %t.racy streams 2>&1 | FileCheck %s --check-prefix=STREAMS
// STREAMS: CRSan: 4 runs, 4 of them with findings

#include <cstdio>
#include <string>

constexpr unsigned Threads = 128, Blocks = 4, Launches = 20, Rounds = 100;

__device__ unsigned Runs;

// Where a thread writes is in memory, so that no proof spares the checks.
template <bool Counts> __global__ void reverse(const unsigned *To, unsigned *Data, bool Waits) {
  __shared__ unsigned Tile[Threads];
  unsigned *Mine = Data + blockIdx.x * Threads;
  for (unsigned Round = 0; Round < Rounds; ++Round) {
    Tile[To[threadIdx.x]] = Mine[threadIdx.x] + 1;
    if (Waits)
      __syncthreads();
    Mine[threadIdx.x] = Tile[threadIdx.x];
    __syncthreads();
  }
  if (Counts && threadIdx.x == 0)
    atomicAdd(&Runs, 1);
}

__global__ void put(unsigned *Value) {
  *Value = 1;
  __threadfence_block();
}

__global__ void get(const unsigned *Value, unsigned *To) {
  *To = *Value;
  __threadfence_block();
}

static void overlap(unsigned *Data) {
  cudaStream_t First, Second;
  cudaEvent_t Put;
  cudaStreamCreateWithFlags(&First, cudaStreamNonBlocking);
  cudaStreamCreateWithFlags(&Second, cudaStreamNonBlocking);
  cudaEventCreate(&Put);
  put<<<1, 1, 0, First>>>(Data);
#ifndef RACY
  cudaEventRecord(Put, First);
  cudaStreamWaitEvent(Second, Put);
#endif
  get<<<1, 1, 0, Second>>>(Data, Data + 1);
  cudaDeviceSynchronize();
}

int main(int, char **Words) {
  const std::string What = Words[1];
#ifdef RACY
  const bool Waits = What == "streams";
#else
  const bool Waits = true;
#endif
  unsigned *To, *Data, Found[Threads];
  cudaMalloc(&To, sizeof(Found));
  cudaMalloc(&Data, Blocks * sizeof(Found));
  for (unsigned I = 0; I < Threads; ++I)
    Found[I] = Threads - 1 - I;
  cudaMemcpy(To, Found, sizeof(Found), cudaMemcpyHostToDevice);
  cudaMemset(Data, 0, Blocks * sizeof(Found));
  for (unsigned I = 0; I < Launches; ++I)
    if (What == "blocks")
      reverse<false><<<Blocks, Threads>>>(To, Data, Waits);
    else
      reverse<true><<<Blocks, Threads>>>(To, Data, Waits);
  cudaMemcpy(Found, Data, sizeof(Found), cudaMemcpyDeviceToHost);
  for (unsigned Each : Found)
    if (Waits && Each != Launches * Rounds)
      return std::puts("wrong"), 1;
  // Once the context is idle, no launch that was left out can run beside others.
  cudaDeviceSynchronize();
  if (What == "streams")
    overlap(Data);
  std::puts("right");
}

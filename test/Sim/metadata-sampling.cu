// Intent: effort=light follows some launches in metadata mode. The others compute the same, barriers
// and all; the summary says how many were left out; the race is found in a launch that is followed.
// A grid that is not followed may hand on what another one has written.
// REQUIRES: plugin, host-runtime, sim
// RUN: %sim_clangxx -fsanitize=cuda-race -fsanitize-cuda-race-mode=metadata -O2 %s -o %t
// RUN: %sim_clangxx -fsanitize=cuda-race -fsanitize-cuda-race-mode=metadata -O2 -DRACY %s -o %t.racy

// RUN: env CRSAN_OPTIONS=effort=light:verbosity=1:seed=11 %crsan run --device=sim %t sums 2>&1 | FileCheck %s
// CHECK: right
// CHECK: CRSan: metadata mode left out to save time: {{3[0-9]}} of 40 kernel launches; CRSAN_OPTIONS=effort=thorough follows all
// CHECK: SUMMARY: CRSan: no data races found
// RUN: env CRSAN_OPTIONS=verbosity=1 %crsan run --device=sim %t sums 2>&1 | FileCheck %s --check-prefix=ALL --implicit-check-not="left out"
// ALL: right
// ALL: SUMMARY: CRSan: no data races found

// Each run draws by its seed.
// RUN: env CRSAN_OPTIONS=follow_one_in=2 %python %S/Inputs/status.py 66 %crsan run --device=sim --seeds 1-8 %t.racy sums 2>&1 | FileCheck %s --check-prefix=FOUND
// FOUND: CRSan: data race:
// FOUND: CRSan: 8 runs, {{[1-8]}} of them with findings

// A run in which all launches were left out says so.
// RUN: env CRSAN_OPTIONS=follow_one_in=4096 %python %S/Inputs/status.py 67 %crsan run --device=sim %t.racy sums 2>&1 | FileCheck %s --check-prefix=NONE
// NONE: metadata mode left out to save time: 40 of 40 kernel launches; set CRSAN_OPTIONS=effort=thorough to have all followed

// RUN: env CRSAN_OPTIONS=follow_one_in=2:verbosity=1 %crsan run --device=sim --seeds 1-20 %t relay 2>&1 | FileCheck %s --check-prefix=RELAY
// RELAY: left out to save time: {{[1-9][0-9]*}} of 160 kernel launches
// RELAY: SUMMARY: CRSan: no data races found

#include <cstdio>
#include <string>

constexpr unsigned Threads = 128, Launches = 40, Rounds = 4;

// Where a thread writes is in memory, so that no proof spares the checks.
__global__ void reverse(const unsigned *To, unsigned *Data) {
  __shared__ unsigned Tile[Threads];
  Tile[To[threadIdx.x]] = Data[threadIdx.x] + 1;
#ifndef RACY
  __syncthreads();
#endif
  Data[threadIdx.x] = Tile[threadIdx.x];
}

__device__ unsigned Asked, Answered, Value, Result;

__device__ void raise(unsigned &Flag, unsigned Round) {
  __threadfence();
  atomicExch(&Flag, Round);
}

__device__ void await(unsigned &Flag, unsigned Round) {
  while (atomicAdd(&Flag, 0) != Round)
    ;
  __threadfence();
}

__global__ void ask(unsigned Round) {
  if (blockIdx.x == 0) {
    Value = Round;
    raise(Asked, Round);
  } else {
    await(Answered, Round);
    Result = Value;
  }
}

__global__ void answer(unsigned Round) {
  await(Asked, Round);
  raise(Answered, Round);
}

int main(int, char **Words) {
  if (Words[1] == std::string("relay")) {
    cudaStream_t Streams[2];
    for (cudaStream_t &S : Streams)
      cudaStreamCreateWithFlags(&S, cudaStreamNonBlocking);
    for (unsigned Round = 1; Round <= Rounds; ++Round) {
      ask<<<2, 1, 0, Streams[0]>>>(Round);
      answer<<<1, 1, 0, Streams[1]>>>(Round);
      cudaDeviceSynchronize();
    }
    return 0;
  }
  unsigned *To, *Data, Found[Threads];
  cudaMalloc(&To, sizeof(Found));
  cudaMalloc(&Data, sizeof(Found));
  for (unsigned I = 0; I < Threads; ++I)
    Found[I] = Threads - 1 - I;
  cudaMemcpy(To, Found, sizeof(Found), cudaMemcpyHostToDevice);
  cudaMemset(Data, 0, sizeof(Found));
  for (unsigned I = 0; I < Launches; ++I)
    reverse<<<1, Threads>>>(To, Data);
  cudaMemcpy(Found, Data, sizeof(Found), cudaMemcpyDeviceToHost);
  for (unsigned Each : Found)
    if (Each != Launches)
      return std::puts("wrong"), 1;
  std::puts("right");
}

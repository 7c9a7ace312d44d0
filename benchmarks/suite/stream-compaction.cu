// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Keeps the values below a limit, in any order. A warp finds by a ballot which
// of its lanes keep theirs; the first of them reserves room for all by one
// atomic and tells them the place by a shuffle. The planted variant reserves
// without an atomic, so that warps get the same places.

#include "Suite.h"

constexpr int Threads = 256;

__global__ void compact(int N, const uint32_t *Values, uint32_t Limit,
                        uint32_t *Kept, int *Total) {
  const int Lane = threadIdx.x % 32;
  // The condition is one of blocks, so that all lanes meet at the ballot.
  for (int Base = blockIdx.x * Threads; Base < N; Base += gridDim.x * Threads) {
    const int I = Base + threadIdx.x;
    const uint32_t Value = I < N ? Values[I] : 0;
    const bool Keep = I < N && Value < Limit;
    const unsigned Keepers = __ballot_sync(~0u, Keep);
    if (!Keepers)
      continue;
    const int First = __ffs(Keepers) - 1, Count = __popc(Keepers);
    int Place = 0;
    if (Lane == First)
      Place =
          VARIANT(atomicAdd(Total, Count), (*Total += Count) - Count); // RACE
    Place = __shfl_sync(~0u, Place, First);
    if (Keep)
      Kept[Place + __popc(Keepers & ((1u << Lane) - 1))] = Value; // RACE
  }
}

int main(int Argc, char **Argv) {
  const bool Small = isSmall(Argc, Argv);
  const int N = Small ? 3000 : 16000000, Blocks = Small ? 3 : 2048;
  const uint32_t Limits = Small ? 2 : 32;
  std::vector<uint32_t> Data(N);
  for (uint32_t &Value : Data)
    Value = draw() >> 8;
  DeviceArray<uint32_t> Values(Data), Kept(N);
  DeviceArray<int> Total(1);
  uint32_t Limit = 0;
  for (uint32_t I = 1; I <= Limits; ++I) {
    Limit = (1u << 23) / Limits * I;
    CHECK(cudaMemset(Total, 0, sizeof(int)));
    compact<<<Blocks, Threads>>>(N, Values, Limit, Kept, Total);
  }
  size_t Count = 0;
  uint64_t Sum = 0, Squares = 0;
  for (const uint64_t Value : Data)
    if (Value < Limit)
      ++Count, Sum += Value, Squares += Value * Value;
  const size_t Got = Total.download()[0];
  std::vector<uint32_t> Result = Kept.download();
  Result.resize(Got);
  for (const uint64_t Value : Result)
    Sum -= Value, Squares -= Value * Value;
  return finish(Got == Count && !Sum && !Squares);
}

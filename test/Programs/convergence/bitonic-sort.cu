// Intent: each block sorts 1,024 keys with their values in shared memory, with
// cooperative groups' barrier between the steps.
// CLEAN-ONLY
// ALSO-GPU: -O1
// ALSO-GPU: -O3
#include "../check.h"
#include <algorithm>
#include <cooperative_groups.h>

namespace cg = cooperative_groups;

constexpr unsigned MostKeys = 1024;
CONSTANT Scaled<MostKeys, 128> Size;
CONSTANT Scaled<264, 2> Blocks;

__device__ void order(unsigned &KeyA, unsigned &ValueA, unsigned &KeyB,
                      unsigned &ValueB, bool Ascending) {
  if ((KeyA > KeyB) != Ascending)
    return;
  unsigned Kept = KeyA;
  KeyA = KeyB;
  KeyB = Kept;
  Kept = ValueA;
  ValueA = ValueB;
  ValueB = Kept;
}

__global__ void sortBlocks(unsigned *Keys, unsigned *Values) {
  cg::thread_block Block = cg::this_thread_block();
  __shared__ unsigned Key[MostKeys], Value[MostKeys];
  const unsigned T = threadIdx.x, Threads = blockDim.x,
                 Base = blockIdx.x * Size;
  Key[T] = Keys[Base + T];
  Value[T] = Values[Base + T];
  Key[T + Threads] = Keys[Base + T + Threads];
  Value[T + Threads] = Values[Base + T + Threads];
  for (unsigned Length = 2; Length < Size; Length <<= 1) {
    const bool Ascending = (T & (Length / 2)) == 0;
    for (unsigned Stride = Length / 2; Stride > 0; Stride >>= 1) {
      cg::sync(Block);
      const unsigned P = 2 * T - (T & (Stride - 1));
      order(Key[P], Value[P], Key[P + Stride], Value[P + Stride], Ascending);
    }
  }
  for (unsigned Stride = Size / 2; Stride > 0; Stride >>= 1) {
    cg::sync(Block);
    const unsigned P = 2 * T - (T & (Stride - 1));
    order(Key[P], Value[P], Key[P + Stride], Value[P + Stride], true);
  }
  cg::sync(Block);
  Keys[Base + T] = Key[T];
  Values[Base + T] = Value[T];
  Keys[Base + T + Threads] = Key[T + Threads];
  Values[Base + T + Threads] = Value[T + Threads];
}

int main() {
  const unsigned N = Blocks * Size;
  std::vector<unsigned> Keys(N), Values(N);
  for (unsigned I = 0; I < N; ++I) {
    Keys[I] = I * 2654435761u;
    Values[I] = ~Keys[I];
  }
  unsigned *DeviceKeys = upload(Keys), *DeviceValues = upload(Values);
  sortBlocks<<<Blocks, Size / 2>>>(DeviceKeys, DeviceValues);
  for (unsigned B = 0; B < Blocks; ++B)
    std::sort(Keys.begin() + B * Size, Keys.begin() + (B + 1) * Size);
  bool Right = matches(DeviceKeys, N, [&](size_t I) { return Keys[I]; });
  Right &= matches(DeviceValues, N, [&](size_t I) { return ~Keys[I]; });
  return finish(Right);
}

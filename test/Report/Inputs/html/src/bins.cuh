#pragma once

/// Counts one value more.
__device__ inline void countInto(int *Part, int Bin) {
  atomicAdd(&Part[Bin], 1);
}

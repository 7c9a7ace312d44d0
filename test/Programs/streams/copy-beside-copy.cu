// Intent: two streams copy and fill memory of a device; no kernel takes part. The racy
// twins' second operation does not wait for the first one.
// FIXED: copies-ordered
// FIXED: fills-ordered -DFILLS
// FIXED: read-by-both -DBOTH
// RACY: copies
// RACY: fills -DFILLS
// UNSEEN: collider: no value changes while a check looks at it
#include "streams.h"

constexpr unsigned N = 1000;

/// Something to check, or the program is none of CRSan's.
__global__ void touch(unsigned *Cell) { *Cell += 1; }

int main() {
  unsigned *From = zeroed<unsigned>(N), *Middle = zeroed<unsigned>(N);
  unsigned *To = zeroed<unsigned>(N), *Cell = zeroed<unsigned>(1), *Host;
  CHECK(cudaMallocHost((void **)&Host, N * sizeof(unsigned)));
  for (unsigned I = 0; I < N; ++I)
    Host[I] = I;
  cudaStream_t A = makeStream(), B = makeStream();
  touch<<<1, 1, 0, A>>>(Cell);
  CHECK(cudaMemcpyAsync(From, Host, N * sizeof(unsigned), cudaMemcpyHostToDevice, A));
  order(A, B);
#if defined(FILLS)
  CHECK(cudaMemsetAsync(Middle, 0, N * sizeof(unsigned), A)); // RACE: fills
#ifndef RACY
  order(A, B);
#endif
  CHECK(cudaMemsetAsync(Middle + N / 2, 0, N / 2 * sizeof(unsigned), B)); // RACE: fills
  order(A, B);
  CHECK(cudaMemcpyAsync(Middle, From, N * sizeof(unsigned), cudaMemcpyDeviceToDevice, B));
#elif defined(BOTH)
  // Two readers do not race.
  CHECK(cudaMemcpyAsync(Middle, From, N * sizeof(unsigned), cudaMemcpyDeviceToDevice, A));
  CHECK(cudaMemcpyAsync(To, From, N * sizeof(unsigned), cudaMemcpyDeviceToDevice, B));
  order(A, B);
#else
  CHECK(cudaMemcpyAsync(Middle, From, N * sizeof(unsigned), // RACE: copies
                        cudaMemcpyDeviceToDevice, A));
#ifndef RACY
  order(A, B);
#endif
#endif
  CHECK(cudaMemcpyAsync(To, Middle, N * sizeof(unsigned), // RACE: copies
                        cudaMemcpyDeviceToDevice, B));
  return finish(matches(To, N, [](size_t I) { return unsigned(I); }));
}

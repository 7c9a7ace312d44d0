// Intent: copies, fills and kernels on several streams, which all that can order them
// orders: events, the default stream, the host, pools, and what the host sees in memory.
// FIXED: events
// FIXED: default-stream -DDEFAULT
// FIXED: host -DHOST
// FIXED: polled -DPOLLED
// FIXED: pool -DPOOL
// FIXED: pageable -DPAGEABLE
// CLEAN-ONLY
#include "streams.h"

constexpr unsigned Threads = 64, Blocks = 2, N = Threads * Blocks, Rounds = 4;

__global__ void addOne(unsigned *Cells) { Cells[blockIdx.x * Threads + threadIdx.x] += 1; }

int main() {
  unsigned *Cells = zeroed<unsigned>(N), *Copy = zeroed<unsigned>(N), *Pinned;
  CHECK(cudaMallocHost((void **)&Pinned, (N + 1) * sizeof(unsigned)));
  std::vector<unsigned> Host(N);
  constexpr size_t Bytes = N * sizeof(unsigned);
  cudaStream_t A = makeStream(), B = makeStream();
  for (unsigned R = 0; R < Rounds; ++R) {
    addOne<<<Blocks, Threads, 0, A>>>(Cells);
#if defined(DEFAULT)
    // Streams that block wait for the default stream, and it for them.
    cudaStream_t C, D;
    CHECK(cudaStreamCreate(&C));
    CHECK(cudaStreamCreate(&D));
    order(A, C);
    CHECK(cudaMemcpyAsync(Copy, Cells, Bytes, cudaMemcpyDeviceToDevice, C));
    CHECK(cudaMemcpy(Cells, Copy, Bytes, cudaMemcpyDeviceToDevice));
    CHECK(cudaMemsetAsync(Copy, 0, Bytes, D));
    order(nullptr, A);
    CHECK(cudaStreamDestroy(C));
    CHECK(cudaStreamDestroy(D));
#elif defined(HOST)
    CHECK(cudaStreamSynchronize(A));
    CHECK(cudaMemcpyAsync(Pinned, Cells, Bytes, cudaMemcpyDeviceToHost, B));
    while (cudaStreamQuery(B) == cudaErrorNotReady)
      ;
    cudaGetLastError(); // "Not ready" is one.
    CHECK(cudaMemcpyAsync(Cells, Pinned, Bytes, cudaMemcpyHostToDevice, A));
#elif defined(POLLED)
    // The copy itself tells the host that it is over, and so is what was before it.
    Pinned[N - 1] = 0;
    CHECK(cudaMemcpyAsync(Pinned, Cells, Bytes, cudaMemcpyDeviceToHost, A));
    while (((volatile unsigned *)Pinned)[N - 1] != R + 1)
      cudaStreamQuery(A);
    cudaGetLastError();
    CHECK(cudaMemsetAsync(Copy, 0, Bytes, B));
    CHECK(cudaMemcpyAsync(Copy, Cells, Bytes, cudaMemcpyDeviceToDevice, B));
    CHECK(cudaStreamSynchronize(B));
#elif defined(POOL)
    // What one stream frees, another one may get.
    unsigned *First, *Second;
    CHECK(cudaMallocAsync((void **)&First, Bytes, A));
    CHECK(cudaMemcpyAsync(First, Cells, Bytes, cudaMemcpyDeviceToDevice, A));
    CHECK(cudaFreeAsync(First, A));
    CHECK(cudaMallocAsync((void **)&Second, Bytes, B));
    CHECK(cudaMemsetAsync(Second, 1, Bytes, B));
    addOne<<<Blocks, Threads, 0, B>>>(Second);
    CHECK(cudaFreeAsync(Second, B));
#elif defined(PAGEABLE)
    CHECK(cudaMemcpyAsync(Host.data(), Cells, Bytes, cudaMemcpyDeviceToHost, A));
    CHECK(cudaMemcpyAsync(Cells, Host.data(), Bytes, cudaMemcpyHostToDevice, B));
    CHECK(cudaStreamSynchronize(B));
#else
    order(A, B);
    CHECK(cudaMemcpyAsync(Copy, Cells, Bytes, cudaMemcpyDeviceToDevice, B));
    CHECK(cudaMemsetAsync(Cells, 0, Bytes, B));
    CHECK(cudaMemcpyAsync(Cells, Copy, Bytes, cudaMemcpyDeviceToDevice, B));
    order(B, A);
#endif
  }
  return finish(matches(Cells, N, [](size_t) { return unsigned(Rounds); }));
}

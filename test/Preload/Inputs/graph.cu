// A captured graph with two kernels in turns, a copy and a fill, launched five times.
#include "common.h"
constexpr unsigned Blocks = 4;
__global__ void first(unsigned *Cells, const unsigned *In) {
  __shared__ unsigned Tile[Threads];
  unsigned Me = blockIdx.x * Threads + threadIdx.x;
  Cells[Me] = exchangeIn(Tile, 2) + In[Me];
}
__global__ void second(unsigned *Out, const unsigned *Cells) {
  unsigned Me = blockIdx.x * Threads + threadIdx.x;
  Out[Me] += Cells[Blocks * Threads - 1 - Me];
}
int main() {
  constexpr unsigned N = Blocks * Threads;
  unsigned *In, *Cells, *Out;
  CHECK(cudaMalloc(&In, 4 * N));
  CHECK(cudaMalloc(&Cells, 4 * N));
  CHECK(cudaMalloc(&Out, 4 * N));
  CHECK(cudaMemset(Out, 0, 4 * N));
  CHECK(cudaDeviceSynchronize());
  std::vector<unsigned> Host(N);
  cudaStream_t Stream;
  cudaGraph_t Graph;
  cudaGraphExec_t Executable;
  CHECK(cudaStreamCreate(&Stream));
  CHECK(cudaStreamBeginCapture(Stream, cudaStreamCaptureModeGlobal));
  CHECK(cudaMemsetAsync(In, 0, 4 * N, Stream));
  first<<<Blocks, Threads, 0, Stream>>>(Cells, In);
  second<<<Blocks, Threads, 0, Stream>>>(Out, Cells);
  CHECK(cudaMemcpyAsync(Host.data(), Out, 4 * N, cudaMemcpyDeviceToHost, Stream));
  CHECK(cudaStreamEndCapture(Stream, &Graph));
  CHECK(cudaGraphInstantiate(&Executable, Graph, 0));
  for (int I = 0; I < 5; ++I)
    CHECK(cudaGraphLaunch(Executable, Stream));
  CHECK(cudaStreamSynchronize(Stream));
  for (unsigned I = 0; I < N; ++I)
    expect(Host[I], 5 * wanted((N - 1 - I) % Threads, 2), "out");
  return finish();
}

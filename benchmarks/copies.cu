// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Copies and fills of CUDA's API: the time of each, as the host sees it, for
// sizes from 4 KiB to 64 MiB. In each round a kernel writes the memory, and
// copies and fills follow in the same stream. A kernel in another stream makes
// that order matter. Prints `copy NAME kib N median_us T host_us T`,
// the time of each and the part of it until all of them are in the stream.
#include <algorithm>
#include <chrono>
#include <cstdio>
#include <cstdlib>
#include <cuda_runtime.h>
#include <vector>

#define CHECK(call)                                                            \
  do {                                                                         \
    if (cudaError_t error = call; error != cudaSuccess) {                      \
      std::fprintf(stderr, "%s: %s\n", #call, cudaGetErrorString(error));      \
      std::exit(1);                                                            \
    }                                                                          \
  } while (0)

__global__ void write(unsigned *words, unsigned n, unsigned value) {
  for (unsigned i = blockIdx.x * blockDim.x + threadIdx.x; i < n;
       i += gridDim.x * blockDim.x)
    words[i] = value + i;
}

int main() {
  constexpr size_t largest = size_t(64) << 20;
  constexpr int rounds = 5;
  unsigned *device, *other, *host;
  CHECK(cudaMalloc(&device, largest));
  CHECK(cudaMalloc(&other, largest));
  CHECK(cudaMallocHost(&host, largest));
  cudaStream_t stream, beside;
  CHECK(cudaStreamCreateWithFlags(&stream, cudaStreamNonBlocking));
  CHECK(cudaStreamCreateWithFlags(&beside, cudaStreamNonBlocking));
  unsigned *apart;
  CHECK(cudaMalloc(&apart, 4096));
  const char *names[] = {"upload", "download", "device", "fill"};
  for (size_t bytes :
       {size_t(4) << 10, size_t(256) << 10, size_t(4) << 20, largest}) {
    const int copies = bytes == largest ? 4 : 32;
    for (int kind = 0; kind < 4; ++kind) {
      std::vector<double> times, calls;
      for (int round = 0; round < rounds; ++round) {
        write<<<256, 256, 0, stream>>>(device, bytes / 4, round);
        write<<<1, 256, 0, beside>>>(apart, 1024, round);
        CHECK(cudaGetLastError());
        CHECK(cudaDeviceSynchronize());
        auto start = std::chrono::steady_clock::now();
        for (int i = 0; i < copies; ++i)
          switch (kind) {
          case 0:
            CHECK(cudaMemcpyAsync(device, host, bytes, cudaMemcpyHostToDevice,
                                  stream));
            break;
          case 1:
            CHECK(cudaMemcpyAsync(host, device, bytes, cudaMemcpyDeviceToHost,
                                  stream));
            break;
          case 2:
            CHECK(cudaMemcpyAsync(other, device, bytes,
                                  cudaMemcpyDeviceToDevice, stream));
            break;
          default:
            CHECK(cudaMemsetAsync(device, i, bytes, stream));
          }
        using Microseconds = std::chrono::duration<double, std::micro>;
        const Microseconds called = std::chrono::steady_clock::now() - start;
        CHECK(cudaStreamSynchronize(stream));
        const Microseconds time = std::chrono::steady_clock::now() - start;
        calls.push_back(called.count() / copies);
        times.push_back(time.count() / copies);
      }
      std::sort(times.begin(), times.end());
      std::sort(calls.begin(), calls.end());
      std::printf("copy %s kib %zu median_us %.1f host_us %.1f\n", names[kind],
                  bytes >> 10, times[rounds / 2], calls[rounds / 2]);
    }
  }
}

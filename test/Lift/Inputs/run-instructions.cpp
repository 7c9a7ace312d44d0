// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// run-instructions FILE NUMBER: runs the PTX that instructions.py has written, and prints
// the results of its instructions, a line each.

#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <cuda_runtime_api.h>
#include <fstream>
#include <sstream>
#include <vector>

static void check(cudaError_t Error, const char *Call) {
  if (Error == cudaSuccess)
    return;
  std::printf("%s: %s\n", Call, cudaGetErrorString(Error));
  std::exit(1);
}
#define CHECK(Call) check((Call), #Call)

int main(int, char **Words) {
  std::stringstream Text;
  Text << std::ifstream(Words[1]).rdbuf();
  const unsigned Instructions = std::atoi(Words[2]);
  constexpr unsigned Threads = 256;
  cudaLibrary_t Library;
  CHECK(cudaLibraryLoadData(&Library, Text.str().c_str(), nullptr, nullptr, 0, nullptr, nullptr, 0));
  cudaKernel_t Kernel;
  CHECK(cudaLibraryGetKernel(&Kernel, Library, "k"));
  std::vector<uint64_t> Results(Instructions * Threads);
  void *Out;
  CHECK(cudaMalloc(&Out, Results.size() * 8));
  uint32_t Number = 0x8001fffe;
  uint64_t Pair[2] = {0x1122334455667788, 0x99aabbccddeeff00};
  void *Arguments[] = {&Out, &Number, Pair};
  CHECK(cudaLaunchKernel(reinterpret_cast<const void *>(Kernel), dim3(1), dim3(Threads), Arguments,
                         0, nullptr));
  CHECK(cudaMemcpy(Results.data(), Out, Results.size() * 8, cudaMemcpyDeviceToHost));
  for (unsigned I = 0; I < Instructions; ++I) {
    std::printf("%u:", I);
    for (unsigned T = 0; T < Threads; ++T)
      std::printf(" %llx", static_cast<unsigned long long>(Results[I * Threads + T]));
    std::puts("");
  }
}

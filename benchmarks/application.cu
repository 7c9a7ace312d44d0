// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Measures a program of test/Programs/scoped as it is: -DAPPLICATION="file" includes it,
// its `main` is a function here, and the CUDA functions that launch and
// allocate are ours, which the program finds before those of the CUDA library.
// Output and options are those of kernels.cu; a run's time is that of all its
// kernels.

#include <algorithm>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <cuda_runtime.h>
#include <dlfcn.h>
#include <vector>

#define main application
#include APPLICATION
#undef main

namespace {
/// What a run of the application has done so far.
struct Run {
  std::vector<cudaEvent_t> Events; // Two a launch.
  std::vector<void *> Allocations;
  size_t Bytes = 0;
} Now;

/// The function of the CUDA library that ours hides.
template <typename F> F *hidden(const char *Name) {
  if (void *Found = dlsym(RTLD_NEXT, Name))
    return reinterpret_cast<F *>(Found);
  fprintf(stderr, "application: no %s\n", Name);
  exit(1);
}

void record(cudaStream_t Stream) {
  Now.Events.emplace_back();
  CHECK(cudaEventCreate(&Now.Events.back()));
  CHECK(cudaEventRecord(Now.Events.back(), Stream));
}

cudaError_t launch(const char *Name, const void *Kernel, dim3 Grid, dim3 Block,
                   void **Args, size_t Shared, cudaStream_t Stream) {
  using Launch =
      cudaError_t(const void *, dim3, dim3, void **, size_t, cudaStream_t);
  record(Stream);
  cudaError_t Result =
      hidden<Launch>(Name)(Kernel, Grid, Block, Args, Shared, Stream);
  record(Stream);
  return Result;
}

double usedMiB() {
  size_t Free, Total;
  CHECK(cudaMemGetInfo(&Free, &Total));
  return (Total - Free) / 1048576.0;
}
} // namespace

extern "C" cudaError_t cudaLaunchKernel(const void *Kernel, dim3 Grid,
                                        dim3 Block, void **Args, size_t Shared,
                                        cudaStream_t Stream) {
  return launch("cudaLaunchKernel", Kernel, Grid, Block, Args, Shared, Stream);
}

extern "C" cudaError_t cudaLaunchCooperativeKernel(const void *Kernel,
                                                   dim3 Grid, dim3 Block,
                                                   void **Args, size_t Shared,
                                                   cudaStream_t Stream) {
  return launch("cudaLaunchCooperativeKernel", Kernel, Grid, Block, Args,
                Shared, Stream);
}

extern "C" cudaError_t cudaMalloc(void **Memory, size_t Size) {
  cudaError_t Result =
      hidden<cudaError_t(void **, size_t)>("cudaMalloc")(Memory, Size);
  if (Result == cudaSuccess) {
    Now.Allocations.push_back(*Memory);
    Now.Bytes += Size;
  }
  return Result;
}

/// Microseconds of the kernels of a run, and an end to it.
static float finishRun() {
  CHECK(cudaDeviceSynchronize());
  float Sum = 0, Milliseconds;
  for (size_t I = 0; I < Now.Events.size(); I += 2) {
    CHECK(
        cudaEventElapsedTime(&Milliseconds, Now.Events[I], Now.Events[I + 1]));
    Sum += Milliseconds * 1000;
  }
  for (cudaEvent_t Event : Now.Events)
    CHECK(cudaEventDestroy(Event));
  for (void *Memory : Now.Allocations)
    CHECK(cudaFree(Memory));
  Now = Run();
  return Sum;
}

int main(int Argc, char **Argv) {
  int Runs = Argc == 3 && !strcmp(Argv[1], "--runs") ? atoi(Argv[2]) : 5;
  constexpr int WarmUp = 2;
  std::vector<float> Times;
  bool Wrong = false;
  double Allocated = 0, Grown = 0;
  CHECK(cudaFree(nullptr)); // Code is loaded.
  double Before = usedMiB();
  for (int I = 0; I < WarmUp + Runs; ++I) {
    Wrong |= application() != 0;
    Allocated = Now.Bytes / 1048576.0;
    Grown = usedMiB() - Before;
    Times.push_back(finishRun());
  }
  float First = Times.front();
  Times.erase(Times.begin(), Times.begin() + WarmUp);
  std::sort(Times.begin(), Times.end());
  printf("%-22s median_us %9.1f min_us %9.1f first_us %9.1f\n", NAME,
         Times[Times.size() / 2], Times.front(), First);
  printf("memory %s allocated_mib %.1f grown_mib %.1f\n", NAME, Allocated,
         Grown);
  printf("memory used_mib %.1f\n", usedMiB());
  if (Wrong)
    printf("%s: wrong result\n", NAME);
  return Wrong;
}

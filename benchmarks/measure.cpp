// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Linked to a CUDA program, measures its kernels: the functions that launch are
// ours, which the program finds before those of the CUDA library. At its end
// the program prints, of each kernel,
//
//   kernel NAME launches N first_us A median_us B total_us C
//
// (B: of all launches but the first; of the first where there is no other), and
//
//   memory used_mib M
//
// which is what the device's memory holds then, of all programs. Launches that
// a stream captures into a graph are not measured.

#include <algorithm>
#include <cstdio>
#include <cstdlib>
#include <cuda_runtime.h>
#include <cxxabi.h>
#include <dlfcn.h>
#include <string>
#include <vector>

namespace {

struct Launch {
  const void *Kernel;
  cudaEvent_t Before, After;
};
std::vector<Launch> Launches;
double UsedMiB = 0;

void check(cudaError_t Status, const char *Call) {
  if (Status == cudaSuccess)
    return;
  fprintf(stderr, "measure: %s: %s\n", Call, cudaGetErrorString(Status));
  exit(2);
}
#define CHECK(Call) check(Call, #Call)

/// The function of the CUDA library that ours hides.
template <typename F> F *hidden(const char *Name) {
  if (void *Found = dlsym(RTLD_NEXT, Name))
    return reinterpret_cast<F *>(Found);
  fprintf(stderr, "measure: the CUDA library has no %s\n", Name);
  exit(2);
}

/// Without its parameters and template arguments, in one word.
std::string nameOf(const void *Kernel) {
  const char *Mangled = nullptr;
  if (cudaFuncGetName(&Mangled, Kernel) != cudaSuccess || !Mangled)
    return "unknown";
  int Status = 0;
  char *Demangled = abi::__cxa_demangle(Mangled, nullptr, nullptr, &Status);
  std::string Name = Demangled ? Demangled : Mangled;
  free(Demangled);
  Name = Name.substr(0, Name.find_first_of("(<"));
  return Name.substr(Name.find_last_of(' ') + 1);
}

void printTimes(const std::string &Name, std::vector<float> Times) {
  float Total = 0;
  for (float Time : Times)
    Total += Time;
  const float First = Times.front();
  const size_t Launches = Times.size();
  if (Launches > 1)
    Times.erase(Times.begin());
  const auto Middle = Times.begin() + Times.size() / 2;
  std::nth_element(Times.begin(), Middle, Times.end());
  printf("kernel %s launches %zu first_us %.2f median_us %.2f total_us %.2f\n",
         Name.c_str(), Launches, First, *Middle, Total);
}

void printAll() {
  if (cudaDeviceSynchronize() != cudaSuccess)
    return; // The program has said so.
  std::vector<std::pair<std::string, std::vector<float>>> Kernels;
  for (const Launch &L : Launches) {
    float Milliseconds = 0;
    CHECK(cudaEventElapsedTime(&Milliseconds, L.Before, L.After));
    const std::string Name = nameOf(L.Kernel);
    auto Found = std::find_if(Kernels.begin(), Kernels.end(),
                              [&](auto &Entry) { return Entry.first == Name; });
    if (Found == Kernels.end())
      Found = Kernels.insert(Found, {Name, {}});
    Found->second.push_back(Milliseconds * 1000);
  }
  for (auto &[Name, Times] : Kernels)
    printTimes(Name, std::move(Times));
  printf("memory used_mib %.1f\n", UsedMiB);
  fflush(stdout);
}

void lookAtMemory() {
  size_t Free, Total;
  CHECK(cudaMemGetInfo(&Free, &Total));
  UsedMiB = std::max(UsedMiB, (Total - Free) / 1048576.0);
}

cudaEvent_t record(cudaStream_t Stream) {
  cudaEvent_t Event;
  CHECK(cudaEventCreate(&Event));
  CHECK(cudaEventRecord(Event, Stream));
  return Event;
}

template <typename F>
cudaError_t measure(const void *Kernel, cudaStream_t Stream, F Start) {
  cudaStreamCaptureStatus Capture = cudaStreamCaptureStatusNone;
  CHECK(cudaStreamIsCapturing(Stream, &Capture));
  if (Capture != cudaStreamCaptureStatusNone)
    return Start();
  if (Launches.empty())
    atexit(printAll);
  const cudaEvent_t Before = record(Stream);
  const cudaError_t Result = Start();
  if (Result == cudaSuccess)
    Launches.push_back({Kernel, Before, record(Stream)});
  if (Launches.size() <= 16)
    lookAtMemory();
  return Result;
}

using PlainLaunch = cudaError_t(const void *, dim3, dim3, void **, size_t,
                                cudaStream_t);
} // namespace

extern "C" cudaError_t cudaLaunchKernel(const void *Kernel, dim3 Grid,
                                        dim3 Block, void **Args, size_t Shared,
                                        cudaStream_t Stream) {
  return measure(Kernel, Stream, [&] {
    return hidden<PlainLaunch>("cudaLaunchKernel")(Kernel, Grid, Block, Args,
                                                   Shared, Stream);
  });
}

/// What `<<<>>>` becomes with nvcc 13: the kernel is a cudaKernel_t.
extern "C" cudaError_t __cudaLaunchKernel(const void *Kernel, dim3 Grid,
                                          dim3 Block, void **Args,
                                          size_t Shared, cudaStream_t Stream) {
  return measure(Kernel, Stream, [&] {
    return hidden<PlainLaunch>("__cudaLaunchKernel")(Kernel, Grid, Block, Args,
                                                     Shared, Stream);
  });
}

extern "C" cudaError_t cudaLaunchCooperativeKernel(const void *Kernel,
                                                   dim3 Grid, dim3 Block,
                                                   void **Args, size_t Shared,
                                                   cudaStream_t Stream) {
  return measure(Kernel, Stream, [&] {
    return hidden<PlainLaunch>("cudaLaunchCooperativeKernel")(
        Kernel, Grid, Block, Args, Shared, Stream);
  });
}

extern "C" cudaError_t cudaLaunchKernelExC(const cudaLaunchConfig_t *Config,
                                           const void *Kernel, void **Args) {
  using Launch = cudaError_t(const cudaLaunchConfig_t *, const void *, void **);
  return measure(Kernel, Config->stream, [&] {
    return hidden<Launch>("cudaLaunchKernelExC")(Config, Kernel, Args);
  });
}

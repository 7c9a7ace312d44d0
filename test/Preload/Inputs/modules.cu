// PTX that NVRTC makes while the program runs, loaded in each way that the driver has.
#include "common.h"
#include <cuda.h>
#include <fstream>
#include <nvrtc.h>
#include <string>
#include <unistd.h>

static const char Source[] = "#line 9 \"modules.cu\"\n" R"(
extern "C" __global__ void use(unsigned *Out, unsigned Factor) {
  __shared__ unsigned Tile[256];
  unsigned Sum = 0;
  for (unsigned R = 1; R <= 100; ++R) {
    Tile[threadIdx.x] = R * Factor + threadIdx.x; // RACE
#ifndef RACY
    __syncthreads();
#endif
    Sum += Tile[(threadIdx.x + 32) % 256]; // RACE
    __syncthreads();
  }
  Out[threadIdx.x] = Sum;
})";

static void fail(const char *What, int Result) {
  std::printf("WRONG: %s: %d\n", What, Result);
  std::fflush(stdout);
  std::exit(1);
}
#define DO(Call)                                                                                   \
  if (const int Result = int(Call))                                                                \
  fail(#Call, Result)

static std::string compile(bool IsRacy) {
  nvrtcProgram Program;
  DO(nvrtcCreateProgram(&Program, Source, "modules.cu", 0, nullptr, nullptr));
  const char *Words[] = {"--gpu-architecture=compute_90", "-lineinfo", "-DRACY"};
  DO(nvrtcCompileProgram(Program, IsRacy ? 3 : 2, Words));
  size_t Size;
  DO(nvrtcGetPTXSize(Program, &Size));
  std::string PTX(Size, '\0');
  DO(nvrtcGetPTX(Program, PTX.data()));
  DO(nvrtcDestroyProgram(&Program));
  return PTX;
}

static void launch(CUfunction Kernel, unsigned Factor) {
  unsigned *Out, Host[Threads];
  CHECK(cudaMalloc(&Out, sizeof(Host)));
  void *Arguments[] = {&Out, &Factor};
  DO(cuLaunchKernel(Kernel, 1, 1, 1, Threads, 1, 1, 0, nullptr, Arguments, nullptr));
  CHECK(cudaMemcpy(Host, Out, sizeof(Host), cudaMemcpyDeviceToHost));
  for (unsigned I = 0; I < Threads; ++I)
    expect(Host[I], wanted(I, Factor), "out");
}

static void launch(CUmodule Module, unsigned Factor) {
  CUfunction Kernel;
  DO(cuModuleGetFunction(&Kernel, Module, "use"));
  launch(Kernel, Factor);
  DO(cuModuleUnload(Module));
}

static void launch(CUlibrary Library, unsigned Factor) {
  CUkernel Kernel;
  DO(cuLibraryGetKernel(&Kernel, Library, "use"));
  launch(reinterpret_cast<CUfunction>(Kernel), Factor);
  DO(cuLibraryUnload(Library));
}

int main() {
  CHECK(cudaFree(nullptr));
#ifdef RACY
  const std::string PTX = compile(true);
#else
  const std::string PTX = compile(false);
#endif
  const std::string File = "modules-" + std::to_string(getpid()) + ".ptx";
  std::ofstream(File) << PTX.c_str();
  CUmodule Module;
  CUlibrary Library;
  DO(cuModuleLoadData(&Module, PTX.c_str()));
  launch(Module, 2);
  DO(cuModuleLoadDataEx(&Module, PTX.c_str(), 0, nullptr, nullptr));
  launch(Module, 3);
  DO(cuModuleLoad(&Module, File.c_str()));
  launch(Module, 4);
  DO(cuLibraryLoadData(&Library, PTX.c_str(), nullptr, nullptr, 0, nullptr, nullptr, 0));
  launch(Library, 5);
  DO(cuLibraryLoadFromFile(&Library, File.c_str(), nullptr, nullptr, 0, nullptr, nullptr, 0));
  launch(Library, 6);
  unlink(File.c_str());
  return finish();
}

// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Launching kernels of a PTX file, and comparing what they wrote.
#ifndef CRSAN_TEST_TRITON_DEVICE_H
#define CRSAN_TEST_TRITON_DEVICE_H

#include <cuda_runtime.h>

#include <cmath>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <fstream>
#include <iterator>
#include <string>
#include <tuple>
#include <type_traits>
#include <vector>

#define CHECK(Call) check(Call, #Call)
inline void check(cudaError_t Error, const char *Call) {
  if (Error == cudaSuccess)
    return;
  std::fprintf(stderr, "%s: %s\n", Call, cudaGetErrorString(Error));
  std::exit(1);
}

/// Elements on the host, which launches copy to the device and back.
template <typename T> class Array {
public:
  explicit Array(size_t Count) : Host(Count) {
    CHECK(cudaMalloc(&Device, bytes()));
  }
  Array(const Array &) = delete;
  ~Array() { cudaFree(Device); }

  T &operator[](size_t I) { return Host[I]; }
  const T &operator[](size_t I) const { return Host[I]; }
  size_t size() const { return Host.size(); }
  T *device() const { return Device; }
  void upload() const {
    CHECK(cudaMemcpy(Device, Host.data(), bytes(), cudaMemcpyHostToDevice));
  }
  void download() {
    CHECK(cudaMemcpy(Host.data(), Device, bytes(), cudaMemcpyDeviceToHost));
  }

private:
  size_t bytes() const { return Host.size() * sizeof(T); }
  std::vector<T> Host;
  T *Device = nullptr;
};

/// Numbers that are the same in every run.
class Numbers {
public:
  uint32_t next() {
    State = State * 6364136223846793005u + 1442695040888963407u;
    return uint32_t(State >> 33);
  }
  /// A multiple of 1/16 from -1 to 1.
  float fraction() { return (int(next() % 33) - 16) / 16.0f; }
  template <typename T> void fill(Array<T> &A) {
    for (size_t I = 0; I < A.size(); ++I)
      A[I] = T(fraction());
  }

private:
  uint64_t State = 1;
};

/// How a kernel is launched.
struct Shape {
  dim3 Grid;
  unsigned Shared = 0; ///< Bytes.
  unsigned Threads = 128;
};

/// The one kernel of a PTX file.
class Program {
public:
  explicit Program(const char *Path) {
    std::ifstream In(Path);
    const std::string Text((std::istreambuf_iterator<char>(In)), {});
    CHECK(cudaLibraryLoadData(&Library, Text.c_str(), nullptr, nullptr, 0,
                              nullptr, nullptr, 0));
    CHECK(cudaLibraryEnumerateKernels(&Kernel, 1, Library));
  }
  ~Program() { cudaLibraryUnload(Library); }

  /// Arrays are copied to the device before, and back after the launch.
  template <typename... Ts> void launch(const Shape &S, Ts &&...As) {
    (upload(As), ...);
    auto Parameters = std::make_tuple(parameter(As)...);
    void *Scratch = nullptr;
    std::apply(
        [&](auto &...Ps) {
          void *All[] = {&Ps..., &Scratch, &Scratch};
          CHECK(cudaLaunchKernel(Kernel, S.Grid, dim3(S.Threads), All, S.Shared, 0));
        },
        Parameters);
    CHECK(cudaDeviceSynchronize());
    (download(As), ...);
  }

private:
  template <typename T> static void upload(const Array<T> &A) { A.upload(); }
  template <typename T> static void upload(const T &) {}
  template <typename T> static void download(Array<T> &A) { A.download(); }
  template <typename T> static void download(const T &) {}
  template <typename T> static T *parameter(const Array<T> &A) {
    return A.device();
  }
  template <typename T> static T parameter(const T &Plain) { return Plain; }

  cudaLibrary_t Library = nullptr;
  cudaKernel_t Kernel = nullptr;
};

/// Ends the program at an element that is not what the host has computed.
inline void expect(double Got, double Want, double Tolerance, const char *What,
                   size_t At) {
  if (std::abs(Got - Want) <= Tolerance * (1 + std::abs(Want)))
    return;
  std::fprintf(stderr, "%s[%zu] is %g, not %g\n", What, At, Got, Want);
  std::exit(1);
}

/// What a kernel's file is called, and the function that runs and checks it.
struct Case {
  const char *Name;
  void (*Run)(Program &);
};
extern const std::vector<Case> ElementCases, RowCases, ProductCases,
    SharedCases;

#endif

// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// What the programs of the suite share. A program is plain CUDA: it makes its
// data, launches its kernels, compares results with the host's and returns
// finish(). It neither measures nor prints times: benchmarks/measure.cpp, which
// is linked to it, does.
//
//   ./program [--small]
//
// --small is for the simulated GPU: a few thousand elements.
//
// -DPLANTED builds the variant with a race. VARIANT(Right, Planted) is the
// place where the two differ, and each line of the planted variant that a
// report may name ends with a comment "RACE". A planted variant ends as the
// right one does and touches no memory that is not its own, but its results may
// be wrong, so finish() does not look at them.

#ifndef SUITE_H
#define SUITE_H

#include <cmath>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <cuda_runtime.h>
#include <vector>

#ifdef PLANTED
#define VARIANT(Right, Planted) Planted
#else
#define VARIANT(Right, Planted) Right
#endif

inline void check(cudaError_t Status, const char *File, int Line) {
  if (Status == cudaSuccess)
    return;
  fprintf(stderr, "%s:%d: %s\n", File, Line, cudaGetErrorString(Status));
  exit(2);
}
#define CHECK(...) check(__VA_ARGS__, __FILE__, __LINE__)

inline bool isSmall(int Argc, char **Argv) {
  return Argc > 1 && !strcmp(Argv[1], "--small");
}

/// splitmix64 with a fixed seed: the same data everywhere and in every run.
inline uint32_t draw() {
  static uint64_t State = 1;
  uint64_t Z = State += 0x9e3779b97f4a7c15;
  Z = (Z ^ (Z >> 30)) * 0xbf58476d1ce4e5b9;
  Z = (Z ^ (Z >> 27)) * 0x94d049bb133111eb;
  return static_cast<uint32_t>(Z >> 32);
}

/// In [0, 1).
inline float drawUnit() { return (draw() >> 8) * 0x1p-24f; }

inline std::vector<float> drawUnits(size_t N) {
  std::vector<float> Values(N);
  for (float &Value : Values)
    Value = drawUnit();
  return Values;
}

/// Memory of the device, freed at the end of its scope.
template <typename T> class DeviceArray {
public:
  explicit DeviceArray(size_t N) : N(N) {
    CHECK(cudaMalloc(&Data, N * sizeof(T)));
    CHECK(cudaMemset(Data, 0, N * sizeof(T)));
  }
  explicit DeviceArray(const std::vector<T> &Values) : N(Values.size()) {
    CHECK(cudaMalloc(&Data, N * sizeof(T)));
    *this = Values;
  }
  DeviceArray(const DeviceArray &) = delete;
  ~DeviceArray() { cudaFree(Data); }

  DeviceArray &operator=(const std::vector<T> &Values) {
    CHECK(
        cudaMemcpy(Data, Values.data(), N * sizeof(T), cudaMemcpyHostToDevice));
    return *this;
  }
  operator T *() const { return Data; }
  size_t size() const { return N; }

  std::vector<T> download() const {
    std::vector<T> Values(N);
    CHECK(
        cudaMemcpy(Values.data(), Data, N * sizeof(T), cudaMemcpyDeviceToHost));
    return Values;
  }

private:
  T *Data = nullptr;
  size_t N;
};

inline bool isNear(double Got, double Want, double Slack = 1e-3) {
  return std::fabs(Got - Want) <= Slack * std::fmax(1.0, std::fabs(Want));
}

/// The exit status of a program whose results are \p Right.
inline int finish(bool Right) {
  CHECK(cudaDeviceSynchronize());
#ifndef PLANTED
  if (!Right) {
    printf("wrong result\n");
    return 1;
  }
#endif
  return 0;
}

#endif // SUITE_H

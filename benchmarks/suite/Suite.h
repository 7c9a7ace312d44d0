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
// be wrong, so finish() does not look at them. A line "UNSEEN: MODE: why" in
// the program's comment names a mode that cannot find the race on a GPU.

#ifndef SUITE_H
#define SUITE_H

#include <algorithm>
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

/// The neighbours of vertex V are Ends[Begins[V]] to Ends[Begins[V + 1] - 1].
struct Graph {
  std::vector<int> Begins, Ends;
};

/// Each vertex draws Degree / 2 others; edges go both ways, some twice.
inline Graph randomGraph(int N, int Degree) {
  std::vector<int> Drawn(static_cast<size_t>(N) * (Degree / 2));
  Graph G{std::vector<int>(N + 2), std::vector<int>(2 * Drawn.size())};
  for (size_t I = 0; I < Drawn.size(); ++I) {
    const int From = I / (Degree / 2);
    Drawn[I] = (From + 1 + draw() % (N - 1)) % N;
    ++G.Begins[From + 2], ++G.Begins[Drawn[I] + 2];
  }
  for (int V = 0; V < N; ++V)
    G.Begins[V + 2] += G.Begins[V + 1];
  for (size_t I = 0; I < Drawn.size(); ++I) {
    const int From = I / (Degree / 2);
    G.Ends[G.Begins[From + 1]++] = Drawn[I];
    G.Ends[G.Begins[Drawn[I] + 1]++] = From;
  }
  G.Begins.pop_back();
  return G;
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

/// Whether \p Got is in order and, by its sums, has the values of \p Data.
inline bool isSorted(const std::vector<uint32_t> &Got,
                     const std::vector<uint32_t> &Data) {
  uint64_t Sums = 0, Squares = 0;
  for (const uint64_t Value : Got)
    Sums += Value, Squares += Value * Value;
  for (const uint64_t Value : Data)
    Sums -= Value, Squares -= Value * Value;
  return std::is_sorted(Got.begin(), Got.end()) && !Sums && !Squares;
}

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

// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Drives device algorithms of CUB and Thrust, which are shipped with the CUDA
// toolkit and were written by others, and compares their results with the
// host's. Each run of an algorithm prints a line; the last is PASS.
//
//   crsan-clang++ -fsanitize=cuda-race -O2 cub_device.cu -o cub_device
//   ./cub_device [NAME]
//
// It takes minutes to compile; -DALGO=ALGO_REDUCE (or SCAN, SORT, HISTOGRAM,
// SELECT, RLE, THRUST) compiles one algorithm only.

#define ALGO_ALL 0
#define ALGO_REDUCE 1
#define ALGO_SCAN 2
#define ALGO_SORT 3
#define ALGO_HISTOGRAM 4
#define ALGO_SELECT 5
#define ALGO_RLE 6
#define ALGO_THRUST 7
#ifndef ALGO
#define ALGO ALGO_ALL
#endif
#define WANTED(Name) (ALGO == ALGO_ALL || ALGO == ALGO_##Name)

#include <algorithm>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <cuda_runtime.h>
#include <numeric>
#include <vector>
#if WANTED(REDUCE)
#include <cub/device/device_reduce.cuh>
#endif
#if WANTED(SCAN)
#include <cub/device/device_scan.cuh>
#endif
#if WANTED(SORT)
#include <cub/device/device_radix_sort.cuh>
#endif
#if WANTED(HISTOGRAM)
#include <cub/device/device_histogram.cuh>
#endif
#if WANTED(SELECT)
#include <cub/device/device_select.cuh>
#endif
#if WANTED(RLE)
#include <cub/device/device_run_length_encode.cuh>
#endif
#if WANTED(THRUST)
#include <thrust/device_vector.h>
#include <thrust/sort.h>
#include <thrust/unique.h>
#endif

constexpr int N = 1'000'003; // no multiple of a tile

static void check(cudaError_t Status, int Line) {
  if (Status == cudaSuccess)
    return;
  fprintf(stderr, "cub_device: line %d: %s\n", Line,
          cudaGetErrorString(Status));
  exit(1);
}
#define CHECK(...) check(__VA_ARGS__, __LINE__)

/// splitmix64 with a fixed seed.
[[maybe_unused]] static uint32_t draw() {
  static uint64_t State = 1;
  uint64_t Z = State += 0x9e3779b97f4a7c15;
  Z = (Z ^ (Z >> 30)) * 0xbf58476d1ce4e5b9;
  Z = (Z ^ (Z >> 27)) * 0x94d049bb133111eb;
  return static_cast<uint32_t>(Z >> 32);
}

[[maybe_unused]] static std::vector<int> drawMany(int Limit) {
  std::vector<int> Values(N);
  std::generate(Values.begin(), Values.end(),
                [&] { return static_cast<int>(draw() % Limit); });
  return Values;
}

/// Device memory with the lifetime of a scope.
template <typename T> struct Buffer {
  T *Data = nullptr;
  size_t Size;

  explicit Buffer(size_t Size) : Size(Size) {
    CHECK(cudaMalloc(&Data, Size * sizeof(T)));
    CHECK(cudaMemset(Data, 0, Size * sizeof(T)));
  }
  explicit Buffer(const std::vector<T> &Values) : Buffer(Values.size()) {
    CHECK(cudaMemcpy(Data, Values.data(), Size * sizeof(T),
                     cudaMemcpyHostToDevice));
  }
  Buffer(const Buffer &) = delete;
  Buffer &operator=(const Buffer &) = delete;
  ~Buffer() { CHECK(cudaFree(Data)); }

  std::vector<T> download(size_t Count) const {
    std::vector<T> Values(Count);
    CHECK(cudaMemcpy(Values.data(), Data, Count * sizeof(T),
                     cudaMemcpyDeviceToHost));
    return Values;
  }
  T front() const { return download(1)[0]; }
  bool holds(const std::vector<T> &Want) const {
    return Want.size() <= Size && download(Want.size()) == Want;
  }
};

/// Calls an algorithm of CUB twice, as its interface wants: for the size of its
/// temporary storage, then to do the work.
template <typename Call> void withStorage(Call Algorithm) {
  size_t Bytes = 0;
  CHECK(Algorithm(nullptr, Bytes));
  Buffer<char> Storage(std::max<size_t>(Bytes, 1));
  CHECK(Algorithm(static_cast<void *>(Storage.Data), Bytes));
  CHECK(cudaDeviceSynchronize());
}

#if WANTED(REDUCE)
static bool reduce() {
  auto Host = drawMany(1000);
  Buffer<int> In(Host), Sum(1), Greatest(1);
  withStorage([&](void *Storage, size_t &Bytes) {
    return cub::DeviceReduce::Sum(Storage, Bytes, In.Data, Sum.Data, N);
  });
  withStorage([&](void *Storage, size_t &Bytes) {
    return cub::DeviceReduce::Max(Storage, Bytes, In.Data, Greatest.Data, N);
  });
  return Sum.front() == std::accumulate(Host.begin(), Host.end(), 0) &&
         Greatest.front() == *std::max_element(Host.begin(), Host.end());
}
#endif

#if WANTED(SCAN)
static bool scan() {
  auto Host = drawMany(1000);
  Buffer<int> In(Host), Inclusive(N), Exclusive(N);
  withStorage([&](void *Storage, size_t &Bytes) {
    return cub::DeviceScan::InclusiveSum(Storage, Bytes, In.Data,
                                         Inclusive.Data, N);
  });
  withStorage([&](void *Storage, size_t &Bytes) {
    return cub::DeviceScan::ExclusiveSum(Storage, Bytes, In.Data,
                                         Exclusive.Data, N);
  });
  std::vector<int> WantInclusive(N), WantExclusive(N);
  std::inclusive_scan(Host.begin(), Host.end(), WantInclusive.begin());
  std::exclusive_scan(Host.begin(), Host.end(), WantExclusive.begin(), 0);
  return Inclusive.holds(WantInclusive) && Exclusive.holds(WantExclusive);
}
#endif

#if WANTED(SORT)
static bool sortKeys() {
  std::vector<uint32_t> Host(N);
  std::generate(Host.begin(), Host.end(), draw);
  Buffer<uint32_t> In(Host), Out(N);
  withStorage([&](void *Storage, size_t &Bytes) {
    return cub::DeviceRadixSort::SortKeys(Storage, Bytes, In.Data, Out.Data, N);
  });
  std::sort(Host.begin(), Host.end());
  return Out.holds(Host);
}

static bool sortPairs() {
  std::vector<uint32_t> Keys(N);
  std::generate(Keys.begin(), Keys.end(), [] { return draw() % 5000; });
  std::vector<int> Order(N);
  std::iota(Order.begin(), Order.end(), 0);
  Buffer<uint32_t> KeysIn(Keys), KeysOut(N);
  Buffer<int> In(Order), Out(N);
  withStorage([&](void *Storage, size_t &Bytes) {
    return cub::DeviceRadixSort::SortPairs(Storage, Bytes, KeysIn.Data,
                                           KeysOut.Data, In.Data, Out.Data, N);
  });
  std::stable_sort(Order.begin(), Order.end(),
                   [&](int A, int B) { return Keys[A] < Keys[B]; });
  std::sort(Keys.begin(), Keys.end());
  return KeysOut.holds(Keys) && Out.holds(Order);
}
#endif

#if WANTED(HISTOGRAM)
static bool histogram() {
  constexpr int Bins = 256;
  std::vector<unsigned char> Host(N);
  std::vector<int> Want(Bins);
  for (unsigned char &Byte : Host)
    ++Want[Byte = static_cast<unsigned char>(draw())];
  Buffer<unsigned char> In(Host);
  Buffer<int> Counts(Bins);
  withStorage([&](void *Storage, size_t &Bytes) {
    return cub::DeviceHistogram::HistogramEven(
        Storage, Bytes, In.Data, Counts.Data, Bins + 1, 0, Bins, N);
  });
  return Counts.holds(Want);
}
#endif

#if WANTED(SELECT)
struct IsEven {
  __host__ __device__ bool operator()(int Value) const {
    return Value % 2 == 0;
  }
};

static bool select() {
  auto Host = drawMany(4);
  Buffer<int> In(Host), Even(N), Unique(N), NumEven(1), NumUnique(1);
  withStorage([&](void *Storage, size_t &Bytes) {
    return cub::DeviceSelect::If(Storage, Bytes, In.Data, Even.Data,
                                 NumEven.Data, N, IsEven());
  });
  withStorage([&](void *Storage, size_t &Bytes) {
    return cub::DeviceSelect::Unique(Storage, Bytes, In.Data, Unique.Data,
                                     NumUnique.Data, N);
  });
  std::vector<int> WantEven, WantUnique;
  std::copy_if(Host.begin(), Host.end(), std::back_inserter(WantEven),
               IsEven());
  std::unique_copy(Host.begin(), Host.end(), std::back_inserter(WantUnique));
  return NumEven.front() == static_cast<int>(WantEven.size()) &&
         NumUnique.front() == static_cast<int>(WantUnique.size()) &&
         Even.holds(WantEven) && Unique.holds(WantUnique);
}
#endif

#if WANTED(RLE)
static bool runLengthEncode() {
  auto Host = drawMany(3);
  Buffer<int> In(Host), Values(N), Lengths(N), NumRuns(1);
  withStorage([&](void *Storage, size_t &Bytes) {
    return cub::DeviceRunLengthEncode::Encode(
        Storage, Bytes, In.Data, Values.Data, Lengths.Data, NumRuns.Data, N);
  });
  std::vector<int> WantValues, WantLengths;
  for (int Value : Host) {
    if (WantValues.empty() || WantValues.back() != Value) {
      WantValues.push_back(Value);
      WantLengths.push_back(0);
    }
    ++WantLengths.back();
  }
  return NumRuns.front() == static_cast<int>(WantValues.size()) &&
         Values.holds(WantValues) && Lengths.holds(WantLengths);
}
#endif

#if WANTED(THRUST)
static bool thrustSortUnique() {
  auto Host = drawMany(N / 2);
  thrust::device_vector<int> Values(Host.begin(), Host.end());
  thrust::sort(Values.begin(), Values.end());
  Values.erase(thrust::unique(Values.begin(), Values.end()), Values.end());
  std::sort(Host.begin(), Host.end());
  Host.erase(std::unique(Host.begin(), Host.end()), Host.end());
  std::vector<int> Got(Values.size());
  CHECK(cudaMemcpy(Got.data(), thrust::raw_pointer_cast(Values.data()),
                   Got.size() * sizeof(int), cudaMemcpyDeviceToHost));
  return Got == Host;
}
#endif

static const struct {
  const char *Name;
  bool (*Run)();
} Algorithms[] = {
#if WANTED(REDUCE)
    {"reduce", reduce},
#endif
#if WANTED(SCAN)
    {"scan", scan},
#endif
#if WANTED(SORT)
    {"sort-keys", sortKeys},
    {"sort-pairs", sortPairs},
#endif
#if WANTED(HISTOGRAM)
    {"histogram", histogram},
#endif
#if WANTED(SELECT)
    {"select", select},
#endif
#if WANTED(RLE)
    {"run-length-encode", runLengthEncode},
#endif
#if WANTED(THRUST)
    {"thrust-sort-unique", thrustSortUnique},
#endif
};

int main(int Argc, char **Argv) {
  bool Right = true, Ran = false;
  for (const auto &A : Algorithms) {
    if (Argc > 1 && strcmp(Argv[1], A.Name))
      continue;
    Ran = true;
    bool Passed = A.Run();
    printf("%s: %s\n", A.Name, Passed ? "right" : "wrong");
    fflush(stdout);
    Right = Right && Passed;
  }
  if (!Ran) {
    fprintf(stderr, "cub_device: no algorithm is called '%s'\n", Argv[1]);
    return 2;
  }
  puts(Right ? "PASS" : "FAIL");
  return Right ? 0 : 1;
}

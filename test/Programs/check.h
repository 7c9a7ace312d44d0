// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// What the GPU test programs share.
#ifndef CRSAN_TEST_PROGRAMS_CHECK_H
#define CRSAN_TEST_PROGRAMS_CHECK_H

#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <vector>

/// Ends the program with one line if a CUDA call failed.
#define CHECK(Call) checkCall((Call), #Call, __FILE__, __LINE__)

inline void checkCall(cudaError_t Error, const char *Call, const char *File,
                      int Line) {
  if (Error == cudaSuccess)
    return;
  std::printf("%s:%d: %s: %s\n", File, Line, Call, cudaGetErrorString(Error));
  std::exit(1);
}

/// Before the type of a Scaled: nvcc knows no host constant of a class in device
/// code.
#ifdef __NVCC__
#define CONSTANT __device__ constexpr
#else
#define CONSTANT constexpr
#endif

/// A size: \p Full on a GPU, \p Small on the simulated one, which is slow. Host
/// and device ask alike: no real one has so few multiprocessors.
template <unsigned Full, unsigned Small> struct Scaled {
  __host__ __device__ operator unsigned() const {
    return processors() > 16 ? Full : Small;
  }
  __host__ operator dim3() const { return dim3(unsigned(*this)); }

private:
  static __host__ unsigned hostProcessors() {
    int Count;
    CHECK(cudaDeviceGetAttribute(&Count, cudaDevAttrMultiProcessorCount, 0));
    return Count;
  }
  static __host__ __device__ unsigned processors() {
#if defined(__CUDA_ARCH__) && defined(__clang__)
    return __nvvm_read_ptx_sreg_nsmid();
#elif defined(__CUDA_ARCH__)
    unsigned Count;
    asm("mov.u32 %0, %%nsmid;" : "=r"(Count));
    return Count;
#else
    static const unsigned Count = hostProcessors();
    return Count;
#endif
  }
};

/// Device memory for \p N elements, all bytes zero: for kernels on any stream,
/// so that the host waits for it.
template <typename T> T *zeroed(size_t N) {
  void *Memory;
  CHECK(cudaMalloc(&Memory, N * sizeof(T)));
  CHECK(cudaMemset(Memory, 0, N * sizeof(T)));
  CHECK(cudaDeviceSynchronize());
  return static_cast<T *>(Memory);
}

template <typename T> T *upload(const std::vector<T> &Host) {
  T *Device = zeroed<T>(Host.size());
  CHECK(cudaMemcpy(Device, Host.data(), Host.size() * sizeof(T),
                   cudaMemcpyHostToDevice));
  return Device;
}

template <typename T> std::vector<T> download(const T *Device, size_t N) {
  std::vector<T> Host(N);
  CHECK(cudaGetLastError());
  CHECK(cudaDeviceSynchronize());
  CHECK(cudaMemcpy(Host.data(), Device, N * sizeof(T), cudaMemcpyDeviceToHost));
  return Host;
}

/// Whether element I of \p Device is Want(I), for all \p N of them.
template <typename T, typename F>
bool matches(const T *Device, size_t N, F Want) {
  std::vector<T> Host = download(Device, N);
  for (size_t I = 0; I < N; ++I)
    if (!(Host[I] == Want(I))) {
      std::printf("element %zu of %zu is wrong\n", I, N);
      return false;
    }
  return true;
}

/// The program's last line and exit status. What a racy variant computes is
/// nobody's business; a race-free one must have computed the right thing.
inline int finish(bool Right) {
  CHECK(cudaGetLastError());
  CHECK(cudaDeviceSynchronize());
#ifdef RACY
  (void)Right;
  std::puts("DONE");
  return 0;
#else
  std::puts(Right ? "PASS" : "FAIL");
  return Right ? 0 : 1;
#endif
}

/// The end of a program that this machine lacks something for: \p Why says what. `run`
/// then counts it as skipped.
inline int skip(const char *Why) {
  std::printf("SKIP: %s\n", Why);
  return 0;
}

#endif // CRSAN_TEST_PROGRAMS_CHECK_H

// Intent: what threads access in shared memory needs no check where each value of a span that a loop
// doubles or halves, a flag that all threads load, or barriers behind branches show that they do not
// meet; their twins, in which two threads may meet, are checked.
// REQUIRES: plugin
// RUN: %crsan_clangxx -fsanitize=cuda-race -fsanitize-cuda-race-mode=metadata -O2 -std=c++17 \
// RUN:   --cuda-device-only --cuda-gpu-arch=sm_80 -S -emit-llvm %s -o - | FileCheck %s

// Only the body without checks counts its accesses by one call.

#include <mma.h>

constexpr int Size = 1024;

// Two buffers swap roles; the places depend on the span.
// CHECK-LABEL: define {{.*}} @butterflies(
// CHECK:       call void @__crsan_md_count_proven(
// CHECK:       {{^}}}
extern "C" __global__ void butterflies(float *Out) {
  __shared__ float Buffers[2][Size];
  const int T = threadIdx.x;
  Buffers[0][T] = T;
  Buffers[0][T + Size / 2] = -T;
  __syncthreads();
  int From = 0;
  for (int Span = 1; Span < Size; Span *= 2) {
    const int K = T % Span;
    const float Even = Buffers[From][T], Odd = Buffers[From][T + Size / 2];
    float *To = &Buffers[1 - From][(T - K) * 2 + K];
    To[0] = Even + Odd;
    To[Span] = Even - Odd;
    __syncthreads();
    From = 1 - From;
  }
  Out[blockIdx.x * blockDim.x + T] = Buffers[From][T];
}

// A place of another pair's.
// CHECK-LABEL: define {{.*}} @butterfliesOfTwo(
// CHECK-NOT:   @__crsan_md_count_proven(
// CHECK:       {{^}}}
extern "C" __global__ void butterfliesOfTwo(float *Out) {
  __shared__ float Buffers[2][Size];
  const int T = threadIdx.x;
  Buffers[0][T] = T;
  Buffers[0][T + Size / 2] = -T;
  __syncthreads();
  int From = 0;
  for (int Span = 1; Span < Size; Span *= 2) {
    const int K = T % Span;
    const float Even = Buffers[From][T], Odd = Buffers[From][T + Size / 2];
    float *To = &Buffers[1 - From][(T - K) * 2 + K];
    To[0] = Even + Odd;
    To[2 * Span] = Even - Odd;
    __syncthreads();
    From = 1 - From;
  }
  Out[blockIdx.x * blockDim.x + T] = Buffers[From][T];
}

// One buffer: other threads still read what is written.
// CHECK-LABEL: define {{.*}} @butterfliesInPlace(
// CHECK-NOT:   @__crsan_md_count_proven(
// CHECK:       {{^}}}
extern "C" __global__ void butterfliesInPlace(float *Out) {
  __shared__ float Buffers[2][Size];
  const int T = threadIdx.x;
  Buffers[0][T] = T;
  Buffers[0][T + Size / 2] = -T;
  __syncthreads();
  for (int Span = 1; Span < Size; Span *= 2) {
    const int K = T % Span;
    const float Even = Buffers[0][T], Odd = Buffers[0][T + Size / 2];
    float *To = &Buffers[0][(T - K) * 2 + K];
    To[0] = Even + Odd;
    To[Span] = Even - Odd;
    __syncthreads();
  }
  Out[blockIdx.x * blockDim.x + T] = Buffers[0][T];
}

// The outer loop's value is where the inner loop begins.
// CHECK-LABEL: define {{.*}} @bitonic(
// CHECK:       call void @__crsan_md_count_proven(
// CHECK:       {{^}}}
extern "C" __global__ void bitonic(unsigned *Out) {
  __shared__ unsigned Keys[Size];
  const int T = threadIdx.x;
  Keys[T] = 7 * T;
  Keys[T + Size / 2] = 9 * T;
  for (int Length = 2; Length <= Size; Length *= 2)
    for (int Step = Length / 2; Step > 0; Step /= 2) {
      __syncthreads();
      const int I = 2 * T - (T & (Step - 1));
      const unsigned A = Keys[I], B = Keys[I + Step];
      const bool IsDown = !(I & Length);
      Keys[I] = IsDown ? max(A, B) : min(A, B);
      Keys[I + Step] = IsDown ? min(A, B) : max(A, B);
    }
  __syncthreads();
  Out[blockIdx.x * blockDim.x + T] = Keys[T];
}

// One barrier for each length: steps overtake each other.
// CHECK-LABEL: define {{.*}} @bitonicWithFewBarriers(
// CHECK-NOT:   @__crsan_md_count_proven(
// CHECK:       {{^}}}
extern "C" __global__ void bitonicWithFewBarriers(unsigned *Out) {
  __shared__ unsigned Keys[Size];
  const int T = threadIdx.x;
  Keys[T] = 7 * T;
  Keys[T + Size / 2] = 9 * T;
  for (int Length = 2; Length <= Size; Length *= 2) {
    __syncthreads();
    for (int Step = Length / 2; Step > 0; Step /= 2) {
      const int I = 2 * T - (T & (Step - 1));
      const unsigned A = Keys[I], B = Keys[I + Step];
      const bool IsDown = !(I & Length);
      Keys[I] = IsDown ? max(A, B) : min(A, B);
      Keys[I + Step] = IsDown ? min(A, B) : max(A, B);
    }
  }
  __syncthreads();
  Out[blockIdx.x * blockDim.x + T] = Keys[T];
}

// All threads load the flag, and none writes it meanwhile: all or none go on.
// CHECK-LABEL: define {{.*}} @flag(
// CHECK:       call void @__crsan_md_count_proven(
// CHECK:       {{^}}}
extern "C" __global__ void flag(const int *In, int *Out) {
  __shared__ int Sums[Size];
  __shared__ bool GoesOn;
  const int T = threadIdx.x;
  Sums[T] = In[blockIdx.x * blockDim.x + T];
  if (T == 0)
    GoesOn = In[0] > 0;
  __syncthreads();
  if (!GoesOn)
    return;
  const int Next = Sums[T ^ 1];
  __syncthreads();
  Sums[T] = Next;
  __syncthreads();
  Out[blockIdx.x * blockDim.x + T] = Sums[T ^ 2];
}

// Another thread writes the flag while it is loaded.
// CHECK-LABEL: define {{.*}} @flagThatChanges(
// CHECK-NOT:   @__crsan_md_count_proven(
// CHECK:       {{^}}}
extern "C" __global__ void flagThatChanges(const int *In, int *Out) {
  __shared__ int Sums[Size];
  __shared__ bool GoesOn;
  const int T = threadIdx.x;
  Sums[T] = In[blockIdx.x * blockDim.x + T];
  if (T == 0)
    GoesOn = In[0] > 0;
  __syncthreads();
  if (T == 1)
    GoesOn = In[1] > 0;
  if (!GoesOn)
    return;
  const int Next = Sums[T ^ 1];
  __syncthreads();
  Sums[T] = Next;
  __syncthreads();
  Out[blockIdx.x * blockDim.x + T] = Sums[T ^ 2];
}

// Threads part, and come together again before any barrier.
// CHECK-LABEL: define {{.*}} @partsBeforeLoop(
// CHECK:       call void @__crsan_md_count_proven(
// CHECK:       {{^}}}
extern "C" __global__ void partsBeforeLoop(int N, int *Out) {
  __shared__ int Sums[Size];
  const int T = threadIdx.x;
  Sums[T] = T;
  if (T < 16)
    Sums[T] = -T;
#pragma unroll 1
  for (int I = 0; I < N; ++I) {
    __syncthreads();
    const int Next = Sums[T ^ 1];
    __syncthreads();
    Sums[T] = Next;
  }
  __syncthreads();
  Out[blockIdx.x * blockDim.x + T] = Sums[T ^ 2];
}

// Some threads come to a barrier that others do not come to.
// CHECK-LABEL: define {{.*}} @partsWithBarrier(
// CHECK-NOT:   @__crsan_md_count_proven(
// CHECK:       {{^}}}
extern "C" __global__ void partsWithBarrier(int N, int *Out) {
  __shared__ int Sums[Size];
  const int T = threadIdx.x;
  Sums[T] = T;
  if (T < 16)
    __syncthreads();
#pragma unroll 1
  for (int I = 0; I < N; ++I) {
    __syncthreads();
    const int Next = Sums[T ^ 1];
    __syncthreads();
    Sums[T] = Next;
  }
  __syncthreads();
  Out[blockIdx.x * blockDim.x + T] = Sums[T ^ 2];
}

// Some threads are in the next round when others are in this one; all meet at the same barrier.
// CHECK-LABEL: define {{.*}} @roundsOverlap(
// CHECK-NOT:   @__crsan_md_count_proven(
// CHECK:       {{^}}}
extern "C" __global__ void roundsOverlap(int *Out) {
  __shared__ int Sums[Size];
  const unsigned T = threadIdx.x;
  const int Rounds = T >= 96 ? 4 : 2;
  int Factor = 1;
#pragma unroll 1
  for (int Round = 0; Round < Rounds; ++Round)
#pragma unroll 1
    for (Factor = 1; Factor < 4; Factor *= 2) {
      Sums[T * Factor] += Round;
      __syncthreads();
      if (T >= 96)
        break;
    }
  Out[blockIdx.x * blockDim.x + T] = Factor;
}

// A cycle with two entries is no loop.
// CHECK-LABEL: define {{.*}} @twoEntries(
// CHECK-NOT:   @__crsan_md_count_proven(
// CHECK:       {{^}}}
extern "C" __global__ void twoEntries(int N, int *Out) {
  __shared__ int Sums[Size];
  const int T = threadIdx.x;
  int Count = 0;
  long First = 0;
  if (N & 1)
    goto Middle;
Top:
  asm volatile("// top" ::: "memory");
  (Sums + First)[T] += 1;
  First += 32;
Middle:
  asm volatile("// middle" ::: "memory");
  if (++Count < N)
    goto Top;
  Out[blockIdx.x * blockDim.x + T] = Count;
}

// The flag is written where accesses are exempt.
// CHECK-LABEL: define {{.*}} @exemptFlag(
// CHECK-NOT:   @__crsan_md_count_proven(
// CHECK:       {{^}}}
__attribute__((disable_sanitizer_instrumentation)) __device__ void
set(int &Flag) {
  Flag = 32;
}
extern "C" __global__ void exemptFlag(int *Out) {
  __shared__ int Sums[Size], Flag;
  const int T = threadIdx.x;
  if (T == 0)
    Flag = 0;
  __syncthreads();
  const int First = Flag;
  if (T == 0)
    set(Flag);
  (Sums + First)[T] = T;
  __syncthreads();
  Out[blockIdx.x * blockDim.x + T] = Sums[T];
}

// A loop begins with a number of another kind. (Its values are not known.)
// CHECK-LABEL: define {{.*}} @beginsWithFloat(
// CHECK:       {{^}}}
extern "C" __global__ void beginsWithFloat(int N, int *Out) {
  __shared__ int Sums[Size];
  const int T = threadIdx.x;
  float First = 0;
#pragma unroll 1
  for (int I = 0; I < N; ++I) {
    int P = (int)First;
#pragma unroll 1
    do {
      Sums[T + P] = I;
      __syncthreads();
      P = P * 3 + 1;
    } while (P < 500);
    First = (float)P - 499.5f;
  }
  Out[blockIdx.x * blockDim.x + T] = Sums[T];
}

// Fragments are read behind the barrier, and so is what was staged.
// CHECK-LABEL: define {{.*}} @fragments(
// CHECK-NOT:   call void @__crsan_md_check{{(_read|_write)?}}({{.*}}, i64 {{.*}}addrspace(3)
// CHECK:       {{^}}}
extern "C" __global__ void fragments(const half *In, float *Out) {
  namespace wmma = nvcuda::wmma;
  __shared__ __align__(32) half Tile[16][24];
  wmma::fragment<wmma::matrix_a, 16, 16, 16, half, wmma::row_major> A;
  wmma::fragment<wmma::matrix_b, 16, 16, 16, half, wmma::row_major> B;
  wmma::fragment<wmma::accumulator, 16, 16, 16, float> Sum;
  wmma::fill_fragment(Sum, 0);
  for (int I = threadIdx.x; I < 256; I += 32)
    Tile[I / 16][I % 16] = In[I];
  __syncthreads();
  wmma::load_matrix_sync(A, &Tile[0][0], 24);
  wmma::load_matrix_sync(B, &Tile[0][0], 24);
  wmma::mma_sync(Sum, A, B, Sum);
  wmma::store_matrix_sync(Out, Sum, 16, wmma::mem_row_major);
}

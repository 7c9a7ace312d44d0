// Intent: where rows of shared memory take turns and one barrier an iteration keeps threads apart,
// metadata mode executes a body without checks; the twins, in which two successive iterations share a
// row, are checked, and their races are found.

// REQUIRES: plugin, host-runtime, sim
// RUN: %crsan_clangxx -fsanitize=cuda-race -fsanitize-cuda-race-mode=metadata -O2 -std=c++17 \
// RUN:   --cuda-device-only --cuda-gpu-arch=sm_90 -S -emit-llvm %s -o - | FileCheck %s --check-prefix=PLAIN
// RUN: %sim_clangxx -fsanitize=cuda-race -fsanitize-cuda-race-mode=metadata -O2 -std=c++17 \
// RUN:   --offload-arch=sm_90 %s -o %t
// RUN: not %crsan run --detector=oracle %t racy 2>&1 | FileCheck %s
// RUN: not %crsan run --detector=metadata %t racy 2>&1 | FileCheck %s
// RUN: %crsan run --detector=both %t 2>&1 | FileCheck %s --check-prefix=APART
// APART: SUMMARY: CRSan: no data races found

#include <cuda_runtime.h>

constexpr int Threads = 32;

// A thread writes its place of a row, and reads all of a row behind the barrier.
#define KERNEL(NAME, LOOP, WRITTEN, BARRIER, READ)                             \
  extern "C" __global__ void NAME(int Begin, int End, float *Out) {            \
    __shared__ float Rows[3][Threads];                                         \
    float Sum = 0;                                                             \
    int J = 0;                                                                 \
    _Pragma("unroll 1") LOOP {                                                 \
      (WRITTEN)[threadIdx.x] = J;                                              \
      BARRIER;                                                                 \
      for (int I = 0; I < Threads; ++I)                                        \
        Sum += (READ)[I];                                                      \
    }                                                                          \
    Out[blockIdx.x * blockDim.x + threadIdx.x] = Sum + J;                      \
  }
#define TURNS(NAME, LOOP, ROW) KERNEL(NAME, LOOP, ROW, __syncthreads(), ROW)

// Only the body without checks counts its accesses by one call.

// PLAIN-LABEL: define {{.*}} @quotients(
// PLAIN:       call void @__crsan_md_count_proven(
// PLAIN:       {{^}}}
TURNS(quotients, for (int First = 0; First < End; First += 8),
      Rows[First / 8 % 2])

// The quotient does not change each time.
// PLAIN-LABEL: define {{.*}} @quotientsOfHalves(
// PLAIN-NOT:   @__crsan_md_count_proven(
// PLAIN:       {{^}}}
// CHECK-DAG: kernel: quotientsOfHalves{{$}}
TURNS(quotientsOfHalves, for (int First = 0; First < End; First += 4),
      Rows[First / 8 % 2])

// 0, 1, 3, 4, 6, ...
// PLAIN-LABEL: define {{.*}} @quotientsOfMore(
// PLAIN-NOT:   @__crsan_md_count_proven(
// PLAIN:       {{^}}}
// CHECK-DAG: kernel: quotientsOfMore{{$}}
TURNS(quotientsOfMore, for (int First = 0; First < End; First += 12),
      Rows[First / 8 % 2])

// PLAIN-LABEL: define {{.*}} @masks(
// PLAIN:       call void @__crsan_md_count_proven(
// PLAIN:       {{^}}}
TURNS(masks, for (int K = 0; K < End; ++K), Rows[K & 1])

// PLAIN-LABEL: define {{.*}} @oneRow(
// PLAIN-NOT:   @__crsan_md_count_proven(
// PLAIN:       {{^}}}
// CHECK-DAG: kernel: oneRow{{$}}
TURNS(oneRow, for (int K = 0; K < End; ++K), Rows[0])

// PLAIN-LABEL: define {{.*}} @everySecond(
// PLAIN-NOT:   @__crsan_md_count_proven(
// PLAIN:       {{^}}}
// CHECK-DAG: kernel: everySecond{{$}}
TURNS(everySecond, for (int K = 0; K < End; ++K), Rows[K / 2 % 2])

// Wherever it begins, even if the counter wraps.
// PLAIN-LABEL: define {{.*}} @beginsAnywhere(
// PLAIN:       call void @__crsan_md_count_proven(
// PLAIN:       {{^}}}
TURNS(beginsAnywhere, for (unsigned K = Begin; K != unsigned(End); ++K),
      Rows[K % 2])

// PLAIN-LABEL: define {{.*}} @stepsOfTwo(
// PLAIN-NOT:   @__crsan_md_count_proven(
// PLAIN:       {{^}}}
// CHECK-DAG: kernel: stepsOfTwo{{$}}
TURNS(stepsOfTwo, for (unsigned K = Begin; K < unsigned(End); K += 2),
      Rows[K % 2])

// PLAIN-LABEL: define {{.*}} @three(
// PLAIN:       call void @__crsan_md_count_proven(
// PLAIN:       {{^}}}
TURNS(three, for (int K = 0; K < End; ++K), Rows[K % 3])

// Behind 255 comes 0: both are multiples of 3.
// PLAIN-LABEL: define {{.*}} @threeOfBytes(
// PLAIN-NOT:   @__crsan_md_count_proven(
// PLAIN:       {{^}}}
// CHECK-DAG: kernel: threeOfBytes{{$}}
TURNS(threeOfBytes,
      for (unsigned char K = 250; J < End; ++J, ++K), Rows[K % 3])

// The values are large, but what is left of them is 0, 2, 2, 1, 2, 1, 1, and 0.
// PLAIN-LABEL: define {{.*}} @threeOfBits(
// PLAIN-NOT:   @__crsan_md_count_proven(
// PLAIN:       {{^}}}
// CHECK-DAG: kernel: threeOfBits{{$}}
TURNS(threeOfBits, for (int K = 0; K < End; ++K),
      Rows[((K & 7) ^ 0x15555) % 3])

// PLAIN-LABEL: define {{.*}} @ahead(
// PLAIN:       call void @__crsan_md_count_proven(
// PLAIN:       {{^}}}
KERNEL(ahead, for (int K = 0; K < End; ++K), Rows[(K + 1) % 3],
       __syncthreads(), Rows[K % 3])

// The row of the stage that others still read.
// PLAIN-LABEL: define {{.*}} @aheadOfTwo(
// PLAIN-NOT:   @__crsan_md_count_proven(
// PLAIN:       {{^}}}
// CHECK-DAG: kernel: aheadOfTwo{{$}}
KERNEL(aheadOfTwo, for (int K = 0; K < End; ++K), Rows[(K + 1) % 2],
       __syncthreads(), Rows[K % 2])

// PLAIN-LABEL: define {{.*}} @down(
// PLAIN:       call void @__crsan_md_count_proven(
// PLAIN:       {{^}}}
TURNS(down, for (int K = End; K > 0; --K), Rows[K & 1])

// Quotients of negative numbers are rounded up: -1, 0, 0, 1, 2.
// PLAIN-LABEL: define {{.*}} @negative(
// PLAIN-NOT:   @__crsan_md_count_proven(
// PLAIN:       {{^}}}
// CHECK-DAG: kernel: negative{{$}}
TURNS(negative, for (int K = -3; K < End; K += 2), Rows[K / 2 & 1])

// PLAIN-LABEL: define {{.*}} @stages(
// PLAIN:       call void @__crsan_md_count_proven(
// PLAIN:       {{^}}}
TURNS(stages,
      for (int Stage = 0; J < End; ++J, Stage = Stage == 2 ? 0 : Stage + 1),
      Rows[Stage])

// The last stage follows itself.
// PLAIN-LABEL: define {{.*}} @lastStage(
// PLAIN-NOT:   @__crsan_md_count_proven(
// PLAIN:       {{^}}}
// CHECK-DAG: kernel: lastStage{{$}}
TURNS(lastStage,
      for (int Stage = 0; J < End; ++J, Stage = Stage == 2 ? 2 : Stage + 1),
      Rows[Stage])

// PLAIN-LABEL: define {{.*}} @pointers(
// PLAIN:       call void @__crsan_md_count_proven(
// PLAIN:       {{^}}}
TURNS(pointers,
      for (float *Now = Rows[0], *Next = Rows[1], *Spare; J < End;
           ++J, Spare = Now, Now = Next, Next = Spare),
      Now)

// PLAIN-LABEL: define {{.*}} @pointersToOne(
// PLAIN-NOT:   @__crsan_md_count_proven(
// PLAIN:       {{^}}}
// CHECK-DAG: kernel: pointersToOne{{$}}
TURNS(pointersToOne,
      for (float *Now = Rows[0], *Next = Rows[1]; J < End; ++J, Now = Next),
      Now)

// PLAIN-LABEL: define {{.*}} @chosen(
// PLAIN:       call void @__crsan_md_count_proven(
// PLAIN:       {{^}}}
TURNS(chosen, for (int K = 0; K < End; ++K), K & 1 ? Rows[0] : Rows[2])

// Iterations without a barrier.
// PLAIN-LABEL: define {{.*}} @someBarriers(
// PLAIN-NOT:   @__crsan_md_count_proven(
// PLAIN:       {{^}}}
// CHECK-DAG: kernel: someBarriers{{$}}
KERNEL(someBarriers, for (int K = 0; K < End; ++K), Rows[K & 1],
       if (K & 1) __syncthreads(), Rows[K & 1])

// And an iteration that leaves its barrier out.
// PLAIN-LABEL: define {{.*}} @skips(
// PLAIN-NOT:   @__crsan_md_count_proven(
// PLAIN:       {{^}}}
// CHECK-DAG: kernel: skips{{$}}
TURNS(
    skips, for (int K = 0; K < End; ++K) if (K % 3 != 2), Rows[K & 1])

// Several barriers in an iteration, and one row.
// PLAIN-LABEL: define {{.*}} @innerLoop(
// PLAIN-NOT:   @__crsan_md_count_proven(
// PLAIN:       {{^}}}
// CHECK-DAG: kernel: innerLoop{{$}}
TURNS(
    innerLoop,
    for (int K = 0; K < 2; ++K) _Pragma("unroll 1") for (; J < End; ++J),
    Rows[K & 1])

// The first iteration of the second time follows the last one of the first time.
// PLAIN-LABEL: define {{.*}} @twice(
// PLAIN-NOT:   @__crsan_md_count_proven(
// PLAIN:       {{^}}}
// CHECK-DAG: kernel: twice{{$}}
TURNS(twice,
      for (int Time = 0; Time < 2; ++Time) _Pragma("unroll 1")
          for (int K = 0; K < End; ++K),
      Rows[K & 1])

// Whether a row ends before the next one begins depends on the block.
// PLAIN-LABEL: define {{.*}} @rowsOfBlocks(
// PLAIN:       call void @__crsan_md_count_proven(
// PLAIN:       {{^}}}
// CHECK-DAG: kernel: rowsOfBlocks{{$}}
extern "C" __global__ void rowsOfBlocks(int Begin, int End, float *Out) {
  __shared__ float Rows[3][Threads];
  float Sum = 0;
#pragma unroll 1
  for (int K = Begin; K < End; ++K) {
    Rows[K & 1][threadIdx.y * 4 + threadIdx.x] = K;
    __syncthreads();
    for (int I = 0; I < Threads; ++I)
      Sum += Rows[K & 1][I];
  }
  Out[threadIdx.y * 4 + threadIdx.x] = Sum;
}

int main(int Arguments, char **) {
  const bool IsRacy = Arguments > 1;
  float *Out;
  cudaMalloc(&Out, 2 * Threads * sizeof *Out);
  using Kernel = void (*)(int, int, float *);
  const Kernel Racy[] = {quotientsOfHalves, quotientsOfMore, oneRow,
                         everySecond,       stepsOfTwo,      threeOfBytes,      threeOfBits,
                         aheadOfTwo,        negative,        lastStage,
                         pointersToOne,     someBarriers,    skips,
                         innerLoop,         twice};
  const Kernel Apart[] = {quotients, masks,  beginsAnywhere, three, ahead,
                          down,      stages, pointers,       chosen};
  constexpr int Begin = 0, End = 37;
  if (IsRacy)
    for (const Kernel K : Racy)
      K<<<1, Threads>>>(Begin, End, Out);
  else
    for (const Kernel K : Apart)
      K<<<1, Threads>>>(Begin, End, Out);
  rowsOfBlocks<<<1, dim3(4, IsRacy ? 9 : 8)>>>(Begin, End, Out);
  return cudaDeviceSynchronize();
}

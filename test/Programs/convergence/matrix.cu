// Intent: matrix instructions of a warp (ldmatrix, stmatrix, mma.sync, wmma) after the
// warp was split; all elements of a factor are equal and other ones in each round.
// CLEAN-ONLY
// ALSO-GPU: -O1
// ALSO-GPU: -O3
// ARCH: sm_90
#include "split.h"
#include <cuda_fp16.h>
#include <mma.h>

/// How many warps of a block do it; the simulated GPU takes long.
CONSTANT Scaled<Threads / 32, 1> Warps;

/// Two halves, both \p Value.
__device__ unsigned twice(unsigned Value) {
  const __half2 Both = __half2half2(__uint2half_rn(Value));
  return reinterpret_cast<const unsigned &>(Both);
}

/// What each warp has for itself: room for two factors, and a product.
struct Tiles {
  __half A[2][256], B[2][256];
  float D[2][256];
};

struct Matrices : Meeting {
  static constexpr bool CanReturn = false;
  Tiles *Mine;
  __device__ void begin() {
    __shared__ alignas(128) unsigned char Memory[Threads / 32 * sizeof(Tiles)];
    Mine = reinterpret_cast<Tiles *>(Memory) + threadIdx.x / 32;
  }
  /// Each lane fills its part of the factors.
  __device__ void fill(unsigned R) {
#pragma unroll 1
    for (unsigned I = laneOf(); I < 256; I += 32) {
      Mine->A[R % 2][I] = __uint2half_rn(1 + R % 7);
      Mine->B[R % 2][I] = __uint2half_rn(1 + R % 5);
    }
  }
  static __device__ float product(unsigned R) {
    return 16.f * (1 + R % 7) * (1 + R % 5);
  }
};

/// mma.sync with operands that the lanes make.
struct Multiply : Matrices {
  template <typename B> __device__ bool meets(B &, unsigned R) {
    const unsigned A = twice(1 + R % 7), F = twice(1 + R % 5);
    float D[4] = {};
    asm volatile("mma.sync.aligned.m16n8k16.row.col.f32.f16.f16.f32 "
                 "{%0,%1,%2,%3}, {%4,%4,%4,%4}, {%5,%5}, {%0,%1,%2,%3};"
                 : "+f"(D[0]), "+f"(D[1]), "+f"(D[2]), "+f"(D[3])
                 : "r"(A), "r"(F));
    bool Right = true;
    for (float Element : D)
      Right &= Element == product(R);
    return Right;
  }
};

/// The factors come from shared memory, and go back.
struct LoadStore : Matrices {
  template <typename B> __device__ bool meets(B &, unsigned R) {
    if (threadIdx.x / 32 >= Warps)
      return true;
    fill(R);
    __syncwarp();
    const unsigned Row = laneOf() % 16 * 16 + laneOf() / 16 * 8;
    const unsigned A = __cvta_generic_to_shared(Mine->A[R % 2] + Row);
    unsigned X[4];
    asm volatile("ldmatrix.sync.aligned.m8n8.x4.shared.b16 {%0,%1,%2,%3}, [%4];"
                 : "=r"(X[0]), "=r"(X[1]), "=r"(X[2]), "=r"(X[3])
                 : "r"(A)
                 : "memory");
    const unsigned To = __cvta_generic_to_shared(Mine->B[R % 2] + Row);
    // All have read the other factor, which nobody does here.
    __syncwarp();
    asm volatile(
        "stmatrix.sync.aligned.m8n8.x4.shared.b16 [%0], {%1,%2,%3,%4};" ::"r"(
            To),
        "r"(X[0]), "r"(X[1]), "r"(X[2]), "r"(X[3])
        : "memory");
    __syncwarp();
    bool Right = true;
    for (unsigned Part : X)
      Right &= Part == twice(1 + R % 7);
    return Right && __half2uint_rn(Mine->B[R % 2][(laneOf() * 37 + R) % 256]) ==
                        1 + R % 7;
  }
};

struct Fragments : Matrices {
  template <typename B> __device__ bool meets(B &, unsigned R) {
    using namespace nvcuda::wmma;
    if (threadIdx.x / 32 >= Warps)
      return true;
    fill(R);
    __syncwarp();
    fragment<matrix_a, 16, 16, 16, __half, row_major> A;
    fragment<matrix_b, 16, 16, 16, __half, col_major> F;
    fragment<accumulator, 16, 16, 16, float> D;
    fill_fragment(D, 0.f);
    load_matrix_sync(A, Mine->A[R % 2], 16);
    load_matrix_sync(F, Mine->B[R % 2], 16);
    mma_sync(D, A, F, D);
    store_matrix_sync(Mine->D[R % 2], D, 16, mem_row_major);
    __syncwarp();
    bool Right = true;
#pragma unroll 1
    for (unsigned I = laneOf(); I < 256; I += 32)
      Right &= Mine->D[R % 2][I] == product(R);
    return Right;
  }
};

int main() {
  bool Right = RUN_SPLITS(Multiply);
  Right &= RUN_SPLITS(LoadStore);
  Right &= RUN_SPLITS(Fragments);
  return finish(Right);
}

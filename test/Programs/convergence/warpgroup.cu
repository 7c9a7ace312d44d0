// Intent: a warp group multiplies matrices in shared memory (wgmma) and moves registers
// (setmaxnreg) after its warps were split; all elements of a factor are equal.
// CLEAN-ONLY
// GPU-ONLY
// BUILD: --no-offload-arch=sm_90 --offload-arch=sm_90a
// ALSO-GPU: -O1
// ALSO-GPU: -O3
// ARCH: sm_90a
#include "split.h"
#include <cuda_fp16.h>

/// 64 rows of 16 and 8 columns of 16, as 8 by 8 pieces of 128 bytes.
struct Tiles {
  __half A[2][64 * 16], B[2][8 * 16];
};

/// A matrix descriptor without swizzling: \p Bytes between neighbouring pieces in
/// either direction. Since all elements are equal, any order would do.
__device__ unsigned long long describe(const void *Tile, unsigned Bytes) {
  const unsigned long long Address = __cvta_generic_to_shared(Tile);
  return (Address & 0x3ffff) >> 4 | (unsigned long long)(128 >> 4) << 16 |
         (unsigned long long)(Bytes >> 4) << 32;
}

__device__ void multiply(float (&D)[4], const Tiles &T, unsigned Turn) {
  asm volatile("wgmma.fence.sync.aligned;" ::: "memory");
  asm volatile("{ .reg .pred p; setp.ne.b32 p, 0, 1;\n\t"
               "wgmma.mma_async.sync.aligned.m64n8k16.f32.f16.f16 "
               "{%0,%1,%2,%3}, %4, %5, p, 1, 1, 0, 0; }"
               : "+f"(D[0]), "+f"(D[1]), "+f"(D[2]), "+f"(D[3])
               : "l"(describe(T.A[Turn], 256)), "l"(describe(T.B[Turn], 256)));
  asm volatile("wgmma.commit_group.sync.aligned;\n\t"
               "wgmma.wait_group.sync.aligned 0;" ::
                   : "memory");
}

struct Group : Meeting {
  static constexpr bool CanReturn = false;
  Tiles *Shared;
  __device__ void begin() {
    __shared__ alignas(128) unsigned char Memory[sizeof(Tiles)];
    Shared = reinterpret_cast<Tiles *>(Memory);
  }
  template <typename B> __device__ bool meets(B &, unsigned R) {
#pragma unroll 1
    for (unsigned I = threadIdx.x; I < 64 * 16; I += Threads)
      Shared->A[R % 2][I] = __uint2half_rn(1 + R % 7);
    if (threadIdx.x < 8 * 16)
      Shared->B[R % 2][threadIdx.x] = __uint2half_rn(1 + R % 5);
    asm volatile("fence.proxy.async;" ::: "memory");
    asm volatile("barrier.sync 0;" ::: "memory");
    float D[4] = {};
    multiply(D, *Shared, R % 2);
    bool Right = true;
    for (float Element : D)
      Right &= Element == 16.f * (1 + R % 7) * (1 + R % 5);
    return Right;
  }
};

/// Gives registers back and takes them again: 128 of them at first.
struct Registers : Meeting {
  static constexpr unsigned Resident = 4;
  static constexpr bool CanReturn = false;
  template <typename B> __device__ bool meets(B &Cells, unsigned R) {
    asm volatile("setmaxnreg.dec.sync.aligned.u32 64;" ::: "memory");
    asm volatile("barrier.sync 0;" ::: "memory");
    const bool Right = Cells.shows(B::partner(Threads, R), R);
    asm volatile("setmaxnreg.inc.sync.aligned.u32 128;" ::: "memory");
    return Right;
  }
};

int main() {
  bool Right = RUN_SPLITS(Group);
  Right &= RUN_SPLITS(Registers);
  return finish(Right);
}

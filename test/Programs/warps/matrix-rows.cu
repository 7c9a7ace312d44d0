// Intent: the rows that a matrix instruction of a warp reads or writes in shared memory are accesses like
// others: a barrier orders them with those of other warps, and __syncwarp() with those of other lanes. A lane
// may read by ldmatrix what it has written itself, without either.
// FIXED: load -DLOAD
// FIXED: load-transposed -DLOAD -DTRANSPOSED
// FIXED: load-in-warp -DLOAD -DIN_WARP
// FIXED: load-own -DLOAD -DOWN
// FIXED: store -DSTORE
// FIXED: tile-load -DTILE
// FIXED: tile-store -DTILE -DSTORE
// RACY: load-no-barrier -DLOAD -DNO_BARRIER
// RACY: load-transposed-no-barrier -DLOAD -DTRANSPOSED -DNO_BARRIER
// RACY: load-no-syncwarp -DLOAD -DIN_WARP -DNO_BARRIER
// RACY: store-no-barrier -DSTORE -DNO_BARRIER
// RACY: tile-load-no-barrier -DTILE -DNO_BARRIER
// RACY: tile-store-no-barrier -DTILE -DSTORE -DNO_BARRIER
// UNSEEN: collider (load-no-syncwarp): the lanes of the warp come to the matrix instruction together
// ARCH: sm_90
#include "../check.h"
#include <cuda_fp16.h>
#include <mma.h>

constexpr unsigned Size = 16, Words = Size * Size / 2;
CONSTANT Scaled<200, 20> Rounds;

#if defined(IN_WARP) || defined(OWN)
constexpr unsigned Threads = 32, Writer = 0;
#else
constexpr unsigned Threads = 64, Writer = 1;
#endif

__device__ void order() {
#ifndef NO_BARRIER
#if defined(IN_WARP)
  __syncwarp();
#else
  __syncthreads();
#endif
#endif
}

/// What word W of the tile is in round R: two numbers of 16 bits.
__device__ unsigned word(unsigned R, unsigned W) {
  return ((R + 2 * W + 1) << 16 | (R + 2 * W)) & 0x3fff3fff;
}

/// One warp writes a tile of 16 x 16 halves, plainly or by stmatrix, and one reads it.
__global__ void pass(unsigned *Out) {
  __shared__ alignas(32) unsigned Tile[Words];
  const unsigned Lane = threadIdx.x % 32, Warp = threadIdx.x / 32;
  const unsigned At = unsigned(__cvta_generic_to_shared(Tile));
  // Lane I names row I % 16, its left half or its right half.
  const unsigned Row = At + Lane % 16 * 32 + Lane / 16 * 16;
  unsigned Sum = 0;
  for (unsigned R = 0; R < Rounds; ++R) {
    if (Warp == Writer) {
#if defined(STORE) && !defined(TILE)
      const unsigned V = word(R, Lane);
      asm volatile("stmatrix.sync.aligned.m8n8.x4.shared.b16 [%0], {%1, %1, %1, %1};" // RACE
                   ::"r"(Row), "r"(V)
                   : "memory");
#elif defined(STORE)
      nvcuda::wmma::fragment<nvcuda::wmma::accumulator, 16, 16, 16, __half> F;
      for (int I = 0; I < F.num_elements; ++I)
        F.x[I] = __half(float(R % 64));
      nvcuda::wmma::store_matrix_sync(reinterpret_cast<__half *>(Tile), F, 16, // RACE
                                      nvcuda::wmma::mem_row_major);
#elif defined(OWN)
      // As ldmatrix distributes them: lane 4 r + c has word c of row r.
      for (unsigned I = 0; I < 4; ++I)
        Tile[(Lane / 4 + I % 2 * 8) * 8 + Lane % 4 + I / 2 * 4] = word(R, Lane);
#else
      for (unsigned I = 0; I < Words / 32; ++I)
        Tile[(Lane * 5 + I * 32) % Words] = word(R, (Lane * 5 + I * 32) % Words); // RACE
#endif
    }
#ifdef OWN
    if (Warp == Writer) {
#else
    order();
    if (Warp == 0) {
#endif
#if defined(STORE)
      Sum += Tile[Lane * 3 % Words]; // RACE
#elif defined(LOAD)
      unsigned A, B, C, D;
#ifdef TRANSPOSED
      asm volatile("ldmatrix.sync.aligned.m8n8.x4.trans.shared.b16 {%0, %1, %2, %3}, [%4];" // RACE
#else
      asm volatile("ldmatrix.sync.aligned.m8n8.x4.shared.b16 {%0, %1, %2, %3}, [%4];" // RACE
#endif
                   : "=r"(A), "=r"(B), "=r"(C), "=r"(D)
                   : "r"(Row)
                   : "memory");
      Sum += A + B + C + D;
#else
      nvcuda::wmma::fragment<nvcuda::wmma::matrix_a, 16, 16, 16, __half, nvcuda::wmma::row_major> F;
      nvcuda::wmma::load_matrix_sync(F, reinterpret_cast<const __half *>(Tile), 16); // RACE
      Sum += unsigned(float(F.x[0]) != 12345.0f);
#endif
    }
    order();
  }
  if (Warp == 0)
    Out[Lane] = Sum;
}

int main() {
  unsigned *Out = zeroed<unsigned>(32);
  pass<<<1, Threads>>>(Out);
  return finish(matches(Out, 32, [](size_t Lane) {
    unsigned Sum = 0;
    auto Word = [](unsigned R, unsigned W) { return ((R + 2 * W + 1) << 16 | (R + 2 * W)) & 0x3fff3fff; };
    for (unsigned R = 0; R < Rounds; ++R) {
#if defined(STORE) && !defined(TILE)
      // Word c of a row is that of lane 4 r + c.
      const unsigned W = Lane * 3 % Words, Row = W / 8, Column = W % 8;
      Sum += Word(R, Row % 8 * 4 + Column % 4);
#elif defined(STORE)
      const __half H = __half(float(R % 64));
      const unsigned short Bits = __half_as_ushort(H);
      Sum += unsigned(Bits) << 16 | Bits;
#elif defined(OWN)
      // Each lane reads the words that it has written.
      Sum += 4 * Word(R, Lane);
#elif defined(LOAD) && !defined(TRANSPOSED)
      for (unsigned I = 0; I < 4; ++I)
        Sum += Word(R, (Lane / 4 + I % 2 * 8) * 8 + Lane % 4 + I / 2 * 4);
#elif defined(LOAD)
      auto Half = [&](unsigned Row, unsigned Column) {
        return Word(R, Row * 8 + Column / 2) >> (Column % 2 * 16) & 0xffff;
      };
      for (unsigned I = 0; I < 4; ++I) {
        const unsigned Top = I % 2 * 8, Left = I / 2 * 8, Column = Left + Lane / 4;
        Sum += Half(Top + Lane % 4 * 2, Column) | Half(Top + Lane % 4 * 2 + 1, Column) << 16;
      }
#else
      Sum += 1;
#endif
    }
    return Sum;
  }));
}

// Intent: the warps of a block add up products under locks of block scope, then
// the blocks that share a row under one of device scope.
// FIXED: device
// RACY: lock-block -DBLOCK_LOCK
// RACY: lock-fences -DFENCE=__threadfence_block
// RACY: lock-swap -DSWAP=atomicCAS_block
// RACY: lock-exchange -DEXCHANGE=atomicExch_block
// UNSEEN: collider: no value changes while a check looks at it
#include "../check.h"
#include "locks.h"

// A block computes a slice of the sums of some rows; a warp, a part of these, with
// a lane for each column.
constexpr unsigned Columns = 30, Warps = 4, RowsABlock = 8, Slices = 4;
CONSTANT Scaled<16384, 2 * RowsABlock> Rows;
CONSTANT Scaled<4096, 64> Inner;

__global__ void multiply(const unsigned *A, const unsigned *B, unsigned *Partial,
                         unsigned *LocalLocks, unsigned *C, unsigned *Locks) {
  unsigned Warp = threadIdx.x / 32, Lane = threadIdx.x % 32;
  unsigned FirstRow = blockIdx.x * RowsABlock, Part = Inner / Slices / Warps;
  unsigned First = (blockIdx.y * Warps + Warp) * Part;
  unsigned Local = (blockIdx.y * gridDim.x + blockIdx.x) * RowsABlock;
  for (unsigned R = 0; R < RowsABlock; ++R) {
    unsigned Sum = 0;
    for (unsigned K = First; Lane < Columns && K < First + Part; ++K)
      Sum += A[(FirstRow + R) * Inner + K] * B[K * Columns + Lane];
    lockInBlock(&LocalLocks[Local + R]);
    if (Lane < Columns)
      Partial[(Local + R) * Columns + Lane] += Sum;
    unlockInBlock(&LocalLocks[Local + R]);
  }
  __syncthreads();
  for (unsigned R = Warp; R < RowsABlock; R += Warps) {
    lock(&Locks[FirstRow + R]);
    if (Lane < Columns)
      C[(FirstRow + R) * Columns + Lane] += // RACE
          Partial[(Local + R) * Columns + Lane];
    unlock(&Locks[FirstRow + R]);
  }
}

int main() {
  std::vector<unsigned> A(size_t(Rows) * Inner), B(Inner * Columns);
  for (size_t I = 0; I < A.size(); ++I)
    A[I] = I * 2654435761u >> 13;
  for (size_t I = 0; I < B.size(); ++I)
    B[I] = I * 40503 + 7;
  unsigned *C = zeroed<unsigned>(Rows * Columns);
  dim3 Grid(Rows / RowsABlock, Slices);
  multiply<<<Grid, Warps * 32>>>(
      upload(A), upload(B), zeroed<unsigned>(Rows * Slices * Columns),
      zeroed<unsigned>(Rows * Slices), C, zeroed<unsigned>(Rows));

  // C = A B if C x = A (B x): x has bits of all columns.
  std::vector<unsigned> Product = download(C, Rows * Columns), X(Columns);
  for (unsigned J = 0; J < Columns; ++J)
    X[J] = 2 * J * 2654435761u + 1;
  std::vector<unsigned> BX(Inner);
  for (unsigned K = 0; K < Inner; ++K)
    for (unsigned J = 0; J < Columns; ++J)
      BX[K] += B[K * Columns + J] * X[J];
  bool Right = true;
  for (unsigned I = 0; I < Rows; ++I) {
    unsigned Want = 0, Is = 0;
    for (unsigned K = 0; K < Inner; ++K)
      Want += A[size_t(I) * Inner + K] * BX[K];
    for (unsigned J = 0; J < Columns; ++J)
      Is += Product[I * Columns + J] * X[J];
    Right &= Is == Want;
  }
  return finish(Right);
}

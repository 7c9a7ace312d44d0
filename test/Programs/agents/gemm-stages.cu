// Intent: a matrix product whose tiles come by cp.async, several stages ahead. A thread
// waits for its own copies, and a barrier hands the stage on and says that the stage before
// is free. The racy twins wait for one group too few, lack the barrier, or refill a stage
// in front of the barrier.
// FIXED: three-stages
// FIXED: four-stages -DSTAGES=4
// FIXED: library -DLIBRARY
// RACY: one-too-few -DKEEP=STAGES-1
// RACY: no-barrier -DNO_BARRIER
// RACY: refills-too-early -DREFILL_EARLY
// RACY: one-too-few-library -DLIBRARY -DKEEP=STAGES-1
// ARCH: sm_80
#include "asynchronous.h"

#include <cuda/pipeline>

#ifndef STAGES
#define STAGES 3
#endif
#ifndef KEEP
#define KEEP (STAGES - 2)
#endif

constexpr unsigned Edge = 16, Threads = 64, Quads = Edge / 4;
CONSTANT Scaled<256, 16> Size; ///< Of C, in both directions.
CONSTANT Scaled<256, 64> Depth;

#ifdef LIBRARY
#define COPY(To, From)                                                         \
  cuda::memcpy_async(To, From, cuda::aligned_size_t<16>(16), Pipe)
#define COMMIT Pipe.producer_commit()
#define WAIT cuda::pipeline_consumer_wait_prior<KEEP>(Pipe)
#else
#define COPY COPY16
#define COMMIT commitCopies()
#define WAIT awaitCopies<KEEP>()
#endif

struct Stage {
  int A[Edge][Edge], B[Edge][Edge];
};

/// A block makes a tile of C, a thread four elements of it. A and the transposed B are
/// stored row by row.
__global__ void multiply(const int *A, const int *B, int *C) {
  __shared__ alignas(16) Stage Stages[STAGES];
  [[maybe_unused]] auto Pipe = cuda::make_pipeline();
  const unsigned T = threadIdx.x, Row = T / Quads, Quad = T % Quads * 4;
  const unsigned Steps = Depth / Edge;
  const int *FromA = A + (blockIdx.y * Edge + Row) * Depth + Quad;
  const int *FromB = B + (blockIdx.x * Edge + Row) * Depth + Quad;
  auto Refill = [&](unsigned Step) {
    Stage &S = Stages[Step % STAGES];
    if (Step < Steps) {
      COPY(&S.A[Row][Quad], FromA + Step * Edge); // RACE
      COPY(&S.B[Row][Quad], FromB + Step * Edge); // RACE
    }
    COMMIT; // An empty group at the end, so that the count holds.
  };
  int Sum[4] = {};
  for (unsigned Step = 0; Step + 1 < STAGES; ++Step)
    Refill(Step);
  for (unsigned Step = 0; Step < Steps; ++Step) {
    WAIT;
#ifdef REFILL_EARLY
    Refill(Step + STAGES - 1);
#endif
#ifndef NO_BARRIER
    __syncthreads();
#endif
#ifndef REFILL_EARLY
    Refill(Step + STAGES - 1);
#endif
    const Stage &S = Stages[Step % STAGES];
    for (unsigned K = 0; K < Edge; ++K) {
      const int Left = S.A[Row][K]; // RACE
      for (unsigned J = 0; J < 4; ++J)
        Sum[J] += Left * S.B[Quad + J][K]; // RACE
    }
  }
  for (unsigned J = 0; J < 4; ++J)
    C[(blockIdx.y * Edge + Row) * Size + blockIdx.x * Edge + Quad + J] = Sum[J];
}

int main() {
  const unsigned N = Size, D = Depth;
  std::vector<int> A(N * D), B(N * D), Want(N * N);
  for (unsigned I = 0; I < N * D; ++I) {
    A[I] = int(I * 7 % 23) - 11;
    B[I] = int(I * 5 % 19) - 9;
  }
  for (unsigned I = 0; I < N; ++I)
    for (unsigned J = 0; J < N; ++J)
      for (unsigned K = 0; K < D; ++K)
        Want[I * N + J] += A[I * D + K] * B[J * D + K];
  int *C = zeroed<int>(N * N);
  multiply<<<dim3(N / Edge, N / Edge), Threads>>>(upload(A), upload(B), C);
  return finish(matches(C, N * N, [&](size_t I) { return Want[I]; }));
}

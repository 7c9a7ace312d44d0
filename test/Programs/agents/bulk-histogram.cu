// Intent: blocks count values in shared memory and add their counts to the whole
// histogram by bulk reductions (cp.reduce.async.bulk). The counts are cleared when they
// have been read. The racy twins clear them too early, or read the histogram before the
// reductions are done.
// FIXED: fixed
// RACY: cleared-too-early -DCLEAR_EARLY
// RACY: read-too-early -DREAD_EARLY
// UNSEEN: collider (read-too-early): the reduction is over before the check begins
// ARCH: sm_90
#include "asynchronous.h"

constexpr unsigned Bins = 64, Threads = Bins, Blocks = 4, Each = 4;
CONSTANT Scaled<64, 8> Rounds;

#define BULK_ADD(To, From, Bytes)                                              \
  asm volatile("cp.reduce.async.bulk.global.shared::cta.bulk_group.add.u32 "   \
               "[%0], [%1], %2;" ::"l"(To),                                    \
               "r"(shared(From)), "r"(unsigned(Bytes))                         \
               : "memory")

__device__ __host__ unsigned valueAt(unsigned I) { return (I * 37 + I / 91) % Bins; }

/// All blocks add to `Whole`. Each adds to a row of its own in each round too, which it
/// then reads.
__global__ void count(unsigned *Whole, unsigned *Rows, unsigned *Out) {
  __shared__ alignas(128) unsigned Counts[Bins];
  const unsigned T = threadIdx.x, B = blockIdx.x;
  unsigned Sum = 0;
  Counts[T] = 0;
  __syncthreads();
  for (unsigned R = 0; R < Rounds; ++R) {
    for (unsigned I = 0; I < Each; ++I)
      atomicAdd(&Counts[valueAt(((R * Blocks + B) * Each + I) * Threads + T)], 1);
    fenceForCopies();
    __syncthreads();
    unsigned *Row = Rows + (B * Rounds + R) * Bins;
    if (T == 0) {
      BULK_ADD(Whole, Counts, sizeof Counts); // RACE: cleared-too-early
      BULK_ADD(Row, Counts, sizeof Counts);   // RACE
      commitBulk();
#ifndef CLEAR_EARLY
      awaitBulkReads();
#endif
    }
    __syncthreads();
    Counts[T] = 0; // RACE: cleared-too-early
#ifndef READ_EARLY
    if (T == 0)
      awaitBulk();
#endif
    __syncthreads();
    Sum += Row[T]; // RACE: read-too-early
  }
  if (T == 0)
    awaitBulk();
  Out[B * Bins + T] = Sum;
}

int main() {
  unsigned *Whole = zeroed<unsigned>(Bins), *Out = zeroed<unsigned>(Blocks * Bins);
  unsigned *Rows = zeroed<unsigned>(Blocks * Rounds * Bins);
  count<<<Blocks, Threads>>>(Whole, Rows, Out);
  std::vector<unsigned> InAll(Bins), InBlock(Blocks * Bins);
  for (unsigned I = 0; I < Rounds * Blocks * Each * Threads; ++I) {
    ++InAll[valueAt(I)];
    ++InBlock[I / Threads / Each % Blocks * Bins + valueAt(I)];
  }
  return finish(
      matches(Whole, Bins, [&](size_t I) { return InAll[I]; }) &&
      matches(Out, Blocks * Bins, [&](size_t I) { return InBlock[I]; }));
}

// Intent: one statement of assembly acquires what a block has written, and hands it on.
// FIXED: acquire-release -DACQUIRE_RELEASE
// FIXED: update -DUPDATE
// FIXED: fences -DFENCES
// FIXED: barrier -DBARRIER
// FIXED: fence-barrier -DFENCE_BARRIER
// FIXED: warp-barrier -DWARP_BARRIER
// FIXED: loop -DLOOP
// RACY: impatient -DACQUIRE_RELEASE -DIMPATIENT
// RACY: no-fence -DFENCES -DTELL=relaxed
// RACY: no-barrier-fence -DFENCE_BARRIER -DTELL=relaxed
// UNSEEN: collider (no-barrier-fence no-fence): no value changes while a check looks at it
#include "../check.h"

#ifndef TELL
#define TELL released
#endif

constexpr unsigned Threads = 64, Rows = 16, N = Threads * Rows;

__device__ void relaxed(unsigned *Flag) { atomicExch(Flag, 1); }
__device__ void released(unsigned *Flag) {
  __threadfence();
  atomicExch(Flag, 1);
}

/// Reads, but acquires nothing.
__device__ void await(unsigned *Flag) {
  while (atomicAdd(Flag, 0) == 0)
    ;
}

/// `From` has been set. Sets `To`, or meets at a barrier.
__device__ void handOn(unsigned *From, unsigned *To) {
  unsigned Value;
#if defined(ACQUIRE_RELEASE)
  asm volatile("ld.acquire.gpu.u32 %0, [%1]; st.release.gpu.u32 [%2], 1;"
               : "=r"(Value)
               : "l"(From), "l"(To)
               : "memory");
#elif defined(UPDATE)
  asm volatile("ld.acquire.gpu.u32 %0, [%1]; red.release.gpu.add.u32 [%2], 1;"
               : "=r"(Value)
               : "l"(From), "l"(To)
               : "memory");
#elif defined(FENCES)
  asm volatile("fence.acq_rel.gpu; st.relaxed.gpu.u32 [%0], 1;" ::"l"(To)
               : "memory");
#elif defined(BARRIER)
  asm volatile("ld.acquire.gpu.u32 %0, [%1]; bar.sync 0;"
               : "=r"(Value)
               : "l"(From)
               : "memory");
#elif defined(FENCE_BARRIER)
  asm volatile("membar.gl; bar.sync 0;" ::: "memory");
#elif defined(WARP_BARRIER)
  asm volatile("ld.acquire.gpu.u32 %0, [%1]; bar.warp.sync 0xffffffff;"
               : "=r"(Value)
               : "l"(From)
               : "memory");
#elif defined(LOOP)
  asm volatile("{ .reg .pred P;\n"
               "Wait: ld.acquire.gpu.u32 %0, [%1];\n"
               "setp.eq.u32 P, %0, 0;\n"
               "@P bra Wait;\n"
               "st.release.gpu.u32 [%2], 1; }"
               : "=&r"(Value)
               : "l"(From), "l"(To)
               : "memory");
#endif
}

/// Blocks write, relay and read, one of each in a row.
__global__ void relay(unsigned *Cells, unsigned *First, unsigned *Second,
                      unsigned *Out) {
  unsigned Role = blockIdx.x / Rows, Row = blockIdx.x % Rows;
  unsigned I = Row * Threads + threadIdx.x;
  First += Row;
  Second += Row;
  if (Role == 0) {
    Cells[I] = I + 1; // RACE
    __syncthreads();
    if (threadIdx.x == 0)
      TELL(First);
    return;
  }
#if defined(BARRIER) || defined(FENCE_BARRIER)
  if (threadIdx.x < 32) {
    await(First);
    handOn(First, Second);
  } else
    __syncthreads();
#elif defined(WARP_BARRIER)
  if (threadIdx.x % 32 == 0) {
    await(First);
    handOn(First, Second);
  } else
    __syncwarp();
#else
#ifndef IMPATIENT
  if (Role == 1 && threadIdx.x == 0) {
#else
  if (threadIdx.x == 0) {
#endif
    await(First);
    handOn(First, Second);
  }
  if (Role == 1)
    return;
#ifndef IMPATIENT
  if (threadIdx.x == 0) {
    await(Second);
    __threadfence();
  }
  __syncthreads();
#endif
#endif
  Out[blockIdx.x * Threads + threadIdx.x] = Cells[I]; // RACE
}

int main() {
  unsigned *Cells = zeroed<unsigned>(N), *Out = zeroed<unsigned>(3 * N);
  relay<<<3 * Rows, Threads>>>(Cells, zeroed<unsigned>(Rows),
                               zeroed<unsigned>(Rows), Out);
  return finish(matches(Out + 2 * N, N, [](size_t I) { return unsigned(I + 1); }));
}

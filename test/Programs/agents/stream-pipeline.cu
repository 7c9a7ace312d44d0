// Intent: three streams upload parts, work on them, and download the results, with two
// buffers each; events order a part's three steps and the reuse of the buffers. The racy
// twins lack one of these orders.
// FIXED: fixed
// RACY: work-too-early -DNO_UPLOADED
// RACY: download-too-early -DNO_WORKED
// RACY: upload-too-early -DNO_INPUT_FREE
// RACY: work-overwrites -DNO_OUTPUT_FREE
// UNSEEN: collider: a copy or a kernel is seldom under way while a check looks at a cell
#include "../streams/streams.h"

constexpr unsigned Threads = 64, Blocks = 2, N = Threads * Blocks;
constexpr unsigned Buffers = 2, Parts = 8, Bytes = N * sizeof(unsigned);
CONSTANT Scaled<100, 10> Rounds;

/// Each thread adds up the part from its own cell on, again and again.
__global__ void work(const unsigned *In, unsigned *Out, unsigned Rounds) {
  const unsigned I = blockIdx.x * Threads + threadIdx.x;
  unsigned Sum = 0;
  for (unsigned R = 0; R < Rounds; ++R) {
    Sum += In[(I + R) % N]; // RACE: work-too-early upload-too-early
    Out[I] = Sum;           // RACE: download-too-early work-overwrites
    __syncthreads();
  }
}

/// What orders the steps of one buffer.
struct Buffer {
  unsigned *In = zeroed<unsigned>(N), *Out = zeroed<unsigned>(N);
  cudaEvent_t Uploaded = makeEvent(), Worked = makeEvent(), Downloaded = makeEvent();
};

struct Streams {
  cudaStream_t Upload = makeStream(), Work = makeStream(), Download = makeStream();
};

static void pass(Buffer &B, const Streams &S, const unsigned *From, unsigned *To) {
  // An event that nobody has recorded yet holds nobody up.
#ifndef NO_INPUT_FREE
  CHECK(cudaStreamWaitEvent(S.Upload, B.Worked));
#endif
  CHECK(cudaMemcpyAsync(B.In, From, Bytes, cudaMemcpyHostToDevice, S.Upload)); // RACE
  CHECK(cudaEventRecord(B.Uploaded, S.Upload));
#ifndef NO_UPLOADED
  CHECK(cudaStreamWaitEvent(S.Work, B.Uploaded));
#endif
#ifndef NO_OUTPUT_FREE
  CHECK(cudaStreamWaitEvent(S.Work, B.Downloaded));
#endif
  work<<<Blocks, Threads, 0, S.Work>>>(B.In, B.Out, Rounds);
  CHECK(cudaEventRecord(B.Worked, S.Work));
#ifndef NO_WORKED
  CHECK(cudaStreamWaitEvent(S.Download, B.Worked));
#endif
  CHECK(cudaMemcpyAsync(To, B.Out, Bytes, cudaMemcpyDeviceToHost, S.Download)); // RACE
  CHECK(cudaEventRecord(B.Downloaded, S.Download));
}

int main() {
  Buffer All[Buffers];
  const Streams S;
  unsigned *In, *Out;
  CHECK(cudaMallocHost(&In, Parts * Bytes));
  CHECK(cudaMallocHost(&Out, Parts * Bytes));
  for (unsigned I = 0; I < Parts * N; ++I)
    In[I] = I % 1009 + I / N;
  // A first launch loads the kernel, which may wait for what is running.
  work<<<Blocks, Threads, 0, S.Work>>>(All[0].In, All[0].Out, 0);
  CHECK(cudaDeviceSynchronize());
  for (unsigned P = 0; P < Parts; ++P)
    pass(All[P % Buffers], S, In + P * N, Out + P * N);
  CHECK(cudaDeviceSynchronize());
  bool Right = true;
  for (unsigned I = 0; I < Parts * N; ++I) {
    unsigned Want = 0;
    for (unsigned R = 0; R < Rounds; ++R)
      Want += In[I / N * N + (I + R) % N];
    Right &= Out[I] == Want;
  }
  return finish(Right);
}

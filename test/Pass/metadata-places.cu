// Intent: kernels whose threads access places of their own, as loops, conditions and quotients of
// indices say, execute a body without checks; their twins, in which two threads share a place, do not.
// REQUIRES: plugin
// RUN: %crsan_clangxx -fsanitize=cuda-race -fsanitize-cuda-race-mode=metadata -O2 \
// RUN:   --cuda-device-only --cuda-gpu-arch=sm_80 -S -emit-llvm %s -o - | FileCheck %s

// Only the body without checks counts its accesses by one call; the kernel executes it if the
// condition holds that it computes from the launch's extents.

// CHECK-LABEL: define {{.*}} @gridStride(
// CHECK:       call void @__crsan_md_count_proven(
// CHECK:       {{^}}}
extern "C" __global__ void gridStride(int N, float *Out) {
  for (int I = blockIdx.x * blockDim.x + threadIdx.x; I < N;
       I += gridDim.x * blockDim.x)
    Out[I] = I;
}

// One index is the next thread's, too.
// CHECK-LABEL: define {{.*}} @gridStrideAndNext(
// CHECK-NOT:   @__crsan_md_count_proven(
// CHECK:       {{^}}}
extern "C" __global__ void gridStrideAndNext(int N, float *Out) {
  for (int I = blockIdx.x * blockDim.x + threadIdx.x; I < N;
       I += gridDim.x * blockDim.x) {
    Out[I] = I;
    Out[I + 1] = I;
  }
}

// The steps of threads differ.
// CHECK-LABEL: define {{.*}} @stepsOfThreads(
// CHECK-NOT:   @__crsan_md_count_proven(
// CHECK:       {{^}}}
extern "C" __global__ void stepsOfThreads(int N, int Step, float *Out) {
#pragma unroll 1
  for (int I = threadIdx.x; I < N; I += Step + threadIdx.x)
    Out[I] = I;
}

// CHECK-LABEL: define {{.*}} @stepsOfTwoKinds(
// CHECK-NOT:   @__crsan_md_count_proven(
// CHECK:       {{^}}}
extern "C" __global__ void stepsOfTwoKinds(int N, int Step, float *Out) {
  const int Mine = threadIdx.x & 1 ? Step + 1 : Step;
#pragma unroll 1
  for (int I = threadIdx.x; I < N; I += Mine)
    Out[I] = I;
}

// Two accesses go on with different steps, of which each moves threads apart.
// CHECK-LABEL: define {{.*}} @multiplesOfOneCounter(
// CHECK-NOT:   icmp sge i64 12,
// CHECK:       icmp sge i64 8,
// CHECK:       {{^}}}
extern "C" __global__ void multiplesOfOneCounter(int N, float *Out) {
#pragma unroll 1
  for (int I = 0; I < N; ++I) {
    Out[threadIdx.x + I] = I;
    Out[threadIdx.x + 2 * I] = I;
  }
}

// Each thread has two places more than iterations.
// CHECK-LABEL: define {{.*}} @boundedAndNot(
// CHECK:       [[LAST:%.+]] = add i64 %{{.+}}, 2
// CHECK-NEXT:  icmp ult i64 [[LAST]], 2147483648
// CHECK:       {{^}}}
extern "C" __global__ void boundedAndNot(int N, int Step, float *Out) {
  const int First = (int)threadIdx.x * Step;
#pragma unroll 1
  for (int I = 0; I < N; ++I) {
    if (I < 4) {
      Out[First + I + 1] = I;
      Out[First + I + 2] = Step;
    }
    Out[First + I] = N;
  }
}

// CHECK-LABEL: define {{.*}} @rows(
// CHECK:       call void @__crsan_md_count_proven(
// CHECK:       {{^}}}
extern "C" __global__ void rows(int Columns, float *Out) {
  const int Row = blockIdx.x * blockDim.x + threadIdx.x;
#pragma unroll 1
  for (int Column = 0; Column < Columns; ++Column)
    Out[Row * Columns + Column] = Column;
}

// CHECK-LABEL: define {{.*}} @warpsOfRows(
// CHECK:       call void @__crsan_md_count_proven(
// CHECK:       {{^}}}
extern "C" __global__ void warpsOfRows(float *Out) {
  const int Thread = blockIdx.x * blockDim.x + threadIdx.x;
  if (threadIdx.x % 32 == 0)
    Out[Thread / 32] = 1;
}

// All lanes of a warp share a place.
// CHECK-LABEL: define {{.*}} @warpsOfRowsByAll(
// CHECK:       [[LANE:%.+]] = call i64 @llvm.umin.i64(i64 %{{.+}}, i64 31)
// CHECK-NEXT:  icmp eq i64 [[LANE]], 0
// CHECK:       {{^}}}
extern "C" __global__ void warpsOfRowsByAll(float *Out) {
  const int Thread = blockIdx.x * blockDim.x + threadIdx.x;
  Out[Thread / 32] = Thread;
}

// CHECK-LABEL: define {{.*}} @transposed(
// CHECK:       call void @__crsan_md_count_proven(
// CHECK:       {{^}}}
extern "C" __global__ void transposed(int Width, float *Out) {
  const int X = blockIdx.x * 32 + threadIdx.x;
  for (int Y = threadIdx.y; Y < 32; Y += 8)
    Out[(blockIdx.y * 32 + Y) * Width + X] = Y;
}

// CHECK-LABEL: define {{.*}} @tree(
// CHECK:       call void @__crsan_md_count_proven(
// CHECK:       {{^}}}
extern "C" __global__ void tree(const float *In, float *Out) {
  __shared__ float Sums[256];
  const unsigned T = threadIdx.x;
  Sums[T] = In[T];
  __syncthreads();
#pragma unroll 1
  for (unsigned Half = blockDim.x / 2; Half > 0; Half /= 2) {
    if (T < Half)
      Sums[T] += Sums[T + Half];
    __syncthreads();
  }
  if (T == 0)
    Out[blockIdx.x] = Sums[0];
}

// A thread reads what the next one writes.
// CHECK-LABEL: define {{.*}} @treeWithOneMore(
// CHECK-NOT:   @__crsan_md_count_proven(
// CHECK:       {{^}}}
extern "C" __global__ void treeWithOneMore(const float *In, float *Out) {
  __shared__ float Sums[256];
  const unsigned T = threadIdx.x;
  Sums[T] = In[T];
  __syncthreads();
#pragma unroll 1
  for (unsigned Half = blockDim.x / 2; Half > 0; Half /= 2) {
    if (T <= Half)
      Sums[T] += Sums[T + Half];
    __syncthreads();
  }
  if (T == 0)
    Out[blockIdx.x] = Sums[0];
}

// The step is another one where the thread that it reads from writes.
// CHECK-LABEL: define {{.*}} @treeWithoutBarrier(
// CHECK-NOT:   @__crsan_md_count_proven(
// CHECK:       {{^}}}
extern "C" __global__ void treeWithoutBarrier(const float *In, float *Out) {
  __shared__ float Sums[256];
  const unsigned T = threadIdx.x;
  Sums[T] = In[T];
  __syncthreads();
#pragma unroll 1
  for (unsigned Half = blockDim.x / 2; Half > 0; Half /= 2)
    if (T < Half)
      Sums[T] += Sums[T + Half];
  __syncthreads();
  if (T == 0)
    Out[blockIdx.x] = Sums[0];
}

// Blocks of up to 256 threads write 256 places and, the first four, eight more.
// CHECK-LABEL: define {{.*}} @margins(
// CHECK:       icmp ule i32 %{{.+}}, 256
// CHECK:       call void @__crsan_md_count_proven(
// CHECK:       {{^}}}
extern "C" __global__ void margins(const float *In, float *Out) {
  __shared__ float Tile[264];
  const int T = threadIdx.x;
  Tile[T + 4] = In[T];
  if (T < 4) {
    Tile[T] = 0;
    Tile[T + 260] = 0;
  }
  __syncthreads();
  Out[blockIdx.x * blockDim.x + T] = Tile[T] + Tile[T + 8];
}

// The fifth one writes the first one's.
// CHECK-LABEL: define {{.*}} @marginsOfFive(
// CHECK-NOT:   icmp ule i32 %{{.+}}, 256
// CHECK:       {{^}}}
extern "C" __global__ void marginsOfFive(const float *In, float *Out) {
  __shared__ float Tile[264];
  const int T = threadIdx.x;
  Tile[T + 4] = In[T];
  if (T < 5)
    Tile[T] = 0;
  __syncthreads();
  Out[blockIdx.x * blockDim.x + T] = Tile[T] + Tile[T + 4];
}

// A tile that is wider than the block, and not a multiple of it.
// CHECK-LABEL: define {{.*}} @tile(
// CHECK:       call void @__crsan_md_count_proven(
// CHECK:       {{^}}}
extern "C" __global__ void tile(int Width, const float *In, float *Out) {
  __shared__ float Tile[22][22];
  for (int Row = threadIdx.y; Row < 22; Row += 16)
    for (int Column = threadIdx.x; Column < 22; Column += 16)
      Tile[Row][Column] = In[Row * Width + Column];
  __syncthreads();
  const int I = blockIdx.x * 16 + threadIdx.x, J = blockIdx.y * 16 + threadIdx.y;
  Out[J * Width + I] = Tile[threadIdx.y + 6][threadIdx.x + 6];
}

// Rows and columns of a tile.
// CHECK-LABEL: define {{.*}} @tileOfRows(
// CHECK:       call void @__crsan_md_count_proven(
// CHECK:       {{^}}}
extern "C" __global__ void tileOfRows(int N, float *Out) {
  const int Row = blockIdx.y * 64 + threadIdx.y;
  const int Column = blockIdx.x * 64 + threadIdx.x;
  for (int I = 0; I < 4; ++I)
    for (int J = 0; J < 4; ++J)
      Out[(Row + I * 16) * N + Column + J * 16] = I;
}

// Columns of the next thread.
// CHECK-LABEL: define {{.*}} @tileOfNext(
// CHECK-NOT:   @__crsan_md_count_proven(
// CHECK:       {{^}}}
extern "C" __global__ void tileOfNext(int N, float *Out) {
  const int Row = blockIdx.y * 64 + threadIdx.y;
  const int Column = blockIdx.x * 64 + threadIdx.x;
  for (int I = 0; I < 4; ++I)
    for (int J = 0; J < 4; ++J)
      Out[(Row + I * 16) * N + Column + J] = I;
}

// The remainder is one of x alone, since y moves the whole by a multiple.
// CHECK-LABEL: define {{.*}} @remainderOfLess(
// CHECK:       call void @__crsan_md_count_proven(
// CHECK:       {{^}}}
extern "C" __global__ void remainderOfLess(float *Out) {
  __shared__ float Tile[8][65];
  const int T = threadIdx.y * 16 + threadIdx.x;
  for (int I = T; I < 512; I += 256)
    Tile[I % 8][I / 8] = I;
  __syncthreads();
  Out[blockIdx.x * 256 + T] = Tile[T / 64][T % 64];
}

// CHECK-LABEL: define {{.*}} @remainderOfOther(
// CHECK-NOT:   @__crsan_md_count_proven(
// CHECK:       {{^}}}
extern "C" __global__ void remainderOfOther(float *Out) {
  __shared__ float Tile[8][65];
  const int T = threadIdx.y * 12 + threadIdx.x;
  for (int I = T; I < 512; I += 256)
    Tile[threadIdx.x % 8][I / 8] = I;
  __syncthreads();
  Out[blockIdx.x * 256 + T] = Tile[T / 64][T % 64];
}

// Intent: kernels without launch bounds run with blocks of every size: sorting, merging,
// a radix pass and a histogram.
// CLEAN-ONLY
#include "launch.h"
#include <algorithm>

__global__ void bitonicSort(unsigned *Data) {
  __shared__ unsigned Keys[2048];
  const unsigned T = threadIdx.x, N = blockDim.x, Base = blockIdx.x * 2 * N;
  Keys[T] = Data[Base + T];
  Keys[T + N] = Data[Base + T + N];
  for (unsigned Length = 2; Length <= 2 * N; Length *= 2)
    for (unsigned Stride = Length / 2; Stride > 0; Stride /= 2) {
      __syncthreads();
      const unsigned I = 2 * T - (T & (Stride - 1)), J = I + Stride;
      const unsigned A = Keys[I], B = Keys[J];
      if ((A > B) == ((I & Length) == 0)) {
        Keys[I] = B;
        Keys[J] = A;
      }
    }
  __syncthreads();
  Data[Base + T] = Keys[T];
  Data[Base + T + N] = Keys[T + N];
}

bool trySort(unsigned Block) {
  std::vector<unsigned> Data = numbers(Grid * 2 * Block, 100000);
  unsigned *Device = upload(Data);
  for (unsigned B = 0; B < Grid; ++B)
    std::sort(Data.begin() + B * 2 * Block, Data.begin() + (B + 1) * 2 * Block);
  return LAUNCH(bitonicSort, Grid, Block, Device) &&
         matches(Device, Data.size(), [&](size_t I) { return Data[I]; });
}

CONSTANT Scaled<512, 4> Transpositions;

__global__ void oddEvenSort(unsigned *Data) {
  __shared__ unsigned Keys[2048];
  const unsigned T = threadIdx.x, N = 2 * blockDim.x, Base = blockIdx.x * N;
  for (unsigned I = T; I < N; I += blockDim.x)
    Keys[I] = Data[Base + I];
  for (unsigned Step = 0; Step < Transpositions; ++Step) {
    __syncthreads();
    const unsigned I = 2 * T + Step % 2;
    if (I + 1 < N && Keys[I] > Keys[I + 1]) {
      const unsigned Kept = Keys[I];
      Keys[I] = Keys[I + 1];
      Keys[I + 1] = Kept;
    }
  }
  __syncthreads();
  for (unsigned I = T; I < N; I += blockDim.x)
    Data[Base + I] = Keys[I];
}

bool tryOddEven(unsigned Block) {
  const unsigned N = 2 * Block;
  std::vector<unsigned> Data = numbers(Grid * N, 100000);
  unsigned *Device = upload(Data);
  for (unsigned B = 0; B < Grid; ++B)
    for (unsigned Step = 0; Step < Transpositions; ++Step)
      for (unsigned I = Step % 2; I + 1 < N; I += 2)
        if (Data[B * N + I] > Data[B * N + I + 1])
          std::swap(Data[B * N + I], Data[B * N + I + 1]);
  return LAUNCH(oddEvenSort, Grid, Block, Device) &&
         matches(Device, Data.size(), [&](size_t I) { return Data[I]; });
}

/// How many of \p N sorted keys come before \p Key; ties go to the first list.
template <bool Ties>
__device__ unsigned rankOf(const unsigned *Keys, unsigned N, unsigned Key) {
  unsigned Low = 0;
  while (N) {
    const unsigned Half = N / 2;
    if (Ties ? Keys[Low + Half] <= Key : Keys[Low + Half] < Key) {
      Low += Half + 1;
      N -= Half + 1;
    } else
      N = Half;
  }
  return Low;
}

__global__ void mergeLists(const unsigned *In, unsigned *Out) {
  __shared__ unsigned A[1024], B[1024];
  const unsigned T = threadIdx.x, N = blockDim.x, Base = blockIdx.x * 2 * N;
  A[T] = In[Base + T];
  B[T] = In[Base + N + T];
  __syncthreads();
  Out[Base + T + rankOf<false>(B, N, A[T])] = A[T];
  Out[Base + T + rankOf<true>(A, N, B[T])] = B[T];
}

bool tryMerge(unsigned Block) {
  std::vector<unsigned> In = numbers(Grid * 2 * Block, 5000);
  for (unsigned I = 0; I < In.size(); I += Block)
    std::sort(In.begin() + I, In.begin() + I + Block);
  unsigned *DeviceIn = upload(In), *Out = zeroed<unsigned>(In.size());
  for (unsigned I = 0; I < In.size(); I += 2 * Block)
    std::sort(In.begin() + I, In.begin() + I + 2 * Block);
  return LAUNCH(mergeLists, Grid, Block, DeviceIn, Out) &&
         matches(Out, In.size(), [&](size_t I) { return In[I]; });
}

/// Sorts by the lowest four bits, a bit at a time, and keeps the order of equals.
__global__ void radixPass(unsigned *Data) {
  __shared__ unsigned Keys[1024], Zeros[2][1024];
  const unsigned T = threadIdx.x, N = blockDim.x;
  unsigned Key = Data[blockIdx.x * N + T];
  for (unsigned Bit = 0; Bit < 4; ++Bit) {
    const bool IsZero = !(Key >> Bit & 1);
    unsigned Turn = 0;
    Zeros[0][T] = IsZero;
    __syncthreads();
    for (unsigned By = 1; By < N; By *= 2, Turn ^= 1) {
      Zeros[!Turn][T] = Zeros[Turn][T] + (T >= By ? Zeros[Turn][T - By] : 0);
      __syncthreads();
    }
    const unsigned Before = Zeros[Turn][T] - IsZero;
    Keys[IsZero ? Before : Zeros[Turn][N - 1] + T - Before] = Key;
    __syncthreads();
    Key = Keys[T];
    __syncthreads();
  }
  Data[blockIdx.x * N + T] = Key;
}

bool tryRadix(unsigned Block) {
  std::vector<unsigned> Data = numbers(Grid * Block, 1 << 20);
  unsigned *Device = upload(Data);
  for (unsigned B = 0; B < Grid; ++B)
    std::stable_sort(Data.begin() + B * Block, Data.begin() + (B + 1) * Block,
                     [](unsigned A, unsigned B) { return A % 16 < B % 16; });
  return LAUNCH(radixPass, Grid, Block, Device) &&
         matches(Device, Data.size(), [&](size_t I) { return Data[I]; });
}

__global__ void histogram(const unsigned *In, unsigned N, unsigned *Out) {
  __shared__ unsigned Bins[256];
  for (unsigned I = threadIdx.x; I < 256; I += blockDim.x)
    Bins[I] = 0;
  __syncthreads();
  for (unsigned I = blockIdx.x * blockDim.x + threadIdx.x; I < N;
       I += gridDim.x * blockDim.x)
    atomicAdd(&Bins[In[I] % 256], 1);
  __syncthreads();
  for (unsigned I = threadIdx.x; I < 256; I += blockDim.x)
    atomicAdd(&Out[I], Bins[I]);
}

bool tryHistogram(unsigned Block) {
  const std::vector<unsigned> In = numbers(Grid * 4 * Block, 1 << 20);
  std::vector<unsigned> Want(256);
  for (unsigned Value : In)
    ++Want[Value % 256];
  unsigned *Out = zeroed<unsigned>(256);
  return LAUNCH(histogram, Grid, Block, upload(In), In.size(), Out) &&
         matches(Out, 256, [&](size_t I) { return Want[I]; });
}

int main() {
  bool Right = tryBlocks("bitonicSort", trySort);
  Right &= tryBlocks("oddEvenSort", tryOddEven);
  Right &= tryBlocks("mergeLists", tryMerge);
  Right &= tryBlocks("radixPass", tryRadix);
  Right &= tryBlocks("histogram", tryHistogram);
  return finish(Right);
}

// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Fourier transforms of many signals of 1024 values by Stockham's algorithm of
// radix 2: a block transforms a signal in two buffers in shared memory, which
// swap roles after each of ten stages. The planted variant has no barrier
// behind the stages whose span is less than a warp, as if a thread's partners
// were threads of its warp.

#include "Suite.h"

constexpr int Size = 1024, Threads = Size / 2;

__device__ float2 add(float2 A, float2 B) { return {A.x + B.x, A.y + B.y}; }
__device__ float2 subtract(float2 A, float2 B) {
  return {A.x - B.x, A.y - B.y};
}
__device__ float2 multiply(float2 A, float2 B) {
  return {A.x * B.x - A.y * B.y, A.x * B.y + A.y * B.x};
}

/// \p Sign is -1, or 1 for the inverse. Results are \p Scale times the sums.
__global__ void transform(float Sign, float Scale, const float2 *In,
                          float2 *Out) {
  __shared__ float2 Buffers[2][Size];
  const int T = threadIdx.x;
  In += blockIdx.x * Size;
  Out += blockIdx.x * Size;
  Buffers[0][T] = In[T];
  Buffers[0][T + Threads] = In[T + Threads];
  __syncthreads();
  int From = 0;
  for (int Span = 1; Span < Size; Span *= 2) {
    const int K = T % Span;
    float2 Twiddle;
    sincospif(Sign * K / Span, &Twiddle.y, &Twiddle.x);
    const float2 Even = Buffers[From][T];          // RACE
    const float2 Odd = Buffers[From][T + Threads]; // RACE
    const float2 Turned = multiply(Twiddle, Odd);
    float2 *To = &Buffers[1 - From][(T - K) * 2 + K];
    To[0] = add(Even, Turned);         // RACE
    To[Span] = subtract(Even, Turned); // RACE
    if (VARIANT(true, Span >= 32))
      __syncthreads();
    From = 1 - From;
  }
  for (int I = T; I < Size; I += Threads)
    Out[I] = {Scale * Buffers[From][I].x, Scale * Buffers[From][I].y};
}

int main(int Argc, char **Argv) {
  const bool Small = isSmall(Argc, Argv);
  const int Signals = Small ? 2 : 8192;
  std::vector<float2> Values(Signals * Size);
  for (float2 &Value : Values)
    Value = {drawUnit() - 0.5f, drawUnit() - 0.5f};
  DeviceArray<float2> Time(Values), Frequency(Values.size());
  for (int Round = 0; Round < (Small ? 1 : 15); ++Round) {
    transform<<<Signals, Threads>>>(-1, 1, Time, Frequency);
    transform<<<Signals, Threads>>>(1, 1.0f / Size, Frequency, Time);
  }
  const std::vector<float2> Back = Time.download();
  const std::vector<float2> Got = Frequency.download();

  bool Right = true;
  for (size_t I = 0; I < Values.size(); I += 17)
    Right = Right && isNear(Back[I].x, Values[I].x) &&
            isNear(Back[I].y, Values[I].y);
  for (int Sample = 0; Sample < 512; ++Sample) {
    const int Signal = draw() % Signals, F = draw() % Size;
    double X = 0, Y = 0;
    for (int I = 0; I < Size; ++I) {
      const float2 Value = Values[Signal * Size + I];
      const double Angle = -2 * M_PI * (F * I % Size) / Size;
      X += Value.x * std::cos(Angle) - Value.y * std::sin(Angle);
      Y += Value.x * std::sin(Angle) + Value.y * std::cos(Angle);
    }
    const float2 Value = Got[Signal * Size + F];
    Right = Right && isNear(Value.x, X) && isNear(Value.y, Y);
  }
  return finish(Right);
}

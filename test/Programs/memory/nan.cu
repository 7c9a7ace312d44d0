// Intent: values that differ from themselves (NaN) or compare equal without
// being so (-0.0) are read again and again; that is not racy.
// CLEAN-ONLY
#include "../check.h"
#include <cmath>
#include <limits>

constexpr unsigned Threads = 128, Blocks = 8, N = Threads * Blocks;
CONSTANT Scaled<20, 4> Rounds;

__global__ void accumulate(const float *In, float *Out, double *Wide) {
  unsigned I = blockIdx.x * Threads + threadIdx.x;
  for (unsigned R = 0; R < Rounds; ++R) {
    Out[I] += In[(I + R * 32) % N];
    Wide[I] = -Wide[I] * In[I];
    __syncthreads();
  }
}

int main() {
  constexpr float NaN = std::numeric_limits<float>::quiet_NaN();
  std::vector<float> Values(N);
  for (unsigned I = 0; I < N; ++I)
    Values[I] = I % 2 ? NaN : -0.0f;
  float *In = upload(Values), *Out = upload(std::vector<float>(N, -0.0f));
  double *Wide = upload(std::vector<double>(N, -0.0));
  accumulate<<<Blocks, Threads>>>(In, Out, Wide);
  std::vector<float> Sums = download(Out, N);
  std::vector<double> Products = download(Wide, N);
  bool Right = true;
  for (unsigned I = 0; I < N; ++I)
    Right &= I % 2 ? std::isnan(Sums[I]) && std::isnan(Products[I])
                   : Sums[I] == 0 && std::signbit(Sums[I]) && Products[I] == 0 &&
                         std::signbit(Products[I]);
  return finish(Right);
}

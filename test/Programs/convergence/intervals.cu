// Intent: intervals are halved until each holds one eigenvalue of a tridiagonal matrix:
// a block counts, scans and compacts its list of intervals between cooperative groups'
// barriers, and ever more threads have something to do.
// CLEAN-ONLY
// ALSO-GPU: -O1
// ALSO-GPU: -O3
#include "../check.h"
#include <algorithm>
#include <cmath>
#include <cooperative_groups.h>

namespace cg = cooperative_groups;

constexpr unsigned Threads = 128, Size = Threads;
CONSTANT Scaled<132, 2> Blocks;
CONSTANT Scaled<24, 12> Steps;

/// How many eigenvalues of the matrix 2, -1 (on and beside the diagonal) are below.
__host__ __device__ unsigned below(float X) {
  unsigned Count = 0;
  float D = 1;
#pragma unroll 1
  for (unsigned I = 0; I < Size; ++I) {
    D = 2 - X - (I ? 1 / D : 0);
    if (D > -1e-6f && D < 1e-6f)
      D = -1e-6f;
    Count += D < 0;
  }
  return Count;
}

struct Interval {
  float Left, Right;
  unsigned LeftCount, RightCount;
};

__global__ void bisect(float *Out, unsigned *Counts) {
  cg::thread_block Block = cg::this_thread_block();
  __shared__ Interval List[Threads];
  __shared__ unsigned Place[2 * Threads], Active;
  const unsigned T = threadIdx.x;
  // A block to itself, so that blocks differ.
  if (T == 0) {
    List[0] = {-0.01f * (1 + blockIdx.x % 7), 4.01f, 0, Size};
    Active = 1;
  }
  cg::sync(Block);
  for (unsigned Step = 0; Step < Steps; ++Step) {
    const unsigned N = Active;
    Interval Low = {0, 0, 0, 0}, High = {0, 0, 0, 0};
    unsigned Kept = 0;
    if (T < N) {
      const Interval Mine = List[T];
      const float Middle = (Mine.Left + Mine.Right) / 2;
      const unsigned Count = below(Middle);
      Low = {Mine.Left, Middle, Mine.LeftCount, Count};
      High = {Middle, Mine.Right, Count, Mine.RightCount};
      Kept =
          (Low.RightCount > Low.LeftCount) + (High.RightCount > High.LeftCount);
    }
    Place[T] = Kept;
    cg::sync(Block);
    // A scan, each step from one half of the array to the other.
    unsigned From = 0;
    for (unsigned By = 1; By < Threads; By *= 2) {
      unsigned Sum = Place[From + T];
      if (T >= By)
        Sum += Place[From + T - By];
      Place[Threads - From + T] = Sum;
      From = Threads - From;
      cg::sync(Block);
    }
    if (T < N) {
      unsigned To = Place[From + T] - Kept;
      if (Low.RightCount > Low.LeftCount)
        List[To++] = Low;
      if (High.RightCount > High.LeftCount)
        List[To] = High;
    }
    if (T == Threads - 1)
      Active = Place[From + T];
    cg::sync(Block);
  }
  if (T < Active) {
    Out[blockIdx.x * Threads + T] = (List[T].Left + List[T].Right) / 2;
    Counts[blockIdx.x * Threads + T] = List[T].RightCount;
  }
}

int main() {
  float *Out = zeroed<float>(Blocks * Threads);
  unsigned *Counts = zeroed<unsigned>(Blocks * Threads);
  bisect<<<Blocks, Threads>>>(Out, Counts);
  std::vector<float> Found = download(Out, Blocks * Threads);
  std::vector<unsigned> Below = download(Counts, Blocks * Threads);
  const float Near =
      4.1f / std::pow(2.f, float(std::min(unsigned(Steps), 16u))) + 1e-3f;
  bool Right = true;
  for (unsigned B = 0; B < Blocks; ++B) {
    unsigned Eigenvalues = 0;
    for (unsigned I = 0; I < Threads && Eigenvalues < Size; ++I) {
      Eigenvalues = Below[B * Threads + I];
      const double Angle = Eigenvalues * M_PI / (Size + 1);
      Right &=
          std::fabs(Found[B * Threads + I] - (2 - 2 * std::cos(Angle))) < Near;
    }
    Right &= Eigenvalues == Size;
  }
  return finish(Right);
}

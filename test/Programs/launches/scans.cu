// Intent: kernels without launch bounds run with blocks of every size: scans, a
// reduction, and matrices times vectors.
// CLEAN-ONLY
#include "launch.h"

/// Scans 1,024 values in steps that double.
__global__ void scan(const unsigned *In, unsigned *Out) {
  __shared__ unsigned Sums[2][1024];
  const unsigned Base = blockIdx.x * 1024;
  for (unsigned I = threadIdx.x; I < 1024; I += blockDim.x)
    Sums[0][I] = In[Base + I];
  __syncthreads();
  unsigned Turn = 0;
  for (unsigned By = 1; By < 1024; By *= 2, Turn ^= 1) {
    for (unsigned I = threadIdx.x; I < 1024; I += blockDim.x)
      Sums[!Turn][I] = Sums[Turn][I] + (I >= By ? Sums[Turn][I - By] : 0);
    __syncthreads();
  }
  for (unsigned I = threadIdx.x; I < 1024; I += blockDim.x)
    Out[Base + I] = Sums[Turn][I];
}

/// What a scan gives, for each stretch of \p Length.
std::vector<unsigned> scanned(std::vector<unsigned> In, unsigned Length) {
  for (unsigned I = 0; I < In.size(); ++I)
    In[I] += I % Length ? In[I - 1] : 0;
  return In;
}

bool tryScan(unsigned Block) {
  const std::vector<unsigned> In = numbers(Grid * 1024, 1000);
  const std::vector<unsigned> Want = scanned(In, 1024);
  unsigned *Out = zeroed<unsigned>(In.size());
  return LAUNCH(scan, Grid, Block, upload(In), Out) &&
         matches(Out, In.size(), [&](size_t I) { return Want[I]; });
}

/// Each warp scans by shuffles, then the first one the sums of all.
__global__ void warpPrefix(const unsigned *In, unsigned *Out) {
  __shared__ unsigned Warps[32];
  const unsigned T = threadIdx.x, Lane = T % 32, Warp = T / 32;
  const unsigned I = blockIdx.x * blockDim.x + T;
  auto ScanWarp = [=](unsigned Value) {
    for (unsigned By = 1; By < 32; By *= 2) {
      const unsigned Theirs = __shfl_up_sync(~0u, Value, By);
      Value += Lane >= By ? Theirs : 0;
    }
    return Value;
  };
  unsigned Sum = ScanWarp(In[I]);
  if (Lane == 31)
    Warps[Warp] = Sum;
  __syncthreads();
  if (Warp == 0) {
    const unsigned Before = ScanWarp(Lane < blockDim.x / 32 ? Warps[Lane] : 0);
    Warps[Lane] = Before;
  }
  __syncthreads();
  Out[I] = Sum + (Warp ? Warps[Warp - 1] : 0);
}

bool tryWarps(unsigned Block) {
  const std::vector<unsigned> In = numbers(Grid * Block, 1000);
  const std::vector<unsigned> Want = scanned(In, Block);
  unsigned *Out = zeroed<unsigned>(In.size());
  return LAUNCH(warpPrefix, Grid, Block, upload(In), Out) &&
         matches(Out, In.size(), [&](size_t I) { return Want[I]; });
}

__global__ void reduction(const unsigned *In, unsigned N, unsigned *Out) {
  __shared__ unsigned Part[1024];
  unsigned Sum = 0;
  for (unsigned I = blockIdx.x * blockDim.x + threadIdx.x; I < N;
       I += gridDim.x * blockDim.x)
    Sum += In[I];
  Part[threadIdx.x] = Sum;
  for (unsigned S = blockDim.x / 2; S > 0; S /= 2) {
    __syncthreads();
    if (threadIdx.x < S)
      Part[threadIdx.x] += Part[threadIdx.x + S];
  }
  if (threadIdx.x == 0)
    atomicAdd(Out, Part[0]);
}

bool tryReduction(unsigned Block) {
  const std::vector<unsigned> In = numbers(Grid * Block * 5, 1 << 20);
  unsigned Want = 0;
  for (unsigned Value : In)
    Want += Value;
  unsigned *Out = zeroed<unsigned>(1);
  return LAUNCH(reduction, Grid, Block, upload(In), In.size(), Out) &&
         matches(Out, 1, [&](size_t) { return Want; });
}

/// A row a thread, in compressed rows.
__global__ void sparseProduct(const unsigned *Begins, const unsigned *Columns,
                              const unsigned *Values, const unsigned *X,
                              unsigned *Y) {
  const unsigned Row = blockIdx.x * blockDim.x + threadIdx.x;
  unsigned Sum = 0;
  for (unsigned I = Begins[Row]; I < Begins[Row + 1]; ++I)
    Sum += Values[I] * X[Columns[I]];
  Y[Row] = Sum;
}

bool trySparse(unsigned Block) {
  const unsigned Rows = Grid * Block;
  std::vector<unsigned> Begins(Rows + 1);
  for (unsigned R = 0; R < Rows; ++R)
    Begins[R + 1] = Begins[R] + R * 7 % 9;
  const std::vector<unsigned> Columns = numbers(Begins[Rows], Rows);
  const std::vector<unsigned> Values = numbers(Begins[Rows], 100, 2);
  const std::vector<unsigned> X = numbers(Rows, 100, 3);
  std::vector<unsigned> Want(Rows);
  for (unsigned R = 0; R < Rows; ++R)
    for (unsigned I = Begins[R]; I < Begins[R + 1]; ++I)
      Want[R] += Values[I] * X[Columns[I]];
  unsigned *Y = zeroed<unsigned>(Rows);
  return LAUNCH(sparseProduct, Grid, Block, upload(Begins), upload(Columns),
                upload(Values), upload(X), Y) &&
         matches(Y, Rows, [&](size_t I) { return Want[I]; });
}

/// A row a block.
__global__ void denseProduct(const unsigned *A, const unsigned *X, unsigned *Y,
                             unsigned Columns) {
  __shared__ unsigned Part[1024];
  const unsigned T = threadIdx.x;
  unsigned Sum = 0;
  for (unsigned C = T; C < Columns; C += blockDim.x)
    Sum += A[blockIdx.x * Columns + C] * X[C];
  Part[T] = Sum;
  __syncthreads();
  for (unsigned S = blockDim.x / 2; S > 0; S >>= 1) {
    if (T < S)
      Part[T] += Part[T + S];
    __syncthreads();
  }
  if (T == 0)
    Y[blockIdx.x] = Part[0];
}

bool tryDense(unsigned Block) {
  const unsigned Columns = 3000;
  const std::vector<unsigned> A = numbers(Grid * Columns, 100);
  const std::vector<unsigned> X = numbers(Columns, 100, 2);
  std::vector<unsigned> Want(Grid);
  for (unsigned I = 0; I < A.size(); ++I)
    Want[I / Columns] += A[I] * X[I % Columns];
  unsigned *Y = zeroed<unsigned>(Grid);
  return LAUNCH(denseProduct, Grid, Block, upload(A), upload(X), Y, Columns) &&
         matches(Y, Grid, [&](size_t I) { return Want[I]; });
}

int main() {
  bool Right = tryBlocks("scan", tryScan);
  Right &= tryBlocks("warpPrefix", tryWarps);
  Right &= tryBlocks("reduction", tryReduction);
  Right &= tryBlocks("sparseProduct", trySparse);
  Right &= tryBlocks("denseProduct", tryDense);
  return finish(Right);
}

// Intent: kernels without launch bounds run with blocks of every size: matrix product,
// transposition, a step of an LU decomposition, convolution and a stencil.
// CLEAN-ONLY
#include "launch.h"

/// Tiles of 32 by 32; with fewer threads a block makes a few rows at a time.
constexpr unsigned Tile = 32;
CONSTANT Scaled<8, 1> TilesASide;

dim3 tileBlock(unsigned Block) { return dim3(Tile, Block / Tile); }
dim3 tileGrid() { return dim3(TilesASide, TilesASide); }

__global__ void product(const float *A, const float *B, float *C, unsigned N) {
  __shared__ float TileA[Tile][Tile], TileB[Tile][Tile];
  const unsigned X = threadIdx.x, Y = threadIdx.y;
  const unsigned Column = blockIdx.x * Tile + X;
  for (unsigned First = 0; First < Tile; First += blockDim.y) {
    const unsigned Row = blockIdx.y * Tile + First + Y;
    float Sum = 0;
    for (unsigned K = 0; K < N; K += Tile) {
      TileA[Y][X] = A[Row * N + K + X];
      for (unsigned I = Y; I < Tile; I += blockDim.y)
        TileB[I][X] = B[(K + I) * N + Column];
      __syncthreads();
      for (unsigned I = 0; I < Tile; ++I)
        Sum += TileA[Y][I] * TileB[I][X];
      __syncthreads();
    }
    C[Row * N + Column] = Sum;
  }
}

bool tryProduct(unsigned Block) {
  const unsigned N = TilesASide * Tile;
  const std::vector<float> A = numbers<float>(N * N, 8);
  const std::vector<float> B = numbers<float>(N * N, 8, 2);
  std::vector<float> Want(N * N);
  for (unsigned R = 0; R < N; ++R)
    for (unsigned K = 0; K < N; ++K)
      for (unsigned C = 0; C < N; ++C)
        Want[R * N + C] += A[R * N + K] * B[K * N + C];
  float *C = zeroed<float>(N * N);
  return LAUNCH(product, tileGrid(), tileBlock(Block), upload(A), upload(B), C,
                N) &&
         matches(C, N * N, [&](size_t I) { return Want[I]; });
}

__global__ void transpose(const unsigned *In, unsigned *Out, unsigned N) {
  __shared__ unsigned Cells[Tile][Tile + 1];
  const unsigned X = threadIdx.x;
  for (unsigned Y = threadIdx.y; Y < Tile; Y += blockDim.y)
    Cells[Y][X] = In[(blockIdx.y * Tile + Y) * N + blockIdx.x * Tile + X];
  __syncthreads();
  for (unsigned Y = threadIdx.y; Y < Tile; Y += blockDim.y)
    Out[(blockIdx.x * Tile + Y) * N + blockIdx.y * Tile + X] = Cells[X][Y];
}

bool tryTranspose(unsigned Block) {
  const unsigned N = TilesASide * Tile;
  const std::vector<unsigned> In = numbers(N * N, 1 << 20);
  unsigned *Out = zeroed<unsigned>(N * N);
  return LAUNCH(transpose, tileGrid(), tileBlock(Block), upload(In), Out, N) &&
         matches(Out, N * N, [&](size_t I) { return In[I % N * N + I / N]; });
}

/// Takes row \p K out of all below: each block a row, and its factor.
__global__ void eliminate(float *A, unsigned N, unsigned K) {
  __shared__ float Factor;
  const unsigned Row = K + 1 + blockIdx.x;
  if (threadIdx.x == 0) {
    Factor = A[Row * N + K] / A[K * N + K];
    A[Row * N + K] = Factor;
  }
  __syncthreads();
  for (unsigned C = K + 1 + threadIdx.x; C < N; C += blockDim.x)
    A[Row * N + C] -= Factor * A[K * N + C];
}

bool tryEliminate(unsigned Block) {
  const unsigned N = TilesASide * Tile, Steps = 4;
  std::vector<float> A = numbers<float>(N * N, 8);
  for (unsigned I = 0; I < N; ++I)
    A[I * N + I] += 16;
  float *Device = upload(A);
  bool IsLaunched = true;
  for (unsigned K = 0; K < Steps; ++K) {
    IsLaunched &= LAUNCH(eliminate, N - K - 1, Block, Device, N, K);
    for (unsigned R = K + 1; R < N; ++R) {
      A[R * N + K] /= A[K * N + K];
      for (unsigned C = K + 1; C < N; ++C)
        A[R * N + C] -= A[R * N + K] * A[K * N + C];
    }
  }
  if (!IsLaunched)
    return false;
  const std::vector<float> Found = download(Device, N * N);
  for (unsigned I = 0; I < N * N; ++I)
    if (!isNear(Found[I], A[I]))
      return false;
  return true;
}

constexpr int Radius = 7;
__constant__ int Weights[2 * Radius + 1] = {1, 2,  3, 4,  5, 6,  7, 8,
                                            7, -6, 5, -4, 3, -2, 1};

__global__ void convolution(const int *In, int *Out, int N) {
  __shared__ int Cells[1024 + 2 * Radius];
  const int Begin = blockIdx.x * blockDim.x, Size = blockDim.x;
  for (int I = threadIdx.x; I < Size + 2 * Radius; I += Size) {
    const int From = Begin + I - Radius;
    Cells[I] = From >= 0 && From < N ? In[From] : 0;
  }
  __syncthreads();
  int Sum = 0;
  for (int I = 0; I <= 2 * Radius; ++I)
    Sum += Weights[I] * Cells[threadIdx.x + I];
  Out[Begin + threadIdx.x] = Sum;
}

bool tryConvolution(unsigned Block) {
  const int N = Grid * Block;
  const std::vector<int> In = numbers<int>(N, 1000);
  const int W[] = {1, 2, 3, 4, 5, 6, 7, 8, 7, -6, 5, -4, 3, -2, 1};
  int *Out = zeroed<int>(N);
  return LAUNCH(convolution, Grid, Block, upload(In), Out, N) &&
         matches(Out, N, [&](size_t I) {
           int Sum = 0;
           for (int J = -Radius; J <= Radius; ++J)
             if (int(I) + J >= 0 && int(I) + J < N)
               Sum += W[J + Radius] * In[I + J];
           return Sum;
         });
}

__global__ void stencil(const int *In, int *Out, int Width, int Height) {
  const int X = blockIdx.x * blockDim.x + threadIdx.x;
  for (int Y = blockIdx.y; Y < Height; Y += gridDim.y) {
    const int Left = X ? In[Y * Width + X - 1] : 0;
    const int Right = X + 1 < Width ? In[Y * Width + X + 1] : 0;
    const int Up = Y ? In[(Y - 1) * Width + X] : 0;
    const int Down = Y + 1 < Height ? In[(Y + 1) * Width + X] : 0;
    Out[Y * Width + X] = 4 * In[Y * Width + X] - Left - Right - Up - Down;
  }
}

bool tryStencil(unsigned Block) {
  const int Width = 2 * Block, Height = 8 * Grid;
  const std::vector<int> In = numbers<int>(Width * Height, 1000);
  int *Out = zeroed<int>(In.size());
  auto At = [&](int X, int Y) {
    return X < 0 || Y < 0 || X >= Width || Y >= Height ? 0 : In[Y * Width + X];
  };
  stencil<<<dim3(2, Grid), Block>>>(upload(In), Out, Width, Height);
  return isLaunched("stencil", Block) && matches(Out, In.size(), [&](size_t I) {
           const int X = I % Width, Y = I / Width;
           return 4 * At(X, Y) - At(X - 1, Y) - At(X + 1, Y) - At(X, Y - 1) -
                  At(X, Y + 1);
         });
}

int main() {
  bool Right = tryBlocks("product", tryProduct);
  Right &= tryBlocks("transpose", tryTranspose);
  Right &= tryBlocks("eliminate", tryEliminate);
  Right &= tryBlocks("convolution", tryConvolution);
  Right &= tryBlocks("stencil", tryStencil);
  return finish(Right);
}

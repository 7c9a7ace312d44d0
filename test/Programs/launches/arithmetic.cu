// Intent: kernels without launch bounds run with blocks of every size: bodies that attract
// each other, option prices, a fractal, a Fourier transform, the game of life,
// and one that needs many registers.
// CLEAN-ONLY
#include "launch.h"

/// Bodies that are left out.
CONSTANT Scaled<1, 32> Every;

__global__ void attract(const float4 *Bodies, float4 *Forces, unsigned N) {
  __shared__ float4 Near[1024];
  const unsigned I = blockIdx.x * blockDim.x + threadIdx.x;
  const float4 Mine = Bodies[I];
  float4 Force = {0, 0, 0, 0};
  for (unsigned Begin = 0; Begin < N; Begin += blockDim.x) {
    Near[threadIdx.x] = Bodies[Begin + threadIdx.x];
    __syncthreads();
    for (unsigned J = 0; J < blockDim.x; J += Every) {
      const float4 Other = Near[J];
      const float X = Other.x - Mine.x, Y = Other.y - Mine.y;
      const float Z = Other.z - Mine.z;
      const float Inverse = rsqrtf(X * X + Y * Y + Z * Z + 1);
      const float Weight = Other.w * Inverse * Inverse * Inverse;
      Force.x += X * Weight;
      Force.y += Y * Weight;
      Force.z += Z * Weight;
    }
    __syncthreads();
  }
  Forces[I] = Force;
}

bool tryAttract(unsigned Block) {
  const unsigned N = 2 * Block;
  const std::vector<float> Places = numbers<float>(4 * N, 32);
  float4 *Forces = zeroed<float4>(N);
  if (!LAUNCH(attract, 2, Block, reinterpret_cast<float4 *>(upload(Places)),
              Forces, N))
    return false;
  const std::vector<float4> Found = download(Forces, N);
  for (unsigned I = 0; I < N; I += 37) {
    float Force[3] = {};
    for (unsigned J = 0; J < N; J += Every) {
      float D[3], Square = 1;
      for (unsigned K = 0; K < 3; ++K) {
        D[K] = Places[4 * J + K] - Places[4 * I + K];
        Square += D[K] * D[K];
      }
      for (unsigned K = 0; K < 3; ++K)
        Force[K] += D[K] * Places[4 * J + 3] / (Square * std::sqrt(Square));
    }
    if (!isNear(Found[I].x, Force[0]) || !isNear(Found[I].y, Force[1]) ||
        !isNear(Found[I].z, Force[2]))
      return false;
  }
  return true;
}

__host__ __device__ inline float normal(float X) {
  return 0.5f * erfcf(-X * 0.70710678f);
}

__host__ __device__ inline float2 optionPrices(float Price, float Strike,
                                               float Years) {
  const float Rate = 0.02f, Volatility = 0.3f, Root = sqrtf(Years);
  const float D1 =
      (logf(Price / Strike) + (Rate + 0.5f * Volatility * Volatility) * Years) /
      (Volatility * Root);
  const float D2 = D1 - Volatility * Root, Now = Strike * expf(-Rate * Years);
  const float Call = Price * normal(D1) - Now * normal(D2);
  return {Call, Call + Now - Price};
}

__global__ void prices(const float *Price, const float *Strike,
                       const float *Years, float *Calls, float *Puts) {
  const unsigned I = blockIdx.x * blockDim.x + threadIdx.x;
  const float2 Both = optionPrices(Price[I], Strike[I], Years[I]);
  Calls[I] = Both.x;
  Puts[I] = Both.y;
}

bool tryPrices(unsigned Block) {
  const unsigned N = Grid * Block;
  std::vector<float> Price = numbers<float>(N, 90);
  std::vector<float> Strike = numbers<float>(N, 90, 2);
  std::vector<float> Years = numbers<float>(N, 10, 3);
  for (unsigned I = 0; I < N; ++I) {
    Price[I] += 10;
    Strike[I] += 10;
    Years[I] += 1;
  }
  float *Calls = zeroed<float>(N), *Puts = zeroed<float>(N);
  if (!LAUNCH(prices, Grid, Block, upload(Price), upload(Strike), upload(Years),
              Calls, Puts))
    return false;
  const std::vector<float> C = download(Calls, N), P = download(Puts, N);
  for (unsigned I = 0; I < N; ++I) {
    const float2 Want = optionPrices(Price[I], Strike[I], Years[I]);
    if (!isNear(C[I], Want.x) || !isNear(P[I], Want.y))
      return false;
  }
  return true;
}

/// In fixed point, so that every machine counts alike.
__host__ __device__ inline unsigned escapes(int X, int Y) {
  constexpr int One = 1 << 12;
  int A = 0, B = 0;
  unsigned Count = 0;
  while (Count < 50 && (A * A >> 12) + (B * B >> 12) < 4 * One) {
    const int Next = (A * A >> 12) - (B * B >> 12) + X;
    B = (2 * A * B >> 12) + Y;
    A = Next;
    ++Count;
  }
  return Count;
}

__global__ void mandelbrot(unsigned *Out, unsigned Width) {
  const unsigned I = blockIdx.x * blockDim.x + threadIdx.x;
  Out[I] = escapes(int(I % Width * 48) - 8192, int(I / Width * 48) - 4096);
}

bool tryMandelbrot(unsigned Block) {
  const unsigned N = Grid * Block, Width = 256;
  unsigned *Out = zeroed<unsigned>(N);
  return LAUNCH(mandelbrot, Grid, Block, Out, Width) &&
         matches(Out, N, [=](unsigned I) {
           return escapes(int(I % Width * 48) - 8192,
                          int(I / Width * 48) - 4096);
         });
}

/// All steps of a transform of twice as many points as threads.
__global__ void fourier(float2 *Points) {
  __shared__ float2 Cells[2048];
  const unsigned T = threadIdx.x, N = 2 * blockDim.x, Base = blockIdx.x * N;
  const unsigned Bits = __ffs(N) - 1;
  for (unsigned I = T; I < N; I += blockDim.x)
    Cells[__brev(I) >> (32 - Bits)] = Points[Base + I];
  for (unsigned Half = 1; Half < N; Half *= 2) {
    __syncthreads();
    const unsigned J = T % Half, I = 2 * (T - J) + J;
    float Sine, Cosine;
    sincosf(-3.14159265f * J / Half, &Sine, &Cosine);
    const float2 A = Cells[I], B = Cells[I + Half];
    const float2 Turned = {B.x * Cosine - B.y * Sine,
                           B.x * Sine + B.y * Cosine};
    Cells[I] = {A.x + Turned.x, A.y + Turned.y};
    Cells[I + Half] = {A.x - Turned.x, A.y - Turned.y};
  }
  __syncthreads();
  for (unsigned I = T; I < N; I += blockDim.x)
    Points[Base + I] = Cells[I];
}

/// A wave of one frequency for each block, of which one point must remain.
bool tryFourier(unsigned Block) {
  const unsigned N = 2 * Block;
  std::vector<float2> Points(Grid * N);
  for (unsigned I = 0; I < Points.size(); ++I) {
    const unsigned Turns = (I / N * 3 + 1) % N * (I % N) % N;
    const double Angle = 2 * M_PI * Turns / N;
    Points[I] = {float(std::cos(Angle)), float(std::sin(Angle))};
  }
  float2 *Device = upload(Points);
  if (!LAUNCH(fourier, Grid, Block, Device))
    return false;
  const std::vector<float2> Found = download(Device, Points.size());
  for (unsigned I = 0; I < Found.size(); ++I) {
    const float Want = I % N == (I / N * 3 + 1) % N ? N : 0;
    if (std::fabs(Found[I].x - Want) > 0.05f || std::fabs(Found[I].y) > 0.05f)
      return false;
  }
  return true;
}

__global__ void life(const unsigned char *Old, unsigned char *New,
                     unsigned Width, unsigned Height) {
  const unsigned X = blockIdx.x * blockDim.x + threadIdx.x, Y = blockIdx.y;
  unsigned Count = 0;
  for (unsigned DY = 0; DY < 3; ++DY)
    for (unsigned DX = 0; DX < 3; ++DX)
      if (DX != 1 || DY != 1)
        Count += Old[(Y + Height + DY - 1) % Height * Width +
                     (X + Width + DX - 1) % Width];
  New[Y * Width + X] = Count == 3 || (Count == 2 && Old[Y * Width + X]);
}

bool tryLife(unsigned Block) {
  const unsigned Width = 2 * Block, Height = Grid;
  std::vector<unsigned char> Old = numbers<unsigned char>(Width * Height, 2);
  unsigned char *Cells[] = {upload(Old), zeroed<unsigned char>(Old.size())};
  bool Right = true;
  for (unsigned Step = 0; Step < 3; ++Step) {
    Right = Right && LAUNCH(life, dim3(2, Height), Block, Cells[Step % 2],
                            Cells[(Step + 1) % 2], Width, Height);
    std::vector<unsigned char> New(Old.size());
    for (unsigned I = 0; I < Old.size(); ++I) {
      unsigned Count = 0;
      for (unsigned D = 0; D < 9; ++D)
        if (D != 4)
          Count += Old[(I / Width + Height + D / 3 - 1) % Height * Width +
                       (I % Width + Width + D % 3 - 1) % Width];
      New[I] = Count == 3 || (Count == 2 && Old[I]);
    }
    Old = New;
  }
  return Right &&
         matches(Cells[1], Old.size(), [&](size_t I) { return Old[I]; });
}

/// Many values at a time: natively it just fits blocks of 1,024 threads.
constexpr unsigned Values = 40;

__global__ void manyValues(const unsigned *In, unsigned *Out) {
  const unsigned N = gridDim.x * blockDim.x;
  const unsigned I = blockIdx.x * blockDim.x + threadIdx.x;
  unsigned V[Values], Turn = 1;
#pragma unroll
  for (unsigned K = 0; K < Values; ++K)
    V[K] = In[(I + K * 7) % N];
#pragma unroll
  for (unsigned K = 0; K < Values; ++K)
    Turn = (Turn ^ V[Values - 1 - K]) * 3;
#pragma unroll
  for (unsigned K = 0; K < Values; ++K)
    Turn = (Turn + V[K]) * 5;
  Out[I] = Turn;
}

bool tryMany(unsigned Block) {
  const unsigned N = Grid * Block;
  const std::vector<unsigned> In = numbers(N, 1 << 20);
  unsigned *Out = zeroed<unsigned>(N);
  return LAUNCH(manyValues, Grid, Block, upload(In), Out) &&
         matches(Out, N, [&](unsigned I) {
           unsigned Turn = 1;
           for (unsigned K = Values; K-- > 0;)
             Turn = (Turn ^ In[(I + K * 7) % N]) * 3;
           for (unsigned K = 0; K < Values; ++K)
             Turn = (Turn + In[(I + K * 7) % N]) * 5;
           return Turn;
         });
}

int main() {
  bool Right = tryBlocks("attract", tryAttract);
  Right &= tryBlocks("prices", tryPrices);
  Right &= tryBlocks("mandelbrot", tryMandelbrot);
  Right &= tryBlocks("fourier", tryFourier);
  Right &= tryBlocks("life", tryLife);
  Right &= tryBlocks("manyValues", tryMany);
  return finish(Right);
}

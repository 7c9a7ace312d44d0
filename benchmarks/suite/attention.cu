// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Attention of several heads by an online softmax: a thread answers a query;
// its block takes tiles of keys, and then of the values that belong to them,
// through one buffer in shared memory. The planted variant has no barrier
// between the use of a tile of keys and the values that overwrite it.

#include "Suite.h"

constexpr int Size = 32, Pieces = Size / 4; // floats and float4s of a vector
constexpr int Threads = 64, Tile = 32;

struct Vector {
  float4 Of[Pieces];
};

__device__ float dot(float4 A, float4 B) {
  return A.x * B.x + A.y * B.y + A.z * B.z + A.w * B.w;
}

/// Adds \p B to \p A, \p Weight times.
__device__ void add(float4 &A, float Weight, float4 B) {
  A.x += Weight * B.x;
  A.y += Weight * B.y;
  A.z += Weight * B.z;
  A.w += Weight * B.w;
}

/// Copies a tile; each thread of the block copies pieces of it.
__device__ void fill(Vector *Buffer, const Vector *From) {
  for (int I = threadIdx.x; I < Tile * Pieces; I += Threads)
    Buffer[I / Pieces].Of[I % Pieces] = From[I / Pieces].Of[I % Pieces]; // RACE
}

__global__ void attend(int N, const Vector *Queries, const Vector *Keys,
                       const Vector *Values, Vector *Out) {
  __shared__ Vector Buffer[Tile];
  const int Head = blockIdx.y * N;
  const int I = Head + blockIdx.x * Threads + threadIdx.x;
  const Vector Query = Queries[I];
  Vector Result = {};
  float Max = -INFINITY, Sum = 0;
  for (int First = Head; First < Head + N; First += Tile) {
    fill(Buffer, Keys + First);
    __syncthreads();
    float Weights[Tile], NewMax = Max;
    for (int J = 0; J < Tile; ++J) {
      Weights[J] = 0;
      for (int P = 0; P < Pieces; ++P)
        Weights[J] += dot(Query.Of[P], Buffer[J].Of[P]); // RACE
      Weights[J] *= rsqrtf(Size);
      NewMax = fmaxf(NewMax, Weights[J]);
    }
    VARIANT(__syncthreads(), (void)0);
    fill(Buffer, Values + First);
    __syncthreads();
    const float Shrink = expf(Max - NewMax);
    Max = NewMax;
    Sum *= Shrink;
    for (float4 &Piece : Result.Of)
      Piece = {Shrink * Piece.x, Shrink * Piece.y, Shrink * Piece.z,
               Shrink * Piece.w};
    for (int J = 0; J < Tile; ++J) {
      const float Weight = expf(Weights[J] - Max);
      Sum += Weight;
      for (int P = 0; P < Pieces; ++P)
        add(Result.Of[P], Weight, Buffer[J].Of[P]);
    }
    __syncthreads();
  }
  for (float4 &Piece : Result.Of)
    Piece = {Piece.x / Sum, Piece.y / Sum, Piece.z / Sum, Piece.w / Sum};
  Out[I] = Result;
}

static std::vector<Vector> drawVectors(int N) {
  std::vector<Vector> Vectors(N);
  for (Vector &V : Vectors)
    for (float4 &Piece : V.Of)
      Piece = {2 * drawUnit() - 1, 2 * drawUnit() - 1, 2 * drawUnit() - 1,
               2 * drawUnit() - 1};
  return Vectors;
}

/// Element \p I of \p V.
static float at(const Vector &V, int I) {
  const float4 &Piece = V.Of[I / 4];
  const float Elements[] = {Piece.x, Piece.y, Piece.z, Piece.w};
  return Elements[I % 4];
}

int main(int Argc, char **Argv) {
  const bool Small = isSmall(Argc, Argv);
  const int N = Small ? 64 : 2048, Heads = Small ? 2 : 32;
  const auto HostQ = drawVectors(Heads * N), HostK = drawVectors(Heads * N);
  const auto HostV = drawVectors(Heads * N);
  DeviceArray<Vector> Q(HostQ), K(HostK), V(HostV), Out(Heads * N);
  for (int Round = 0; Round < (Small ? 1 : 3); ++Round)
    attend<<<dim3(N / Threads, Heads), Threads>>>(N, Q, K, V, Out);
  const std::vector<Vector> Got = Out.download();

  bool Right = true;
  for (int Sample = 0; Sample < 128; ++Sample) {
    const int I = draw() % (Heads * N), Head = I / N * N;
    double Sum = 0, Want[Size] = {};
    for (int J = Head; J < Head + N; ++J) {
      double Score = 0;
      for (int E = 0; E < Size; ++E)
        Score += at(HostQ[I], E) * at(HostK[J], E);
      const double Weight = std::exp(Score / std::sqrt(Size));
      Sum += Weight;
      for (int E = 0; E < Size; ++E)
        Want[E] += Weight * at(HostV[J], E);
    }
    for (int E = 0; E < Size; ++E)
      Right = Right && isNear(at(Got[I], E), Want[E] / Sum);
  }
  return finish(Right);
}

// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Bodies that attract each other, all pairs of them in each step. A thread
// moves a body; its block reads all bodies, a tile at a time, through shared
// memory. In the planted variant only the threads of a warp wait for each other
// before the next tile overwrites one.

#include "Suite.h"
#include <utility>

constexpr int Threads = 128;
constexpr float Softening = 0.01f, TimeStep = 1e-3f;

/// The fourth component of a position is the mass.
__host__ __device__ float3 attract(float3 Sum, float4 Me, float4 Other) {
  const float X = Other.x - Me.x, Y = Other.y - Me.y, Z = Other.z - Me.z;
  const float Inverse = 1 / sqrtf(X * X + Y * Y + Z * Z + Softening);
  const float Pull = Other.w * Inverse * Inverse * Inverse;
  return {Sum.x + X * Pull, Sum.y + Y * Pull, Sum.z + Z * Pull};
}

__host__ __device__ float3 accelerate(float3 Velocity, float3 By) {
  return {Velocity.x + TimeStep * By.x, Velocity.y + TimeStep * By.y,
          Velocity.z + TimeStep * By.z};
}

__host__ __device__ float4 move(float4 Me, float3 Velocity) {
  return {Me.x + TimeStep * Velocity.x, Me.y + TimeStep * Velocity.y,
          Me.z + TimeStep * Velocity.z, Me.w};
}

__global__ void step(int N, const float4 *In, float4 *Out, float3 *Velocities) {
  __shared__ float4 Tile[Threads];
  const int I = blockIdx.x * Threads + threadIdx.x;
  const float4 Me = In[I];
  float3 Sum = {0, 0, 0};
  for (int First = 0; First < N; First += Threads) {
    Tile[threadIdx.x] = In[First + threadIdx.x]; // RACE
    __syncthreads();
    for (int J = 0; J < Threads; ++J)
      Sum = attract(Sum, Me, Tile[J]); // RACE
    VARIANT(__syncthreads(), __syncwarp());
  }
  Velocities[I] = accelerate(Velocities[I], Sum);
  Out[I] = move(Me, Velocities[I]);
}

int main(int Argc, char **Argv) {
  const bool Small = isSmall(Argc, Argv);
  const int N = Small ? 256 : 1 << 15, Steps = Small ? 1 : 10;
  std::vector<float4> Start(N);
  for (float4 &Body : Start)
    Body = {drawUnit(), drawUnit(), drawUnit(), 100 * drawUnit() / N};
  DeviceArray<float4> First(Start), Second(N);
  DeviceArray<float3> Velocities(N);
  float4 *From = First, *To = Second;
  for (int Step = 1; Step < Steps; ++Step) {
    step<<<N / Threads, Threads>>>(N, From, To, Velocities);
    std::swap(From, To);
  }

  // The host repeats the last step.
  const auto Bodies = (From == First ? First : Second).download();
  const auto Before = Velocities.download();
  step<<<N / Threads, Threads>>>(N, From, To, Velocities);
  const auto Got = (To == First ? First : Second).download();
  const auto After = Velocities.download();
  bool Right = true;
  for (int Sample = 0; Sample < 128; ++Sample) {
    const int I = draw() % N;
    float3 Sum = {0, 0, 0};
    for (const float4 &Other : Bodies)
      Sum = attract(Sum, Bodies[I], Other);
    const float3 Velocity = accelerate(Before[I], Sum);
    const float4 Want = move(Bodies[I], Velocity);
    Right = Right && isNear(After[I].x, Velocity.x) &&
            isNear(After[I].y, Velocity.y) && isNear(After[I].z, Velocity.z) &&
            isNear(Got[I].x, Want.x) && isNear(Got[I].y, Want.y) &&
            isNear(Got[I].z, Want.z);
  }
  return finish(Right);
}

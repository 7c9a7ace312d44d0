// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Flow of a gas on a torus by the lattice Boltzmann method: nine arrays, one
// for each velocity, in two buffers that swap roles, and a thread for each
// cell. A second stream copies the density to the host now and then. In the
// planted variant the next step does not wait for the copy's end.

#include "Suite.h"
#include <utility>

constexpr int ThreadsX = 64, ThreadsY = 4, Velocities = 9;
constexpr float Relaxation = 1.2f;

__host__ __device__ int velocityX(int V) { return V % 3 - 1; }
__host__ __device__ int velocityY(int V) { return V / 3 - 1; }

__host__ __device__ float weight(int V) {
  return (velocityX(V) ? 1.0f / 6 : 2.0f / 3) *
         (velocityY(V) ? 1.0f / 6 : 2.0f / 3);
}

/// Relaxes a cell's gas towards its equilibrium and returns its density.
__host__ __device__ float collide(float *Gas) {
  float Density = 0, X = 0, Y = 0;
  for (int V = 0; V < Velocities; ++V) {
    Density += Gas[V];
    X += velocityX(V) * Gas[V];
    Y += velocityY(V) * Gas[V];
  }
  X /= Density;
  Y /= Density;
  for (int V = 0; V < Velocities; ++V) {
    const float Along = 3 * (velocityX(V) * X + velocityY(V) * Y);
    const float Equilibrium =
        weight(V) * Density *
        (1 + Along + 0.5f * Along * Along - 1.5f * (X * X + Y * Y));
    Gas[V] += Relaxation * (Equilibrium - Gas[V]);
  }
  return Density;
}

/// What flows into cell (X, Y) collides there. Returns the density.
__host__ __device__ float stepCell(int Width, int X, int Y, const float *In,
                                   float *Out) {
  float Gas[Velocities];
  for (int V = 0; V < Velocities; ++V) {
    const int FromX = (X - velocityX(V) + Width) % Width;
    const int FromY = (Y - velocityY(V) + Width) % Width;
    Gas[V] = In[(V * Width + FromY) * Width + FromX];
  }
  const float Density = collide(Gas);
  for (int V = 0; V < Velocities; ++V)
    Out[(V * Width + Y) * Width + X] = Gas[V];
  return Density;
}

__global__ void step(int Width, const float *In, float *Out, float *Density) {
  const int X = blockIdx.x * ThreadsX + threadIdx.x;
  const int Y = blockIdx.y * ThreadsY + threadIdx.y;
  Density[Y * Width + X] = stepCell(Width, X, Y, In, Out); // RACE
}

int main(int Argc, char **Argv) {
  const bool Small = isSmall(Argc, Argv);
  const int Width = Small ? 64 : 1024, Cells = Width * Width;
  const int Steps = Small ? 4 : 60, Interval = Small ? 2 : 10;
  std::vector<float> Start = drawUnits(Velocities * Cells);
  for (int I = 0; I < Velocities * Cells; ++I)
    Start[I] = weight(I / Cells) * (1 + 0.1f * Start[I]);
  DeviceArray<float> First(Start), Second(Start.size()), Density(Cells);
  float *From = First, *To = Second, *Copies;
  const size_t Bytes = Cells * sizeof(float);
  CHECK(cudaMallocHost(&Copies, Steps / Interval * Bytes));
  cudaStream_t Main, Side;
  cudaEvent_t Stepped, Copied;
  CHECK(cudaStreamCreateWithFlags(&Main, cudaStreamNonBlocking));
  CHECK(cudaStreamCreateWithFlags(&Side, cudaStreamNonBlocking));
  CHECK(cudaEventCreateWithFlags(&Stepped, cudaEventDisableTiming));
  CHECK(cudaEventCreateWithFlags(&Copied, cudaEventDisableTiming));
  CHECK(cudaDeviceSynchronize());
  const dim3 Grid(Width / ThreadsX, Width / ThreadsY);
  const dim3 Threads(ThreadsX, ThreadsY);
  float *Copy = Copies;
  for (int Step = 1; Step <= Steps; ++Step) {
    step<<<Grid, Threads, 0, Main>>>(Width, From, To, Density);
    std::swap(From, To);
    if (Step % Interval)
      continue;
    CHECK(cudaEventRecord(Stepped, Main));
    CHECK(cudaStreamWaitEvent(Side, Stepped));
    const auto Way = cudaMemcpyDeviceToHost;
    CHECK(cudaMemcpyAsync(Copy, Density, Bytes, Way, Side)); // RACE
    CHECK(cudaEventRecord(Copied, Side));
    VARIANT(CHECK(cudaStreamWaitEvent(Main, Copied)), (void)0);
    Copy += Cells;
  }
  CHECK(cudaDeviceSynchronize());

  // The host knows how much gas there is, and makes the first steps.
  double Mass = 0;
  for (float Value : Start)
    Mass += Value;
  bool Right = true;
  for (Copy = Copies; Copy < Copies + Steps / Interval * Cells; Copy += Cells) {
    double Found = 0;
    for (int I = 0; I < Cells; ++I)
      Found += Copy[I];
    Right = Right && isNear(Found, Mass);
  }
  // In a window of their own, what is wrong at its edges has come as far as
  // Interval.
  const int Size = 2 * Interval + 16;
  std::vector<float> Window(Velocities * Size * Size), Next(Window.size());
  std::vector<float> Want(Size * Size);
  for (int V = 0; V < Velocities; ++V)
    for (int I = 0; I < Size * Size; ++I)
      Window[V * Size * Size + I] =
          Start[(V * Width + I / Size) * Width + I % Size];
  for (int Step = 0; Step < Interval; ++Step) {
    for (int I = 0; I < Size * Size; ++I)
      Want[I] = stepCell(Size, I % Size, I / Size, Window.data(), Next.data());
    std::swap(Window, Next);
  }
  for (int Y = Interval; Y < Size - Interval; ++Y)
    for (int X = Interval; X < Size - Interval; ++X)
      Right = Right && isNear(Copies[Y * Width + X], Want[Y * Size + X], 1e-4);
  CHECK(cudaFreeHost(Copies));
  CHECK(cudaEventDestroy(Stepped));
  CHECK(cudaEventDestroy(Copied));
  CHECK(cudaStreamDestroy(Main));
  CHECK(cudaStreamDestroy(Side));
  return finish(Right);
}

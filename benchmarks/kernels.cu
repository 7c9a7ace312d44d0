// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Six kernels as textbooks write them: five without races and a breadth-first
// search whose racy lines are marked. The same source is built with and without
// -fsanitize=cuda-race, and benchmarks/run compares the two.
//
//   ./kernels [--runs N] [--only NAME]
//
// prints a line for each kernel: the median and the least time of N launches in
// microseconds, and that of the very first launch, which a checker that samples
// later launches makes dearest; and another, how much memory it has allocated
// and how much less of the device's is free. Results are compared with the
// host's.

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <cuda_runtime.h>
#include <functional>
#include <string>
#include <vector>

//===----------------------------------------------------------------------===//
// The kernels
//===----------------------------------------------------------------------===//

__global__ void saxpy(int N, float A, const float *X, float *Y) {
  int I = blockIdx.x * blockDim.x + threadIdx.x;
  if (I < N)
    Y[I] = A * X[I] + Y[I];
}

/// A step of a 5-point stencil that reads its neighbours from global memory.
/// The border is copied.
__global__ void stencilGlobal(int Width, const float *In, float *Out) {
  int X = blockIdx.x * blockDim.x + threadIdx.x;
  int Y = blockIdx.y * blockDim.y + threadIdx.y;
  if (X >= Width || Y >= Width)
    return;
  int I = Y * Width + X;
  float Value = In[I];
  if (X > 0 && X < Width - 1 && Y > 0 && Y < Width - 1)
    Value = 0.5f * Value +
            0.125f * (In[I - 1] + In[I + 1] + In[I - Width] + In[I + Width]);
  Out[I] = Value;
}

constexpr int TileX = 32, TileY = 8;

/// The same step through a tile in shared memory with a margin of one.
__global__ void stencilShared(int Width, const float *In, float *Out) {
  __shared__ float Tile[TileY + 2][TileX + 2];
  int X = blockIdx.x * TileX + threadIdx.x,
      Y = blockIdx.y * TileY + threadIdx.y;
  int TX = threadIdx.x + 1, TY = threadIdx.y + 1, I = Y * Width + X;
  Tile[TY][TX] = In[I];
  if (TX == 1 && X > 0)
    Tile[TY][0] = In[I - 1];
  if (TX == TileX && X < Width - 1)
    Tile[TY][TileX + 1] = In[I + 1];
  if (TY == 1 && Y > 0)
    Tile[0][TX] = In[I - Width];
  if (TY == TileY && Y < Width - 1)
    Tile[TileY + 1][TX] = In[I + Width];
  __syncthreads();
  float Value = Tile[TY][TX];
  if (X > 0 && X < Width - 1 && Y > 0 && Y < Width - 1)
    Value = 0.5f * Value + 0.125f * (Tile[TY][TX - 1] + Tile[TY][TX + 1] +
                                     Tile[TY - 1][TX] + Tile[TY + 1][TX]);
  Out[I] = Value;
}

constexpr int Block = 16;

__global__ void matmul(int N, const float *A, const float *B, float *C) {
  __shared__ float TileA[Block][Block], TileB[Block][Block];
  int Row = blockIdx.y * Block + threadIdx.y;
  int Column = blockIdx.x * Block + threadIdx.x;
  float Sum = 0;
  for (int T = 0; T < N; T += Block) {
    TileA[threadIdx.y][threadIdx.x] = A[Row * N + T + threadIdx.x];
    TileB[threadIdx.y][threadIdx.x] = B[(T + threadIdx.y) * N + Column];
    __syncthreads();
    for (int K = 0; K < Block; ++K)
      Sum += TileA[threadIdx.y][K] * TileB[K][threadIdx.x];
    __syncthreads();
  }
  C[Row * N + Column] = Sum;
}

constexpr int Bins = 256;

__global__ void histogram(int N, const unsigned char *Data, unsigned *Counts) {
  __shared__ unsigned Local[Bins];
  for (int B = threadIdx.x; B < Bins; B += blockDim.x)
    Local[B] = 0;
  __syncthreads();
  for (int I = blockIdx.x * blockDim.x + threadIdx.x; I < N;
       I += gridDim.x * blockDim.x)
    atomicAdd(&Local[Data[I]], 1u);
  __syncthreads();
  for (int B = threadIdx.x; B < Bins; B += blockDim.x)
    atomicAdd(&Counts[B], Local[B]);
}

constexpr int Bodies = 128; // of a tile, and threads of a block

__device__ float3 attract(float3 Sum, float4 Me, float4 Other) {
  float X = Other.x - Me.x, Y = Other.y - Me.y, Z = Other.z - Me.z;
  float Inverse = rsqrtf(X * X + Y * Y + Z * Z + 0.01f);
  float Pull = Other.w * Inverse * Inverse * Inverse;
  return {Sum.x + X * Pull, Sum.y + Y * Pull, Sum.z + Z * Pull};
}

__global__ void nbody(int N, const float4 *Positions, float4 *Forces) {
  __shared__ float4 Tile[Bodies];
  int I = blockIdx.x * Bodies + threadIdx.x;
  float4 Me = Positions[I];
  float3 Sum = {0, 0, 0};
  for (int T = 0; T < N; T += Bodies) {
    Tile[threadIdx.x] = Positions[T + threadIdx.x];
    __syncthreads();
    for (int J = 0; J < Bodies; ++J)
      Sum = attract(Sum, Me, Tile[J]);
    __syncthreads();
  }
  Forces[I] = {Sum.x, Sum.y, Sum.z, 0};
}

constexpr int Unset = -1;

/// One level of a breadth-first search: all who race write the same value, and
/// the result is right on today's GPUs, but nothing orders the accesses.
__global__ void bfs(int N, const int *Rows, const int *Edges, int *Levels,
                    int Depth, int *Changed) {
  int U = blockIdx.x * blockDim.x + threadIdx.x;
  if (U >= N)
    return;
  if (Levels[U] != Depth) // RACE
    return;
  for (int E = Rows[U]; E < Rows[U + 1]; ++E) {
    int V = Edges[E];
    if (Levels[V] == Unset) { // RACE
      Levels[V] = Depth + 1;  // RACE
      *Changed = 1;           // RACE
    }
  }
}

//===----------------------------------------------------------------------===//
// Data
//===----------------------------------------------------------------------===//

static void check(cudaError_t Status, int Line) {
  if (Status == cudaSuccess)
    return;
  fprintf(stderr, "kernels: line %d: %s\n", Line, cudaGetErrorString(Status));
  exit(1);
}
#define CHECK(...) check(__VA_ARGS__, __LINE__)

/// splitmix64 with a fixed seed: the same data everywhere and in every run.
static uint32_t draw() {
  static uint64_t State = 1;
  uint64_t Z = State += 0x9e3779b97f4a7c15;
  Z = (Z ^ (Z >> 30)) * 0xbf58476d1ce4e5b9;
  Z = (Z ^ (Z >> 27)) * 0x94d049bb133111eb;
  return static_cast<uint32_t>(Z >> 32);
}

static float drawUnit() { return draw() * 0x1p-32f; }

static std::vector<float> drawMany(size_t N) {
  std::vector<float> Values(N);
  std::generate(Values.begin(), Values.end(), drawUnit);
  return Values;
}

/// Of the kernel that runs.
static size_t AllocatedBytes;

template <typename T> T *upload(const std::vector<T> &Values) {
  T *Device;
  CHECK(cudaMalloc(&Device, Values.size() * sizeof(T)));
  AllocatedBytes += Values.size() * sizeof(T);
  CHECK(cudaMemcpy(Device, Values.data(), Values.size() * sizeof(T),
                   cudaMemcpyHostToDevice));
  return Device;
}

template <typename T> std::vector<T> download(const T *Device, size_t N) {
  std::vector<T> Values(N);
  CHECK(
      cudaMemcpy(Values.data(), Device, N * sizeof(T), cudaMemcpyDeviceToHost));
  return Values;
}

static bool near(double Got, double Want) {
  return std::fabs(Got - Want) <= 1e-3 * std::max(1.0, std::fabs(Want));
}

//===----------------------------------------------------------------------===//
// Measuring
//===----------------------------------------------------------------------===//

struct Options {
  int Runs = 20;
  std::string Only;
};

using Action = std::function<void()>;

static double usedMiB() {
  size_t Free, Total;
  CHECK(cudaMemGetInfo(&Free, &Total));
  return (Total - Free) / 1048576.0;
}
static double UsedBefore; // By the kernel.

/// Prepares, launches and times; the first two launches are not in the median.
static void measure(const char *Name, const Options &Opts,
                    const Action &Prepare, const Action &Launch) {
  cudaEvent_t Start, End;
  CHECK(cudaEventCreate(&Start));
  CHECK(cudaEventCreate(&End));
  constexpr int WarmUp = 2;
  std::vector<float> Times;
  for (int Run = 0; Run < WarmUp + Opts.Runs; ++Run) {
    Prepare();
    CHECK(cudaDeviceSynchronize());
    CHECK(cudaEventRecord(Start));
    Launch();
    CHECK(cudaEventRecord(End));
    CHECK(cudaGetLastError());
    CHECK(cudaEventSynchronize(End));
    float Milliseconds;
    CHECK(cudaEventElapsedTime(&Milliseconds, Start, End));
    Times.push_back(Milliseconds * 1000);
  }
  float First = Times.front();
  Times.erase(Times.begin(), Times.begin() + WarmUp);
  std::sort(Times.begin(), Times.end());
  printf("%-10s median_us %9.1f min_us %9.1f first_us %9.1f\n", Name,
         Times[Times.size() / 2], Times.front(), First);
  printf("memory %s allocated_mib %.1f grown_mib %.1f\n", Name,
         AllocatedBytes / 1048576.0, usedMiB() - UsedBefore);
  fflush(stdout);
  CHECK(cudaEventDestroy(Start));
  CHECK(cudaEventDestroy(End));
}

static bool runSaxpy(const Options &Opts) {
  constexpr int N = 1 << 24;
  auto HostX = drawMany(N), HostY = drawMany(N);
  float *X = upload(HostX), *Y = upload(HostY);
  auto Reset = [&] {
    CHECK(
        cudaMemcpy(Y, HostY.data(), N * sizeof(float), cudaMemcpyHostToDevice));
  };
  measure("saxpy", Opts, Reset,
          [&] { saxpy<<<N / 256, 256>>>(N, 2.0f, X, Y); });
  auto Got = download(Y, N);
  CHECK(cudaFree(X));
  CHECK(cudaFree(Y));
  for (int I = 0; I < N; ++I)
    if (!near(Got[I], 2.0 * HostX[I] + HostY[I]))
      return false;
  return true;
}

static std::vector<float> hostStencil(int Width, const std::vector<float> &In) {
  std::vector<float> Out = In;
  for (int Y = 1; Y < Width - 1; ++Y)
    for (int X = 1; X < Width - 1; ++X) {
      int I = Y * Width + X;
      Out[I] = 0.5f * In[I] +
               0.125f * (In[I - 1] + In[I + 1] + In[I - Width] + In[I + Width]);
    }
  return Out;
}

/// Two steps: one through global memory, one through shared memory.
static bool runStencil(const Options &Opts) {
  constexpr int Width = 4096, N = Width * Width;
  auto Host = drawMany(N);
  float *In = upload(Host), *Middle = upload(Host), *Out = upload(Host);
  dim3 Grid(Width / TileX, Width / TileY), Threads(TileX, TileY);
  measure(
      "stencil", Opts, [] {},
      [&] {
        stencilGlobal<<<Grid, Threads>>>(Width, In, Middle);
        stencilShared<<<Grid, Threads>>>(Width, Middle, Out);
      });
  auto Got = download(Out, N);
  for (float *Device : {In, Middle, Out})
    CHECK(cudaFree(Device));
  auto Want = hostStencil(Width, hostStencil(Width, Host));
  return std::equal(Got.begin(), Got.end(), Want.begin(), near);
}

static bool runMatmul(const Options &Opts) {
  constexpr int N = 1024;
  auto HostA = drawMany(N * N), HostB = drawMany(N * N);
  float *A = upload(HostA), *B = upload(HostB), *C = upload(HostA);
  dim3 Grid(N / Block, N / Block), Threads(Block, Block);
  measure(
      "matmul", Opts, [] {}, [&] { matmul<<<Grid, Threads>>>(N, A, B, C); });
  auto Got = download(C, N * N);
  for (float *Device : {A, B, C})
    CHECK(cudaFree(Device));
  for (int Sample = 0; Sample < 4096; ++Sample) {
    int Row = draw() % N, Column = draw() % N;
    double Want = 0;
    for (int K = 0; K < N; ++K)
      Want += double(HostA[Row * N + K]) * HostB[K * N + Column];
    if (!near(Got[Row * N + Column], Want))
      return false;
  }
  return true;
}

static bool runHistogram(const Options &Opts) {
  constexpr int N = 1 << 24;
  std::vector<unsigned char> Host(N);
  std::vector<unsigned> Want(Bins);
  for (unsigned char &Byte : Host)
    ++Want[Byte = static_cast<unsigned char>(draw())];
  unsigned char *Data = upload(Host);
  unsigned *Counts = upload(Want);
  auto Reset = [&] { CHECK(cudaMemset(Counts, 0, Bins * sizeof(unsigned))); };
  measure("histogram", Opts, Reset,
          [&] { histogram<<<1024, 256>>>(N, Data, Counts); });
  auto Got = download(Counts, Bins);
  CHECK(cudaFree(Data));
  CHECK(cudaFree(Counts));
  return Got == Want;
}

static bool runNbody(const Options &Opts) {
  constexpr int N = 1 << 14;
  std::vector<float4> Host(N);
  for (float4 &Body : Host)
    Body = {drawUnit(), drawUnit(), drawUnit(), drawUnit()};
  float4 *Positions = upload(Host), *Forces = upload(Host);
  measure(
      "nbody", Opts, [] {},
      [&] { nbody<<<N / Bodies, Bodies>>>(N, Positions, Forces); });
  auto Got = download(Forces, N);
  CHECK(cudaFree(Positions));
  CHECK(cudaFree(Forces));
  for (int Sample = 0; Sample < 64; ++Sample) {
    int I = draw() % N;
    double X = 0, Y = 0, Z = 0;
    for (const float4 &Other : Host) {
      double DX = Other.x - Host[I].x, DY = Other.y - Host[I].y;
      double DZ = Other.z - Host[I].z;
      double Pull =
          Other.w * std::pow(DX * DX + DY * DY + DZ * DZ + 0.01, -1.5);
      X += DX * Pull, Y += DY * Pull, Z += DZ * Pull;
    }
    // Forces nearly cancel, so their error is measured by the sum of pulls.
    double Slack = 1e-4 * N;
    if (std::fabs(Got[I].x - X) > Slack || std::fabs(Got[I].y - Y) > Slack ||
        std::fabs(Got[I].z - Z) > Slack)
      return false;
  }
  return true;
}

/// A random directed graph with vertices of degree 4 to 12, and the levels of
/// its vertices as seen from vertex 0.
struct Graph {
  std::vector<int> Rows{0}, Edges, Levels;
  int Depth = 0;

  explicit Graph(int N) : Levels(N, Unset) {
    for (int U = 0; U < N; ++U)
      Rows.push_back(Rows.back() + 4 + draw() % 9);
    Edges.resize(Rows.back());
    std::generate(Edges.begin(), Edges.end(),
                  [&] { return static_cast<int>(draw() % N); });
    std::vector<int> Queue{0};
    Levels[0] = 0;
    for (size_t Head = 0; Head < Queue.size(); ++Head)
      for (int U = Queue[Head], E = Rows[U]; E < Rows[U + 1]; ++E)
        if (int V = Edges[E]; Levels[V] == Unset) {
          Depth = Levels[V] = Levels[U] + 1;
          Queue.push_back(V);
        }
  }
};

/// A run is a whole traversal. The host does not look at the flags between its
/// levels, so that the GPU's time is measured and not the bus's.
static bool runBfs(const Options &Opts) {
  constexpr int N = 1 << 20;
  Graph G(N);
  std::vector<int> Start(N, Unset);
  Start[0] = 0;
  int *Rows = upload(G.Rows), *Edges = upload(G.Edges), *Levels = upload(Start);
  int *Changed = upload(std::vector<int>(G.Depth + 1));
  auto Reset = [&] {
    CHECK(cudaMemcpy(Levels, Start.data(), N * sizeof(int),
                     cudaMemcpyHostToDevice));
    CHECK(cudaMemset(Changed, 0, (G.Depth + 1) * sizeof(int)));
  };
  measure("bfs", Opts, Reset, [&] {
    for (int Depth = 0; Depth <= G.Depth; ++Depth)
      bfs<<<N / 256, 256>>>(N, Rows, Edges, Levels, Depth, Changed + Depth);
  });
  bool Right = download(Levels, N) == G.Levels;
  auto Flags = download(Changed, G.Depth + 1);
  for (int *Device : {Rows, Edges, Levels, Changed})
    CHECK(cudaFree(Device));
  return Right && Flags.back() == 0 &&
         std::count(Flags.begin(), Flags.end(), 1) == G.Depth;
}

static const struct {
  const char *Name;
  bool (*Run)(const Options &);
} Benchmarks[] = {{"saxpy", runSaxpy},   {"stencil", runStencil},
                  {"matmul", runMatmul}, {"histogram", runHistogram},
                  {"nbody", runNbody},   {"bfs", runBfs}};

static Options parse(int Argc, char **Argv) {
  Options Opts;
  for (int I = 1; I < Argc; I += 2) {
    bool Value = I + 1 < Argc;
    if (Value && !strcmp(Argv[I], "--runs") && atoi(Argv[I + 1]) > 0) {
      Opts.Runs = atoi(Argv[I + 1]);
    } else if (Value && !strcmp(Argv[I], "--only")) {
      Opts.Only = Argv[I + 1];
    } else {
      fprintf(stderr, "usage: kernels [--runs N] [--only NAME]\n");
      exit(2);
    }
  }
  return Opts;
}

int main(int Argc, char **Argv) {
  Options Opts = parse(Argc, Argv);
  int Failures = 0, Ran = 0;
  for (const auto &B : Benchmarks) {
    if (!Opts.Only.empty() && Opts.Only != B.Name)
      continue;
    ++Ran;
    AllocatedBytes = 0;
    UsedBefore = usedMiB();
    if (!B.Run(Opts)) {
      printf("%s: wrong result\n", B.Name);
      ++Failures;
    }
  }
  if (!Ran) {
    fprintf(stderr, "kernels: there is no kernel '%s'\n", Opts.Only.c_str());
    return 2;
  }
  printf("memory used_mib %.1f\n", usedMiB());
  return Failures ? 1 : 0;
}

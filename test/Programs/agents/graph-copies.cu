// Intent: a graph that is launched several times: two copies bring the factors, a kernel
// multiplies, another one adds up, a copy takes the result. The racy twins lack an edge.
// FIXED: fixed
// RACY: factor-too-late -DNO_FACTOR
// RACY: sum-too-early -DNO_PRODUCT
// RACY: taken-too-early -DNO_SUM
// UNSEEN: collider (taken-too-early): copies of graphs are not checked
// UNSEEN: collider (factor-too-late): the copy is seldom under way while a check looks at a cell
// UNSEEN: metadata (factor-too-late taken-too-early): copies of graphs are not followed
#include "../streams/streams.h"

constexpr unsigned Threads = 64, Blocks = 2, N = Threads * Blocks, Launches = 3;
constexpr unsigned Bytes = N * sizeof(unsigned);

__global__ void multiply(const unsigned *A, const unsigned *B, unsigned *Products) {
  const unsigned I = blockIdx.x * Threads + threadIdx.x;
  for (unsigned R = 0; R < 4; ++R) {
    Products[I] = A[I] * B[N - 1 - I] + 3 - R; // RACE: factor-too-late sum-too-early
    __syncthreads();
  }
}

/// Each thread's sum of the products in a row.
__global__ void add(const unsigned *Products, unsigned *Sums) {
  const unsigned I = blockIdx.x * Threads + threadIdx.x;
  unsigned Sum = 0;
  for (unsigned J = 0; J < 8; ++J) {
    Sum += Products[(I + J) % N]; // RACE: sum-too-early
    Sums[I] = Sum;                // RACE: taken-too-early
    __syncthreads();
  }
}

using Node = cudaGraphNode_t;

static Node addCopy(cudaGraph_t Graph, std::vector<Node> After, void *To,
                    const void *From, cudaMemcpyKind Kind) {
  Node New;
  CHECK(cudaGraphAddMemcpyNode1D(&New, Graph, After.data(), After.size(), To, From, Bytes,
                                 Kind));
  return New;
}

template <typename Kernel>
Node addKernel(cudaGraph_t Graph, std::vector<Node> After, Kernel *Function,
               std::vector<void *> Arguments) {
  cudaKernelNodeParams Parameters = {};
  Parameters.func = reinterpret_cast<void *>(Function);
  Parameters.gridDim = Blocks;
  Parameters.blockDim = Threads;
  Parameters.kernelParams = Arguments.data();
  Node New;
  CHECK(cudaGraphAddKernelNode(&New, Graph, After.data(), After.size(), &Parameters));
  return New;
}

struct Memory {
  unsigned *A = zeroed<unsigned>(N), *B = zeroed<unsigned>(N);
  unsigned *Products = zeroed<unsigned>(N), *Sums = zeroed<unsigned>(N);
  unsigned *Host; ///< A, B, the sums.
};

static cudaGraph_t makeGraph(Memory &M) {
  cudaGraph_t Graph;
  CHECK(cudaGraphCreate(&Graph, 0));
  const Node A = addCopy(Graph, {}, M.A, M.Host, cudaMemcpyHostToDevice);
  const Node B = addCopy(Graph, {}, M.B, M.Host + N, cudaMemcpyHostToDevice);
  std::vector<Node> Factors = {A};
#ifndef NO_FACTOR
  Factors.push_back(B);
#endif
  const Node Products = addKernel(Graph, Factors, multiply, {&M.A, &M.B, &M.Products});
  std::vector<Node> Summands = {B};
#ifndef NO_PRODUCT
  Summands.push_back(Products);
#endif
  const Node Sums = addKernel(Graph, Summands, add, {&M.Products, &M.Sums});
  std::vector<Node> Results = {Products};
#ifndef NO_SUM
  Results.push_back(Sums);
#endif
  addCopy(Graph, Results, M.Host + 2 * N, M.Sums, cudaMemcpyDeviceToHost);
  return Graph;
}

int main() {
  Memory M;
  CHECK(cudaMallocHost(&M.Host, 3 * Bytes));
  cudaGraphExec_t Exec;
  CHECK(cudaGraphInstantiate(&Exec, makeGraph(M), 0));
  cudaStream_t Stream = makeStream();
  bool Right = true;
  for (unsigned L = 1; L <= Launches; ++L) {
    for (unsigned I = 0; I < N; ++I) {
      M.Host[I] = L * (I % 17 + 1);
      M.Host[N + I] = L + I % 13;
    }
    CHECK(cudaGraphLaunch(Exec, Stream));
    CHECK(cudaStreamSynchronize(Stream));
    for (unsigned I = 0; I < N; ++I) {
      unsigned Want = 0;
      for (unsigned J = I; J < I + 8; ++J)
        Want += M.Host[J % N] * M.Host[N + N - 1 - J % N];
      Right &= M.Host[2 * N + I] == Want;
    }
  }
  return finish(Right);
}

extern __device__ int weight(int Value);

__global__ void sum(const int *In, int *Out, int N) {
  int I = blockIdx.x * blockDim.x + threadIdx.x;
  if (I < N)
    *Out += weight(In[I]); // RACE: an atomicAdd is missing
}

int sumOfOnes(int N) {
  int *In, *Out, Result = 0;
  cudaMallocManaged(&In, N * sizeof(int));
  cudaMallocManaged(&Out, sizeof(int));
  for (int I = 0; I < N; ++I)
    In[I] = 1;
  *Out = 0;
  sum<<<(N + 127) / 128, 128>>>(In, Out, N);
  if (cudaDeviceSynchronize() == cudaSuccess)
    Result = *Out;
  cudaFree(In);
  cudaFree(Out);
  return Result;
}

__global__ void lastThread(int *Out) {
  *Out = threadIdx.x; // RACE: which thread's index remains?
}

int lastOf(int Threads) {
  int *Out, Result = -1;
  cudaMallocManaged(&Out, sizeof(int));
  *Out = -1;
  lastThread<<<1, Threads>>>(Out);
  if (cudaDeviceSynchronize() == cudaSuccess)
    Result = *Out;
  cudaFree(Out);
  return Result;
}

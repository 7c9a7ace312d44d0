/// Adds up the values of a block.
__global__ void reduce(const float *Values, float *Sums) {
  extern __shared__ float Tree[];
  Tree[threadIdx.x] = Values[blockIdx.x * blockDim.x + threadIdx.x];
  for (unsigned Step = blockDim.x / 2; Step != 0; Step /= 2)
    if (threadIdx.x < Step)
      Tree[threadIdx.x] += Tree[threadIdx.x + Step];
  if (threadIdx.x == 0)
    Sums[blockIdx.x] = Tree[0];
}

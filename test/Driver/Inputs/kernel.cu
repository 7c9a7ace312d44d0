__global__ void kernel(int *P) { P[threadIdx.x] = 1; }
void launch() { kernel<<<1, 32>>>(nullptr); }

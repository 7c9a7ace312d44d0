// Every way to launch a kernel, for wrapped-launch.test.
__global__ void kernel(int *P) { *P = 1; }

void launch(int *P) {
  void *Args[] = {&P};
  kernel<<<1, 1>>>(P);
  cudaLaunchCooperativeKernel((void *)kernel, 1, 1, Args, 0, 0);
  cudaLaunchConfig_t Config = {};
  Config.gridDim = Config.blockDim = 1;
  cudaLaunchKernelEx(&Config, kernel, P);
}

int main() { launch(nullptr); }

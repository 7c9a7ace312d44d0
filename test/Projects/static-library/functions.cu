__device__ int weight(int Value) { return 3 * Value; }

#include "histogram.h"

// A constexpr function that is not __device__.
__device__ int bin(int Value) { return binOf(Value); }

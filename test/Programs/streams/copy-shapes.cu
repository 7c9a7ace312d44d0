// Intent: a kernel writes some columns of a matrix while a stream copies or fills others,
// in rows that share words. The racy twins' columns overlap by one byte.
// FIXED: plane-beside
// FIXED: box-beside -DBOX
// FIXED: fill-beside -DFILL
// FIXED: row-beside -DROW
// RACY: plane
// RACY: box -DBOX
// RACY: fill -DFILL
// RACY: row -DROW
// UNSEEN: collider: no value changes while a check looks at it
#include "streams.h"

constexpr unsigned Width = 45, Height = 24, Left = 17;
#ifdef RACY
constexpr unsigned Copied = Left - 1;
#else
constexpr unsigned Copied = Left;
#endif

/// Writes the bytes of the left columns; of one row, all of them.
__global__ void put(unsigned char *Bytes, unsigned Pitch) {
  Bytes[blockIdx.x * Pitch + threadIdx.x] = (unsigned char)(threadIdx.x + 1); // RACE
}

int main() {
  unsigned char *Bytes = zeroed<unsigned char>(Width * Height);
  unsigned char *To = zeroed<unsigned char>(Width * Height);
  cudaStream_t A = makeStream(), B = makeStream();
  put<<<Height, Left, 0, A>>>(Bytes, Width);
#if defined(BOX)
  constexpr unsigned Depth = 4;
  cudaMemcpy3DParms Box = {};
  Box.srcPtr = make_cudaPitchedPtr(Bytes, Width, Width, Height / Depth);
  Box.dstPtr = make_cudaPitchedPtr(To, Width, Width, Height / Depth);
  Box.srcPos = make_cudaPos(Copied, 0, 0);
  Box.extent = make_cudaExtent(Width - Copied, Height / Depth, Depth);
  Box.kind = cudaMemcpyDeviceToDevice;
  CHECK(cudaMemcpy3DAsync(&Box, B)); // RACE: box
#elif defined(FILL)
  CHECK(cudaMemset2DAsync(Bytes + Copied, Width, 7, Width - Copied, Height, B)); // RACE: fill
#elif defined(ROW)
  CHECK(cudaMemcpyAsync(Bytes + (Height - 1) * Width + Copied, To, // RACE: row
                        Width - Copied, cudaMemcpyDeviceToDevice, B));
#else
  CHECK(cudaMemcpy2DAsync(To, Width, Bytes + Copied, Width, Width - Copied, // RACE: plane
                          Height, cudaMemcpyDeviceToDevice, B));
#endif
  return finish(matches(Bytes, Width * Height, [](size_t I) {
    const unsigned X = I % Width;
#ifdef FILL
    return (unsigned char)(X < Left ? X + 1 : 7);
#else
    return (unsigned char)(X < Left ? X + 1 : 0);
#endif
  }));
}

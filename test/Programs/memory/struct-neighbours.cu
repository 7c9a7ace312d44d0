// Intent: different warps write different fields of the same structs, padding
// in between; that is not racy.
// CLEAN-ONLY
#include "../check.h"

constexpr unsigned Blocks = 8, Rounds = 50;

struct Mixed {
  char Tag;
  short Flag;
  int Count;
  char Last;
  double Value;
};

__global__ void update(Mixed *Global) {
  __shared__ Mixed Local[32];
  unsigned Warp = threadIdx.x / 32, Lane = threadIdx.x % 32;
  for (Mixed *M : {&Local[Lane], &Global[blockIdx.x * 32 + Lane]})
    for (unsigned R = 1; R <= Rounds; ++R) {
      switch (Warp) {
      case 0:
        M->Tag = R;
        break;
      case 1:
        M->Flag = 2 * R;
        break;
      case 2:
        M->Count = 3 * R;
        break;
      case 3:
        M->Last = R;
        break;
      default:
        M->Value = R;
      }
      __syncwarp();
    }
  __syncthreads();
  if (Warp == 0)
    Global[blockIdx.x * 32 + Lane].Value +=
        Local[Lane].Tag + Local[Lane].Flag + Local[Lane].Value;
}

int main() {
  Mixed *Global = zeroed<Mixed>(Blocks * 32);
  update<<<Blocks, 5 * 32>>>(Global);
  bool Right = true;
  for (const Mixed &M : download(Global, Blocks * 32))
    Right &= M.Tag == Rounds && M.Flag == 2 * Rounds && M.Count == 3 * Rounds &&
             M.Last == Rounds && M.Value == 5 * Rounds;
  return finish(Right);
}

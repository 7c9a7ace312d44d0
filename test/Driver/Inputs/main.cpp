#include <cuda_runtime_api.h>
#include <new>
#include <vector>
void launch();
int main() {
  std::vector<int> *V = new std::vector<int>(cudaSuccess);
  launch();
  return V->size();
}

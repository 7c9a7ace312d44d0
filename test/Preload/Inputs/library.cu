// The kernels are in a shared library: one that the program is linked with, or, with OPENED, opens.
#include "common.h"
#ifdef OPENED
#include <dlfcn.h>
#include <string>
#include <unistd.h>
#endif
extern "C" void computeInLibrary(unsigned *Host);
int main() {
  unsigned Host[Threads];
#ifdef OPENED
  char Self[4096] = {};
  if (readlink("/proc/self/exe", Self, sizeof(Self) - 1) < 0)
    return 1;
  void *Library = dlopen((std::string(Self) + ".so").c_str(), RTLD_NOW);
  auto *Compute = Library ? reinterpret_cast<void (*)(unsigned *)>(dlsym(Library, "computeInLibrary")) : nullptr;
  if (!Compute) {
    std::printf("WRONG: %s\n", dlerror());
    return 1;
  }
  Compute(Host);
#else
  computeInLibrary(Host);
#endif
  for (unsigned I = 0; I < Threads; ++I)
    expect(Host[I], wanted(I, 7), "out");
  return finish();
}

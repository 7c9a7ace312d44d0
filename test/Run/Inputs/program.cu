// A program that does what its words say, one after the other. A library of the
// same code, with -DLIBRARY, has launch() alone.
#include <cstdlib>
#include <csignal>
#include <string>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

__global__ void count(int *P, bool IsRacy) {
  if (IsRacy)
    *P += 1; // RACE
  P[1 + blockIdx.x * blockDim.x + threadIdx.x] = 1;
}
__global__ void fail(int *P) { P[1 << 20] = 1; } // FAULT

extern "C" int launch(bool IsRacy, bool Fails) {
  int *P;
  if (cudaMalloc(&P, 4096) != cudaSuccess)
    return 1;
  count<<<2, 32>>>(P, IsRacy);
  cudaDeviceSynchronize();
  if (Fails)
    fail<<<1, 1>>>(P);
  return cudaDeviceSynchronize() != cudaSuccess;
}

#ifndef LIBRARY
int main(int Count, char **Words) {
  for (int I = 1; I < Count; ++I) {
    const std::string Word = Words[I];
    if (Word == "racy" || Word == "clean" || Word == "fails")
      launch(Word == "racy", Word == "fails");
    else if (Word == "_exit")
      _exit(0);
    else if (Word == "exit5")
      return 5;
    else if (Word == "vanish") // Without the C library.
      syscall(SYS_exit_group, 0);
    else if (Word == "kill")
      raise(SIGKILL);
    else if (Word == "abort")
      abort();
    else if (Word == "close")
      for (int File = 0; File < 1024; ++File)
        close(File);
    else if (Word == "chdir" && chdir("/") != 0)
      return 1;
    else if (Word == "clearenv")
      clearenv();
    else if (Word == "sleep")
      sleep(1);
    else if (Word == "pause")
      pause();
    else if (Word == "daemon" && daemon(0, 0) != 0)
      return 1;
    else if (Word == "fork" && fork() != 0) // The child goes on.
      return wait(nullptr) < 0;
    else if (Word == "leave" && fork() != 0) // Nobody waits for the child.
      return 0;
    else if (Word == "system")
      return system(Words[I + 1]) != 0 ? 3 : 0;
  }
}
#endif

// Intent: however a program ends on the simulated GPU, its findings appear once and set the
// exit code; a clean one keeps its own code. A forked child repeats nothing.

// REQUIRES: plugin, host-runtime, sim
// RUN: %sim_clangxx -fsanitize=cuda-race -O2 --offload-arch=sm_90 %s -o %t
// RUN: %sim_clangxx -fsanitize=cuda-race -O2 --offload-arch=sm_90 -DFIXED %s -o %t.fixed

// RUN: %python %S/Inputs/status.py 66 %crsan run %t _exit 2>&1 | FileCheck %s
// RUN: %python %S/Inputs/status.py 66 %crsan run %t _Exit 2>&1 | FileCheck %s
// RUN: %python %S/Inputs/status.py 66 %crsan run %t quick_exit 2>&1 | FileCheck %s --check-prefixes=CHECK,HANDLER
// RUN: %python %S/Inputs/status.py 66 %crsan run %t thread 2>&1 | FileCheck %s
// RUN: %python %S/Inputs/status.py 66 %crsan run %t atexit 2>&1 | FileCheck %s
// RUN: %python %S/Inputs/status.py 66 %crsan run %t pthread_exit 2>&1 | FileCheck %s
// RUN: %python %S/Inputs/status.py 66 %crsan run %t fork 2>&1 | FileCheck %s --check-prefixes=CHECK,FORK
// RUN: %python %S/Inputs/status.py 66 %crsan run %t forklate 2>&1 | FileCheck %s --check-prefixes=CHECK,LATE
// RUN: %python %S/Inputs/status.py 66 %crsan run %t exec 2>&1 | FileCheck %s --check-prefixes=CHECK,EXEC
// RUN: %python %S/Inputs/status.py 66 %crsan run --detector=oracle %t _exit 2>&1 | FileCheck %s
// HANDLER: handler ran
// FORK: child 5
// LATE: cannot use CUDA
// LATE: child 4
// CHECK-COUNT-1: SUMMARY: CRSan: {{[0-9]+}} data race
// EXEC: the exit status will be that of '/bin/echo'
// EXEC-NEXT: replaced
// CHECK-NOT: SUMMARY

// RUN: %python %S/Inputs/status.py 68 %crsan run %t.fixed _exit 2>&1 | FileCheck %s --check-prefix=OWN
// RUN: %python %S/Inputs/status.py 68 %crsan run %t.fixed quick_exit 2>&1 | FileCheck %s --check-prefix=OWN
// RUN: %python %S/Inputs/status.py 0 %crsan run %t.fixed exec 2>&1 | FileCheck %s --check-prefix=FIXED
// RUN: env CRSAN_OPTIONS=verbosity=1 %crsan run %t.fixed exec 2>&1 | FileCheck %s --check-prefix=CLEAN
// OWN-NOT: CRSan
// OWN: CRSan: the program failed: exit code 3
// OWN-NOT: CRSan
// FIXED-NOT: CRSan
// CLEAN: SUMMARY: CRSan: no data races found
// CLEAN-NEXT: replaced

#include <cstdio>
#include <cstdlib>
#include <pthread.h>
#include <string>
#include <sys/wait.h>
#include <thread>
#include <unistd.h>

__global__ void count(unsigned *Counter) {
#ifdef FIXED
  atomicAdd(Counter, 1u);
#endif
  if (blockIdx.x == 0)
    Counter[1 + threadIdx.x] = threadIdx.x;
#ifndef FIXED
  *Counter += 1;
#endif
}

static void run() {
  unsigned *Counter;
  cudaMalloc(&Counter, 65 * sizeof(unsigned));
  cudaMemset(Counter, 0, 65 * sizeof(unsigned));
  count<<<8, 64>>>(Counter); // Nobody waits for it.
}

/// Runs in a child; what it ends with.
template <typename Function> static void inChild(Function F) {
  pid_t Child = fork();
  if (Child == 0)
    F();
  int Status = 0;
  waitpid(Child, &Status, 0);
  fprintf(stderr, "child %d\n", WEXITSTATUS(Status));
}

int main(int, char **Words) {
  const std::string How = Words[1];
  run();
  if (How == "_exit")
    _exit(3);
  if (How == "_Exit")
    std::_Exit(3);
  if (How == "quick_exit") {
    std::at_quick_exit([] { fputs("handler ran\n", stderr); });
    std::quick_exit(3);
  }
  if (How == "thread")
    std::thread([] { _exit(3); }).join();
  if (How == "pthread_exit") { // The thread outlives main.
    std::thread([] { usleep(100000); }).detach();
    pthread_exit(nullptr);
  }
  if (How == "atexit") {
    std::atexit([] { _exit(3); });
    std::exit(4);
  }
  if (How == "fork")
    inChild([] { _exit(5); });
  if (How == "forklate")
    inChild([] {
      int *P;
      _exit(cudaMalloc(&P, 4) == cudaErrorInitializationError ? 4 : 6);
    });
  if (How == "exec")
    execl("/bin/echo", "echo", "replaced", nullptr);
  return 3;
}

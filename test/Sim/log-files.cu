// Intent: the run is saved in the file that log_path names, in the form that its extension or
// `format` asks for, however the program ends; the text still goes to stderr. Each
// program that a process runs by exec has a file. `crsan report` reads the file,
// and finds no more in it than the text says: suppressed races are left out.

// REQUIRES: plugin, host-runtime, sim
// RUN: rm -rf %t && mkdir -p %t
// RUN: %sim_clangxx -fsanitize=cuda-race -O2 --offload-arch=sm_90 %s -o %t/racy
// RUN: %sim_clangxx -fsanitize=cuda-race -O2 --offload-arch=sm_90 -DFIXED %s -o %t/fixed

// RUN: env CRSAN_OPTIONS=log_path=%t/races-%%p.json %python %S/Inputs/status.py 66 %crsan run %t/racy exit 2>&1 | FileCheck %s --check-prefix=TEXT
// RUN: ls %t | FileCheck %s --check-prefix=NAME
// RUN: %crsan report %t/races-*.json | FileCheck %s --check-prefix=TEXT
// RUN: grep '"program": ".*racy exit"' %t/races-*.json
// TEXT: CRSan: data race
// TEXT: log-files.cu:[[#@LINE+62]]:
// TEXT: SUMMARY: CRSan: {{[0-9]+}} data race
// NAME-NOT: .new
// NAME: {{^}}races-{{[0-9]+}}.json{{$}}

// RUN: rm %t/races-* && env CRSAN_OPTIONS=log_path=%t/races-%%p.json %crsan run --detector=oracle %t/racy _exit || true
// RUN: %crsan report %t/races-*.json | FileCheck %s --check-prefix=TEXT
// RUN: rm %t/races-* && env CRSAN_OPTIONS=log_path=%t/races-%%p.json:every_line=0 %crsan run --detector=both %t/racy exit || true
// RUN: %crsan report %t/races-*.json | FileCheck %s --check-prefix=TEXT
// RUN: %crsan report %t/races-*.json | grep 'oracle checked'
// RUN: rm %t/races-* && env CRSAN_OPTIONS=log_path=%t/races-%%p.json %crsan run %t/racy segv || true
// RUN: %crsan report %t/races-*.json | FileCheck %s --check-prefix=TEXT
// RUN: rm %t/races-* && env CRSAN_OPTIONS=log_path=%t/races-%%p.json:halt_on_error=1 %crsan run %t/racy exit || true
// RUN: %crsan report %t/races-*.json | FileCheck %s --check-prefix=TEXT
// A lost device: what follows fails, what was found is there.
// RUN: rm %t/races-* && env CRSAN_OPTIONS=log_path=%t/races-%%p.json %crsan run %t/racy lost || true
// RUN: %crsan report %t/races-*.json | FileCheck %s --check-prefix=LOST
// LOST: CRSan: data race
// LOST: CRSan: kernel fault: invalid address
// LOST: SUMMARY: CRSan: {{[0-9]+}} data race{{.*}}, 1 kernel fault

// A child that is forked has found nothing. A program that takes the place of another has a file of
// its own.
// RUN: rm %t/races-* && env CRSAN_OPTIONS=log_path=%t/races-%%p.json %crsan run %t/racy fork || true
// RUN: ls %t/races-*.json | wc -l | grep '^1$'
// RUN: %crsan report %t/races-*.json | FileCheck %s --check-prefix=TEXT
// RUN: rm %t/races-* && env CRSAN_OPTIONS=log_path=%t/races-%%p.json %crsan run %t/racy exec || true
// RUN: ls %t | FileCheck %s --check-prefix=EXEC
// EXEC: [[FILE:races-[0-9]+]].2.json
// EXEC: [[FILE]].json
// RUN: %crsan report %t/races-*.2.json | FileCheck %s --check-prefix=TEXT

// Other forms and names. A clean run is saved as well.
// RUN: rm %t/races-* && env CRSAN_OPTIONS=log_path=%t/races-%%p.sarif %crsan run %t/racy exit || true
// RUN: grep '"version": "2.1.0"' %t/races-*.sarif
// RUN: rm %t/races-* && env CRSAN_OPTIONS=log_path=%t/races:format=json %crsan run %t/fixed exit
// RUN: %crsan report %t/races.* | FileCheck %s --check-prefix=CLEAN
// CLEAN: SUMMARY: CRSan: no data races found
// RUN: rm %t/races* && env CRSAN_OPTIONS=log_path=%t/races-%%p.json:format=text %crsan run %t/racy exit || true
// RUN: FileCheck %s --check-prefix=TEXT < %t/races-*.json

// RUN: rm %t/races-* && echo 'race:^count' > %t/known.txt
// RUN: env CRSAN_OPTIONS=log_path=%t/races-%%p.json:suppressions=%t/known.txt %crsan run %t/racy exit
// RUN: %crsan report %t/races-*.json | FileCheck %s --check-prefix=KNOWN --implicit-check-not='data race:'
// KNOWN: CRSan: {{[0-9]}} finding{{s are| is}} not shown, as your suppressions ask

// RUN: env LD_LIBRARY_PATH=%crsan_lib/sim CRSAN_OPTIONS=format=json %python %S/Inputs/status.py 1 %t/racy exit 2>&1 | FileCheck %s --check-prefix=NOFILE
// NOFILE: CRSan: CRSAN_OPTIONS: format=json is for a file: name one, such as log_path=races-%p.json
// RUN: env CRSAN_OPTIONS=log_path=%t/missing/races.json %python %S/Inputs/status.py 66 %crsan run %t/racy exit 2>&1 | FileCheck %s --check-prefix=UNWRITTEN
// UNWRITTEN: CRSan: cannot write log_path '{{.*}}missing/races.json.{{[0-9]+}}': No such file or directory
// UNWRITTEN: SUMMARY: CRSan: {{[0-9]+}} data race

#include <csignal>
#include <string>
#include <sys/wait.h>
#include <unistd.h>

__global__ void count(unsigned *Counter) {
#ifdef FIXED
  atomicAdd(Counter, 1u);
  Counter[1 + blockIdx.x * blockDim.x + threadIdx.x] = 1;
#else
  *Counter += 1;
#endif
}

static void run(size_t Bytes) {
  unsigned *Counter = nullptr;
  if (Bytes)
    cudaMalloc(&Counter, Bytes);
  count<<<8, 64>>>(Counter);
  cudaDeviceSynchronize();
}

int main(int, char **Words) {
  const std::string How = Words[1];
  run(4096);
  if (How == "fork" && fork() != 0)
    wait(nullptr);
  if (How == "_exit")
    _exit(3);
  if (How == "segv")
    raise(SIGSEGV);
  if (How == "lost")
    run(0);
  if (How == "exec")
    execl(Words[0], Words[0], "exit", nullptr);
}

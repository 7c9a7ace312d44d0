// The program forks before it uses CUDA; the child uses CUDA, and so does the parent (not with
// the argument "child").
#include "common.h"
#include <cstring>
#include <sys/wait.h>
#include <unistd.h>
__global__ void use(unsigned *Out) {
  __shared__ unsigned Tile[Threads];
  Out[threadIdx.x] = exchangeIn(Tile, 6);
}
static int work() {
  unsigned *Out, Host[Threads];
  CHECK(cudaMalloc(&Out, sizeof(Host)));
  use<<<1, Threads>>>(Out);
  CHECK(cudaMemcpy(Host, Out, sizeof(Host), cudaMemcpyDeviceToHost));
  for (unsigned I = 0; I < Threads; ++I)
    expect(Host[I], wanted(I, 6), "out");
  return finish();
}
int main(int Count, char **Words) {
  const pid_t Child = fork();
  if (Child == 0)
    return work();
  int Status = 0;
  waitpid(Child, &Status, 0);
  std::printf("child: %s %d\n", WIFEXITED(Status) ? "exit" : "signal",
              WIFEXITED(Status) ? WEXITSTATUS(Status) : WTERMSIG(Status));
  std::fflush(stdout);
  if (Count > 1 && !std::strcmp(Words[1], "child"))
    return WIFEXITED(Status) && (WEXITSTATUS(Status) == 0 || WEXITSTATUS(Status) == 66) ? 0 : 1;
  return work();
}

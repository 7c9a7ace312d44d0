// Intent: a task becomes ready when the last task that it waits for counts it down to
// zero; the results are plain. In the racy twin the counting orders nothing.
// UNSEEN: collider: no value changes while a check looks at it
#include "../check.h"
#include "../orders.h"

constexpr unsigned Side = 5, Tasks = Side * Side, Workers = 4;

struct Graph {
  unsigned Missing[Tasks], Left;
  unsigned Value[Tasks];
  struct {
    unsigned Tail, Ready[Tasks + 1]; // Tasks plus one; zero is none yet.
  } Queues[Workers];
};

/// What a task waits for was done by two other workers.
__host__ __device__ unsigned workerOf(unsigned Task) {
  return (Task / Side + 2 * (Task % Side)) % Workers;
}

__device__ void countDown(Graph *G, unsigned Task) {
#ifdef RACY
  unsigned Missing = UPDATE(relaxed, add.u32, &G->Missing[Task], -1);
#else
  unsigned Missing = UPDATE(acq_rel, add.u32, &G->Missing[Task], -1);
#endif
  if (Missing != 1)
    return;
  auto &Queue = G->Queues[workerOf(Task)];
  unsigned Place = atomicAdd(&Queue.Tail, 1);
  STORE(release, &Queue.Ready[Place], Task + 1);
}

__global__ void run(Graph *G) {
  auto &Queue = G->Queues[blockIdx.x];
  for (unsigned Place = 0; LOAD(relaxed, &G->Left) != 0;) {
    unsigned Task = LOAD(acquire, &Queue.Ready[Place]);
    if (Task-- == 0)
      continue;
    ++Place;
    unsigned Row = Task / Side, Column = Task % Side;
    unsigned Up = Row ? G->Value[Task - Side] : 1;  // RACE
    unsigned Left = Column ? G->Value[Task - 1] : 1; // RACE
    G->Value[Task] = Up + Left; // RACE
    if (Row + 1 < Side)
      countDown(G, Task + Side);
    if (Column + 1 < Side)
      countDown(G, Task + 1);
    atomicSub(&G->Left, 1);
  }
}

int main() {
  Graph Host = {};
  std::vector<unsigned> Want(Tasks);
  for (unsigned T = 0; T < Tasks; ++T) {
    Host.Missing[T] = (T >= Side) + (T % Side != 0);
    Want[T] = (T >= Side ? Want[T - Side] : 1) + (T % Side ? Want[T - 1] : 1);
  }
  Host.Left = Tasks;
  Host.Queues[workerOf(0)].Ready[0] = 1;
  Host.Queues[workerOf(0)].Tail = 1;
  Graph *G = upload(std::vector<Graph>{Host});
  run<<<Workers, 1>>>(G);
  return finish(matches(G->Value, Tasks, [&](size_t T) { return Want[T]; }));
}

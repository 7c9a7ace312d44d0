// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// One of several devices that an observer watches.
#include "DeviceView.h"

using namespace crsan;
using namespace crsan::sim;

//===----------------------------------------------------------------------===//
// Host and streams
//===----------------------------------------------------------------------===//

void DeviceView::gridStart(const GridInfo &Info) {
  GridInfo Mine = Info;
  Mine.Grid = grid(Info.Grid);
  Mine.Stream = stream(Info.Stream);
  All.gridStart(Mine);
}

void DeviceView::gridEnd(uint64_t Grid, Stream S) {
  All.gridEnd(grid(Grid), stream(S));
}

void DeviceView::streamOp(Stream S, std::string_view Op,
                          std::span<const HostRange> Reads,
                          std::span<const HostRange> Writes, uint32_t MadeAt) {
  All.streamOp(stream(S), Op, Reads, Writes, MadeAt);
}

void DeviceView::eventRecord(Event E, Stream S) {
  All.eventRecord(numbered(E), stream(S));
}
void DeviceView::eventWait(Event E, Stream S) {
  All.eventWait(numbered(E), stream(S));
}
void DeviceView::eventWaitElsewhere(int Device, Event E, Stream S) {
  All.eventWait(numbered(unsigned(Device), E), stream(S));
}
void DeviceView::streamOrder(Stream Earlier, Stream Later) {
  All.streamOrder(stream(Earlier), stream(Later));
}
void DeviceView::hostEnqueue(Stream S) { All.hostEnqueue(stream(S)); }
void DeviceView::hostSyncStream(Stream S) { All.hostSyncStream(stream(S)); }
void DeviceView::hostSyncEvent(Event E) { All.hostSyncEvent(numbered(E)); }

/// Other devices may go on.
void DeviceView::hostSyncAll() {
  for (Stream S : Streams)
    All.hostSyncStream(numbered(S));
}

void DeviceView::hostFunctionEnd(Stream S) { All.hostFunctionEnd(stream(S)); }

void DeviceView::allocated(HostRange R) { All.allocated(R); }
void DeviceView::hostVisible(HostRange R) { All.hostVisible(R); }
void DeviceView::freed(HostRange R) { All.freed(R); }

//===----------------------------------------------------------------------===//
// Blocks and threads
//===----------------------------------------------------------------------===//

void DeviceView::blockStart(uint64_t Grid, uint32_t Block, uint64_t BlockUid,
                            uint64_t FirstThreadUid, uint32_t Threads) {
  All.blockStart(grid(Grid), Block, block(BlockUid), numbered(FirstThreadUid),
                 Threads);
}
void DeviceView::blockEnd(uint64_t Grid, uint32_t Block, uint64_t BlockUid) {
  All.blockEnd(grid(Grid), Block, block(BlockUid));
}
void DeviceView::threadExit(const ThreadRef &T) { All.threadExit(thread(T)); }
void DeviceView::gridDependencyWait(const ThreadRef &T) {
  All.gridDependencyWait(thread(T));
}

int32_t DeviceView::instruction(int32_t Id) const {
  return Id < 0 ? Id : int32_t(Ordinal << InstructionBits | unsigned(Id));
}

void DeviceView::access(const ThreadRef &T, const Access &A) {
  Access Mine = A;
  Mine.Instruction = instruction(A.Instruction);
  if (SharedAddress::is(A.Address))
    Mine.Address = SharedAddress::make(block(SharedAddress::block(A.Address)),
                                       SharedAddress::offset(A.Address));
  Mine.Async = numbered(A.Async);
  All.access(thread(T), Mine);
}

void DeviceView::fence(const ThreadRef &T, MemoryOrder Order, Scope Within) {
  All.fence(thread(T), Order, Within);
}

void DeviceView::proxyFence(const ThreadRef &T) { All.proxyFence(thread(T)); }

void DeviceView::barrierArrive(const ThreadRef &T, uint64_t Id,
                               BarrierKind Kind, MemoryOrder Order,
                               Scope Within) {
  All.barrierArrive(thread(T), numbered(Id), Kind, Order, Within);
}
void DeviceView::barrierLeave(const ThreadRef &T, uint64_t Id, BarrierKind Kind,
                              MemoryOrder Order, Scope Within) {
  All.barrierLeave(thread(T), numbered(Id), Kind, Order, Within);
}

void DeviceView::syncThreads(const ThreadRef &T, uint64_t Id,
                             int32_t Instruction) {
  All.syncThreads(thread(T), numbered(Id), instruction(Instruction));
}

void DeviceView::annotation(const ThreadRef &T, ptx::Annotation What,
                            uint64_t Address) {
  All.annotation(thread(T), What, Address);
}

//===----------------------------------------------------------------------===//
// Asynchronous copies
//===----------------------------------------------------------------------===//

void DeviceView::asyncIssue(const ThreadRef &T, uint64_t Async, Completion By) {
  All.asyncIssue(thread(T), numbered(Async), By);
}
void DeviceView::asyncComplete(const ThreadRef &T, uint64_t Async,
                               Completion By, uint64_t Barrier) {
  All.asyncComplete(thread(T), numbered(Async), By, numbered(Barrier));
}
void DeviceView::asyncWaited(const ThreadRef &T, uint64_t Async,
                             bool ReadsOnly) {
  All.asyncWaited(thread(T), numbered(Async), ReadsOnly);
}

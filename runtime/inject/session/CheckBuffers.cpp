// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// What instrumented code writes to.

#include "session/CheckBuffers.h"

#include "common/Driver.h"
#include "common/PinnedMemory.h"

#include <fmt/format.h>

namespace crsan {

static CUresult makeCounters(CheckBuffers &New, const char *&Call) {
  constexpr size_t Bytes = sizeof(abi::Counters) + sizeof(abi::Watchpoints);
  Driver &D = theDriver();
  Call = "cuStreamCreate";
  CUresult Result = D.cuStreamCreate(&New.Stream, CU_STREAM_NON_BLOCKING);
  if (Result != CUDA_SUCCESS)
    return Result;
  Call = "cuMemAlloc";
  Result = D.cuMemAlloc(&New.Counters, Bytes);
  if (Result != CUDA_SUCCESS)
    return Result;
  Call = "cuMemsetD8Async";
  Result = D.cuMemsetD8Async(New.Counters, 0, Bytes, New.Stream);
  return Result == CUDA_SUCCESS ? D.cuStreamSynchronize(New.Stream) : Result;
}

CheckBuffers CheckBuffers::make(uint32_t MaxRecords, std::string &Error) {
  Driver &D = theDriver();
  CheckBuffers New;
  // The records come last, so that they never have to be given back.
  const char *Call = nullptr;
  if (CUresult Result = makeCounters(New, Call); Result != CUDA_SUCCESS) {
    Error = fmt::format("{} failed: {}", Call, D.errorText(Result));
  } else {
    const PinnedMemory Memory =
        PinnedMemory::make(abi::recordBufferSize(MaxRecords), Error);
    if (Memory.Host) {
      New.Records = new (Memory.Host) abi::RecordBuffer{};
      New.Records->Capacity = MaxRecords;
      New.RecordsDevice = Memory.Device;
      return New;
    }
    Error = fmt::format("no memory for {} records: {}; lower max_records",
                        MaxRecords, Error);
  }
  if (New.Counters && D.cuMemFree)
    D.cuMemFree(New.Counters);
  if (New.Stream && D.cuStreamDestroy)
    D.cuStreamDestroy(New.Stream);
  return {};
}

} // namespace crsan

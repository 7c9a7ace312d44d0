// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Shadow to clear, and pages to enter.

#include "shadow/DeviceWrites.h"

#include "common/Driver.h"
#include "common/Log.h"

#include <algorithm>

namespace crsan {

void DeviceWrites::clear(uint64_t Address, uint64_t Bytes) {
  ToClear.emplace_back(Address, Bytes);
}

CUresult DeviceWrites::clearAll() {
  CUresult Result = CUDA_SUCCESS;
  std::sort(ToClear.begin(), ToClear.end());
  for (size_t I = 0; I < ToClear.size() && Result == CUDA_SUCCESS;) {
    auto [Begin, Bytes] = ToClear[I++];
    while (I < ToClear.size() && ToClear[I].first == Begin + Bytes)
      Bytes += ToClear[I++].second;
    Result = theDriver().cuMemsetD8Async(Begin, 0, Bytes, Stream);
  }
  return Result;
}

CUresult DeviceWrites::fillAll() {
  CUresult Result = CUDA_SUCCESS;
  for (const Fill &F : ToFill)
    if (Result == CUDA_SUCCESS)
      Result =
          theDriver().cuMemsetD16Async(F.Address, F.Value, F.Number, Stream);
  return Result;
}

CUresult DeviceWrites::writeEntries() {
  Driver &D = theDriver();
  CUresult Result = CUDA_SUCCESS;
  std::vector<uint64_t> Run;
  for (auto It = Entries.begin();
       It != Entries.end() && Result == CUDA_SUCCESS;) {
    const uint64_t First = It->first;
    Run.clear();
    for (; It != Entries.end() && It->first == First + Run.size(); ++It)
      Run.push_back(It->second);
    Result = D.cuMemcpyHtoDAsync(Pages + First * sizeof(Run[0]), Run.data(),
                                 Run.size() * sizeof(Run[0]), Stream);
    // The next run uses the same memory of the host.
    if (Result == CUDA_SUCCESS)
      Result = D.cuStreamSynchronize(Stream);
  }
  return Result;
}

void DeviceWrites::flush() {
  if (ToClear.empty() && ToFill.empty() && Entries.empty())
    return;
  const char *Call = "cuMemsetD8Async";
  CUresult Result = clearAll();
  if (Result == CUDA_SUCCESS && !ToFill.empty()) {
    Call = "cuMemsetD16Async";
    Result = fillAll();
  }
  if (Result == CUDA_SUCCESS && !Entries.empty()) {
    Call = "cuMemcpyHtoDAsync";
    Result = writeEntries();
  } else if (Result == CUDA_SUCCESS) {
    Result = theDriver().cuStreamSynchronize(Stream);
  }
  ToClear.clear();
  ToFill.clear();
  Entries.clear();
  note(Result, Call);
}

void DeviceWrites::note(CUresult Result, const char *Call) {
  if (Result == CUDA_SUCCESS || HasFailed)
    return;
  HasFailed = true;
  // The failure of a kernel is reported elsewhere.
  if (!isSticky(Result))
    theLog().say("metadata mode: {} failed: {}; memory that is allocated from "
                 "now on may be unchecked",
                 Call, theDriver().errorText(Result));
}

} // namespace crsan

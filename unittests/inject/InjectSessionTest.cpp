// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// A run and the buffers of its checks.

#include "common/Driver.h"
#include "common/Log.h"
#include "session/CheckBuffers.h"
#include "session/Session.h"

#include <gtest/gtest.h>

#include <cerrno>
#include <chrono>
#include <future>
#include <string>
#include <thread>

#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

namespace crsan {

// Intent: a thread that holds the session's lock for ever (it may be dying of a
// signal, and wait for the watcher's report) does not hold up the watcher.
TEST(InjectSession, TheWatcherDoesNotWaitForTheHolderOfTheLock) {
  const std::string Path = testing::TempDir() + "crsan-session-log";
  const std::string Pipe = Path + "." + std::to_string(getpid());
  unlink(Pipe.c_str());
  ASSERT_EQ(mkfifo(Pipe.c_str(), 0600), 0) << errno;
  Session S(Flags(), /*IsInstrumentedProgram=*/true);
  theLog().setPath(Path);
  // The pipe does not hold the message, which is written with the lock.
  std::thread Speaker(
      [&] { S.launchFailed(std::string(1 << 20, 'k').c_str(), "an error"); });
  // Returns when the other thread opens the pipe.
  const int Reader = open(Pipe.c_str(), O_RDONLY);
  std::future<bool> Saw =
      std::async(std::launch::async, [&] { return S.sawRace(); });
  EXPECT_EQ(Saw.wait_for(std::chrono::seconds(10)), std::future_status::ready);
  char Read = 0;
  while (Read != '\n' && read(Reader, &Read, 1) == 1) {
  }
  Speaker.join();
  EXPECT_FALSE(Saw.get());
  theLog().setPath("");
  close(Reader);
  unlink(Pipe.c_str());
}

static int Allocated, Streams;

// Intent: code is switched on with all of its buffers, or with none of them,
// and then nothing stays allocated.
TEST(InjectSession, BuffersThatLackAPartAreGivenBack) {
  const Driver Before = theDriver();
  Driver &D = theDriver();
  D = Driver();
  Allocated = Streams = 0;
  D.cuStreamCreate = [](CUstream *Stream, unsigned) {
    *Stream = reinterpret_cast<CUstream>(++Streams);
    return CUDA_SUCCESS;
  };
  D.cuStreamDestroy = [](CUstream) {
    --Streams;
    return CUDA_SUCCESS;
  };
  D.cuMemAlloc = [](CUdeviceptr *Address, size_t) {
    *Address = ++Allocated;
    return CUDA_SUCCESS;
  };
  D.cuMemFree = [](CUdeviceptr) {
    --Allocated;
    return CUDA_SUCCESS;
  };
  D.cuMemsetD8Async = [](CUdeviceptr, unsigned char, size_t, CUstream) {
    return CUDA_SUCCESS;
  };
  D.cuStreamSynchronize = [](CUstream) { return CUDA_SUCCESS; };
  D.cuMemHostRegister = [](void *, size_t, unsigned) {
    return CUDA_ERROR_OUT_OF_MEMORY;
  };
  std::string Error;
  EXPECT_EQ(CheckBuffers::make(16, Error).Records, nullptr);
  EXPECT_EQ(Error, "no memory for 16 records: cuMemHostRegister failed: error "
                   "2; lower max_records");
  EXPECT_EQ(Allocated, 0);
  EXPECT_EQ(Streams, 0);

  D.cuMemHostRegister = [](void *, size_t, unsigned) { return CUDA_SUCCESS; };
  D.cuMemHostGetDevicePointer = [](CUdeviceptr *Address, void *Host, unsigned) {
    *Address = reinterpret_cast<CUdeviceptr>(Host);
    return CUDA_SUCCESS;
  };
  const CheckBuffers Made = CheckBuffers::make(16, Error);
  ASSERT_NE(Made.Records, nullptr);
  EXPECT_EQ(Made.Records->Capacity, 16u);
  EXPECT_NE(Made.Counters, 0u);
  theDriver() = Before;
}

} // namespace crsan

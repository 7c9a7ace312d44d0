// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// An instrumented program of many ends.
//
// Runs against FakeDriver.cpp: FakeProgram WORD..., where a word launches a
// kernel, does something that ends a context, or ends the program.

#include "CubinBuilder.h"
#include "FakeDriver.h"
#include "FakeHostCode.h"

#include <cuda_runtime_api.h>

#include <atomic>
#include <csignal>
#include <cstdio>
#include <cstdlib>
#include <string>
#include <thread>

#include <pthread.h>
#include <sys/ptrace.h>
#include <sys/wait.h>
#include <unistd.h>

using namespace crsan;

static CUlibrary load(const Bytes &Cubin, uint32_t NumSites) {
  auto *Image = new FakeImage;
  Image->Cubin = Cubin.data();
  Image->Size = Cubin.size();
  Image->NumSites = NumSites;
  CUlibrary Library = nullptr;
  cuLibraryLoadData(&Library, Image, nullptr, nullptr, 0, nullptr, nullptr, 0);
  return Library;
}

static CUresult launch(FakeKernel K, unsigned Blocks = 1,
                       unsigned Threads = 32) {
  return CUresult(cudaLaunchKernel(&K, Blocks, Threads, nullptr, 0, nullptr));
}

static CUlibrary Library;
static CUdeviceptr Memory = 0;
constexpr size_t MemoryBytes = 10 << 20;

/// Runs Action on a thread of its own, in the context of this one.
template <typename Function> static void runApart(Function Action) {
  static CUcontext Current;
  cuCtxGetCurrent(&Current);
  std::thread([=] {
    cuCtxPushCurrent(Current);
    Action();
  }).join();
}

/// Another thread launches a kernel that hangs, when the context is idle, but
/// this thread does not know it yet.
static void hangAfterSync() {
  fakeDuringNextSync([] {
    runApart([] { launch({"_Z1kPi", FakeKernel::Hangs, Library}); });
  });
  cuCtxSynchronize();
}

/// What another agent does to the memory while `Work` is done: it counts.
template <typename Function> static void whileCounting(Function Work) {
  int *Number = reinterpret_cast<int *>(Memory);
  std::atomic<bool> IsOver{false}, HasBegun{false};
  std::thread Counting([&] {
    for (; !IsOver; HasBegun = true)
      __atomic_fetch_add(Number, 1, __ATOMIC_RELAXED);
  });
  while (!HasBegun)
    std::this_thread::yield();
  Work(Number);
  IsOver = true;
  Counting.join();
}

static int *SharedNumber = nullptr;

static void mapMemory() { cuMemMap(Memory, MemoryBytes, 0, 0, 0); }

static void addAllocatingNode() {
  CUgraphNodeParams Params = {};
  Params.type = CU_GRAPH_NODE_TYPE_MEM_ALLOC;
  Params.alloc.bytesize = MemoryBytes;
  CUgraphNode Node = nullptr;
  cuGraphAddNode(&Node, nullptr, nullptr, nullptr, 0, &Params);
  Memory = Params.alloc.dptr;
}

/// Another thread maps the memory while this one unmaps it.
static void remapWhileUnmapping() {
  fakeDuringNextFree([] { runApart(mapMemory); });
  cuMemUnmap(Memory, MemoryBytes);
}

static constexpr char Text[] = ".version 8.8\n.target sm_90\n.address_size 64\n"
                               ".visible .entry k()\n{\nret;\n}\n";

static void loadText(const char *PTX) {
  CUmodule Module;
  cuModuleLoadData(&Module, PTX);
}

static void loadLimited() {
  CUmodule Module;
  CUjit_option Names[] = {CU_JIT_MAX_REGISTERS, CU_JIT_THREADS_PER_BLOCK,
                          CU_JIT_OPTIMIZATION_LEVEL};
  void *Values[] = {reinterpret_cast<void *>(40),
                    reinterpret_cast<void *>(1024),
                    reinterpret_cast<void *>(2)};
  cuModuleLoadDataEx(&Module, Text, 3, Names, Values);
}

static void loadTextFile() {
  char Name[] = "/tmp/crsan-XXXXXX";
  const int File = mkstemp(Name);
  if (File < 0 || write(File, Text, sizeof(Text) - 1) < 0)
    std::abort();
  close(File);
  CUmodule Module;
  cuModuleLoad(&Module, Name);
  unlink(Name);
}

static void launchLate() { launch({"_Z1kPi", FakeKernel::Racy, Library}); }

static void say(const std::string &Text) {
  if (write(STDOUT_FILENO, Text.data(), Text.size()) < 0)
    std::abort();
}

static int exitCodeOfChild(void (*Work)()) {
  const pid_t Child = fork();
  if (Child == 0) {
    Work();
    std::abort();
  }
  int Status = 0;
  waitpid(Child, &Status, 0);
  return WEXITSTATUS(Status);
}

int main(int Count, char **Words) {
  auto Asked = [&](const std::string &Word) {
    for (int I = 1; I < Count; ++I)
      if (Words[I] == Word)
        return true;
    return false;
  };
  std::printf("begin\n");
  if (Asked("traced"))
    ptrace(PTRACE_TRACEME, 0, nullptr, nullptr);
  if (Asked("nocuda"))
    return 0;
  if (Asked("nocuda_exit"))
    _exit(0);
  if (Asked("nocudaquick"))
    std::quick_exit(0);
  if (Asked("nocudainit"))
    return cuInit(0) ? 0 : 1;
  if (Asked("forkfirst")) {
    if (const pid_t Child = fork(); Child > 0) {
      int Status = 0;
      waitpid(Child, &Status, 0);
      say("child " + std::to_string(WEXITSTATUS(Status)) + "\n");
      return 0;
    }
  }
  if (Asked("late"))
    std::atexit(launchLate);
  cuInit(0);
  if (!Asked("early"))
    fakeCreateContext();
  CubinBuilder B;
  B.addObject("__crsan_config",
              Asked("jit") ? Bytes(sizeof(crsan::abi::Config)) : makeConfig());
  B.addObject("__crsan_table_00000000000000ab",
              makeTable(0xab, 2, {"_Z1kPi"},
                        Asked("metadata") ? uint32_t(abi::HasMetadata) : 0,
                        Asked("oldabi") ? abi::Version + 1 : abi::Version));
  B.addKernel("_Z1kPi");
  Bytes Cubin = B.build();
  if (!Asked("uninstrumented"))
    Library = load(Cubin, 2);
  if (Asked("early"))
    fakeCreateContext();
  CubinBuilder Plain;
  Plain.addKernel("_Z5plainv");
  Bytes PlainCubin = Plain.build();
  CUlibrary Other = load(PlainCubin, 0);

  for (int I = 1; I < Count; ++I) {
    std::string Word = Words[I];
    if (Word == "clean")
      launch({"_Z1kPi", FakeKernel::Clean, Library});
    else if (Word == "racy")
      launch({"_Z1kPi", FakeKernel::Racy, Library});
    else if (Word == "refused")
      launch({"_Z1kPi", FakeKernel::Refused, Library});
    else if (Word == "noblocks")
      launch({"_Z1kPi", FakeKernel::Clean, Library}, 0);
    else if (Word == "asserts")
      launch({"_Z1kPi", FakeKernel::Asserts, Library});
    else if (Word == "fails")
      launch({"_Z1kPi", FakeKernel::Fails, Library});
    else if (Word == "hangs")
      launch({"_Z1kPi", FakeKernel::Hangs, Library});
    else if (Word == "crowded") // Fits without the registers.
      launch({"_Z1kPi", FakeKernel::Clean, Library, 64}, 264, 1024);
    else if (Word == "crowdedhangs")
      launch({"_Z1kPi", FakeKernel::Hangs, Library, 64}, 264, 1024);
    else if (Word == "large") // Does not fit anyway.
      launch({"_Z1kPi", FakeKernel::Clean, Library, 64}, 265, 1024);
    else if (Word == "foreign")
      launch({"_Z5plainv", FakeKernel::Foreign, Other});
    else if (Word == "graph")
      cuGraphLaunch(nullptr, nullptr);
    else if (Word == "loadtext")
      loadText(Text);
    else if (Word == "loadlimited")
      loadLimited();
    else if (Word == "loadbroken")
      loadText(".version 8.8\n.target sm_90\nbroken");
    else if (Word == "loadfile")
      loadTextFile();
    else if (Word == "foreignfails")
      launch({"_Z5plainv", FakeKernel::Fails, Other});
    else if (Word == "touch")
      launch({"_Z1kPi", FakeKernel::Touches, Library, 16, Memory});
    else if (Word == "alloc")
      cuMemAlloc(&Memory, MemoryBytes);
    else if (Word == "free")
      cuMemFree(Memory);
    else if (Word == "allocmuch")
      cuMemAlloc(&Memory, 10 * MemoryBytes);
    else if (Word == "failfrees")
      fakeFailFrees();
    else if (Word == "map")
      mapMemory();
    else if (Word == "unmap")
      cuMemUnmap(Memory, MemoryBytes);
    else if (Word == "remap")
      remapWhileUnmapping();
    else if (Word == "managed")
      cuMemAllocManaged(&Memory, MemoryBytes, 0);
    else if (Word == "hostread")
      whileCounting([](int *Number) { readNumber(Number); });
    else if (Word == "hostwrite")
      whileCounting([](int *Number) { writeNumber(Number, -7); });
    else if (Word == "hostreadinhandler")
      whileCounting([](int *Number) {
        SharedNumber = Number;
        std::signal(SIGUSR1, [](int) { readNumber(SharedNumber); });
        raise(SIGUSR1);
      });
    else if (Word == "hostreadinchild")
      say("child " + std::to_string(exitCodeOfChild([] {
            whileCounting([](int *Number) { readNumber(Number); });
            _exit(5);
          })) +
          "\n");
    else if (Word == "allocasync")
      cuMemAllocAsync(&Memory, MemoryBytes, nullptr);
    else if (Word == "allocbynode")
      addAllocatingNode();
    else if (Word == "freeasync")
      cuMemFreeAsync(Memory, nullptr);
    else if (Word == "usesup")
      launch({"_Z1kPi", FakeKernel::UsesUp, Library});
    else if (Word == "hangaftersync")
      hangAfterSync();
    else if (Word == "sync")
      cuCtxSynchronize();
    else if (Word == "reset")
      cuDevicePrimaryCtxReset(0);
    else if (Word == "unload")
      cuLibraryUnload(Library);
    else if (Word == "pause")
      for (;;)
        pause();
    else if (Word == "exit3")
      std::exit(3);
    else if (Word == "quick")
      std::quick_exit(0);
    else if (Word == "handlers") {
      std::at_quick_exit([] { say("handler\n"); });
    } else if (Word == "_exit")
      _exit(0);
    else if (Word == "_exit3")
      _exit(3);
    else if (Word == "_Exit")
      std::_Exit(0);
    else if (Word == "_exitinhandler") {
      std::signal(SIGUSR1, [](int) { _exit(0); });
      raise(SIGUSR1);
    } else if (Word == "execv") {
      char *const Args[] = {const_cast<char *>("echo"),
                            const_cast<char *>("replaced"), nullptr};
      execv("/bin/echo", Args);
    } else if (Word == "execlp")
      execlp("echo", "echo", "replaced", nullptr);
    else if (Word == "execle") {
      char *const Environment[] = {const_cast<char *>("A=replaced"), nullptr};
      execle("/bin/sh", "sh", "-c", "echo $A", nullptr, Environment);
    } else if (Word == "execmissing")
      execl("/nonexistent", "nonexistent", nullptr);
    else if (Word == "execbroken") // A folder can be entered, not run.
      execl("/", "root", nullptr);
    else if (Word == "daemon") {
      if (daemon(1, 1) == 0)
        _exit(0);
    } else if (Word == "pthread_exit")
      pthread_exit(nullptr);
    else if (Word == "toldofrecords")
      say(fakeTellsOfRecords() ? "records told\n" : "records not told\n");
    else if (Word == "alarm")
      raise(SIGALRM);
    else if (Word == "abort")
      std::abort();
    else if (Word == "segv")
      raise(SIGSEGV);
    else if (Word == "term")
      raise(SIGTERM);
    else if (Word == "fork") {
      if (fork() == 0)
        return 5;
    } else if (Word == "fork_exit")
      say("child " + std::to_string(exitCodeOfChild([] { _exit(5); })) + "\n");
    else if (Word == "forkexec")
      say("child " + std::to_string(exitCodeOfChild([] {
            execl("/bin/sh", "sh", "-c", "exit 6", nullptr);
          })) +
          "\n");
    else if (Word == "vfork") {
      const pid_t Child = vfork();
      if (Child == 0)
        _exit(7);
      int Status = 0;
      waitpid(Child, &Status, 0);
      say("child " + std::to_string(WEXITSTATUS(Status)) + "\n");
    }
  }
  std::printf("end\n");
  return 0;
}

// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Ends of programs that do not know this library.
//
// The dynamic linker keeps the addresses of functions of other objects in
// tables, which each object's relocations list. Entries that have the address
// of a function of the C library get that of the function here.

#include "Grafts.h"

#include <array>
#include <cstdint>
#include <cstdlib>
#include <cstring>
#include <span>
#include <utility>

#include <dlfcn.h>
#include <elf.h>
#include <link.h>
#include <pthread.h>
#include <sys/mman.h>
#include <unistd.h>

namespace crsan::api {

namespace {
struct Graft {
  const char *Name;
  void *Ours;             ///< Within this library, which is linked so.
  void *Theirs = nullptr; ///< The C library's.
};
} // namespace

static std::array Grafts = {Graft{"_exit", (void *)_exit},
                            Graft{"_Exit", (void *)_Exit},
                            Graft{"execve", (void *)execve},
                            Graft{"execv", (void *)execv},
                            Graft{"execvp", (void *)execvp},
                            Graft{"execvpe", (void *)execvpe},
                            Graft{"fexecve", (void *)fexecve},
                            Graft{"execl", (void *)execl},
                            Graft{"execlp", (void *)execlp},
                            Graft{"execle", (void *)execle},
                            Graft{"daemon", (void *)daemon},
                            Graft{"pthread_exit", (void *)pthread_exit}};

/// Writes an entry of a table, which may be read-only by now (RELRO).
static void replace(void **Entry, void *Target) {
  const uintptr_t PageSize = uintptr_t(sysconf(_SC_PAGESIZE));
  void *Page = reinterpret_cast<void *>(uintptr_t(Entry) & ~(PageSize - 1));
  if (mprotect(Page, PageSize, PROT_READ | PROT_WRITE) == 0)
    __atomic_store_n(Entry, Target, __ATOMIC_RELAXED);
}

namespace {
/// What the dynamic section of an object says. The dynamic linker of glibc has
/// added where the object is loaded.
struct DynamicSection {
  uint64_t Data = 0, DataSize = 0, Calls = 0, CallsSize = 0; ///< Relocations.
  uint64_t Symbols = 0, Names = 0;

  explicit DynamicSection(const ElfW(Dyn) * D) {
    for (; D->d_tag != DT_NULL; ++D)
      for (const auto &[Tag, Value] :
           {std::pair(DT_RELA, &Data), std::pair(DT_RELASZ, &DataSize),
            std::pair(DT_JMPREL, &Calls), std::pair(DT_PLTRELSZ, &CallsSize),
            std::pair(DT_SYMTAB, &Symbols), std::pair(DT_STRTAB, &Names)})
        if (D->d_tag == Tag)
          *Value = D->d_un.d_val;
  }
};
} // namespace

static const void *fileOf(const void *Address) {
  Dl_info Info{};
  return dladdr(Address, &Info) ? Info.dli_fbase : nullptr;
}

/// One table of relocations.
static void graft(uint64_t Base, const DynamicSection &D, uint64_t Table,
                  uint64_t Size) {
#if defined(__x86_64__)
  constexpr unsigned CallType = R_X86_64_JUMP_SLOT,
                     DataType = R_X86_64_GLOB_DAT;
#else
  constexpr unsigned CallType = R_AARCH64_JUMP_SLOT,
                     DataType = R_AARCH64_GLOB_DAT;
#endif
  const auto *Symbols = reinterpret_cast<const ElfW(Sym) *>(D.Symbols);
  const auto *Names = reinterpret_cast<const char *>(D.Names);
  const auto *First = reinterpret_cast<const ElfW(Rela) *>(Table);
  for (const ElfW(Rela) & R : std::span(First, Size / sizeof(*First))) {
    const auto Type = ELF64_R_TYPE(R.r_info);
    if (Type != CallType && Type != DataType)
      continue;
    const ElfW(Sym) &Symbol = Symbols[ELF64_R_SYM(R.r_info)];
    auto **Entry = reinterpret_cast<void **>(Base + R.r_offset);
    for (const Graft &G : Grafts) {
      if (std::strcmp(Names + Symbol.st_name, G.Name) != 0)
        continue;
      // An entry that no call has used yet leads back into its own object.
      const bool IsUnused = Type == CallType && Symbol.st_shndx == SHN_UNDEF &&
                            fileOf(*Entry) == fileOf(Entry);
      if (*Entry == G.Theirs || IsUnused)
        replace(Entry, G.Ours);
    }
  }
}

static int lookAt(dl_phdr_info *Object, size_t, void *) {
  const uint64_t Base = Object->dlpi_addr;
  for (int I = 0; I < Object->dlpi_phnum; ++I) {
    const ElfW(Phdr) &Segment = Object->dlpi_phdr[I];
    const auto *Section =
        reinterpret_cast<const ElfW(Dyn) *>(Base + Segment.p_vaddr);
    if (Segment.p_type != PT_DYNAMIC || fileOf(Section) == fileOf(&Grafts))
      continue;
    const DynamicSection D(Section);
    // The kernel's own object has addresses that nobody has added to.
    if (D.Symbols <= Base || D.Names <= Base)
      continue;
    graft(Base, D, D.Data, D.DataSize);
    graft(Base, D, D.Calls, D.CallsSize);
  }
  return 0;
}

void graftEndings() {
  void *Library = dlopen("libc.so.6", RTLD_LAZY | RTLD_NOLOAD);
  for (Graft &G : Grafts)
    G.Theirs = Library ? dlsym(Library, G.Name) : nullptr;
  dl_iterate_phdr(lookAt, nullptr);
}

} // namespace crsan::api

// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#include "Convergence.h"
#include "llvm/Support/MemoryBuffer.h"

#include <cstring>
#include <elf.h>
#include <filesystem>
#include <gtest/gtest.h>
#include <string>
#include <vector>

using namespace crsan::assembler;

namespace {

constexpr uint64_t Yield = 0x7946, Nop = 0x7918, Branch = 0x7947,
                   Collective = 0x7948, EndCollective = 0x791b,
                   Barrier = 0x7b1d;

/// A BSSY whose BSYNC, by which its region ends, is so many instructions on.
constexpr uint64_t bssy(unsigned Register, uint64_t Distance) {
  return 0x7945 | Register << 16 | Distance * 16 << 32;
}
constexpr uint64_t bsync(unsigned Register) { return 0x7941 | Register << 16; }

bool isTwo(llvm::StringRef Name) { return Name == "two"; }
bool isAnything(llvm::StringRef) { return true; }

/// An object file with two functions, each of these instructions.
struct Object {
  std::vector<uint8_t> Bytes;
  size_t Code[2];

  explicit Object(const std::vector<uint64_t> &Instructions) {
    const std::string Names("\0.text.one\0.text.two\0.shstrtab\0", 31);
    const size_t CodeBytes = Instructions.size() * 16;
    const size_t NamesAt = sizeof(Elf64_Ehdr);
    Code[0] = NamesAt + 32;
    Code[1] = Code[0] + CodeBytes;
    Elf64_Ehdr Header{};
    std::memcpy(Header.e_ident, ELFMAG, SELFMAG);
    Header.e_ident[EI_CLASS] = ELFCLASS64;
    Header.e_shoff = Code[1] + CodeBytes;
    Header.e_shentsize = sizeof(Elf64_Shdr);
    Header.e_shnum = 3;
    Header.e_shstrndx = 2;
    Bytes.resize(Header.e_shoff + 3 * sizeof(Elf64_Shdr));
    std::memcpy(Bytes.data(), &Header, sizeof(Header));
    std::memcpy(Bytes.data() + NamesAt, Names.data(), Names.size());
    for (int F = 0; F < 2; ++F)
      for (size_t I = 0; I < Instructions.size(); ++I)
        std::memcpy(Bytes.data() + Code[F] + I * 16, &Instructions[I], 8);
    Elf64_Shdr Sections[3] = {};
    for (int F = 0; F < 2; ++F) {
      Sections[F].sh_name = F == 0 ? 1 : 11;
      Sections[F].sh_type = SHT_PROGBITS;
      Sections[F].sh_offset = Code[F];
      Sections[F].sh_size = CodeBytes;
    }
    Sections[2].sh_name = 21;
    Sections[2].sh_type = SHT_STRTAB;
    Sections[2].sh_offset = NamesAt;
    Sections[2].sh_size = Names.size();
    std::memcpy(Bytes.data() + Header.e_shoff, Sections, sizeof(Sections));
  }

  std::vector<MachineFunction> functions() {
    return llvm::cantFail(functionsOf(Bytes));
  }
  uint64_t at(int Function, size_t I) const {
    uint64_t Word;
    std::memcpy(&Word, Bytes.data() + Code[Function] + I * 16, 8);
    return Word;
  }
};

TEST(Yields, OfWantedFunctionsBecomeNothing) {
  Object O({Yield, Branch, Yield, Nop});
  auto Functions = O.functions();
  EXPECT_EQ(2u, removeYields(Functions, isTwo));
  for (size_t I = 0; I < 4; ++I)
    EXPECT_EQ(I == 1 ? Branch : Nop, O.at(1, I));
  EXPECT_EQ(Yield, O.at(0, 0));
  EXPECT_EQ(Yield, O.at(0, 2));
}

TEST(Yields, AreNotInTheKernelsThatTheLibraryLaunches) {
  unsigned Files = 0;
  for (const auto &Entry :
       std::filesystem::directory_iterator(CRSAN_OPERATION_CUBINS)) {
    if (Entry.path().extension() != ".cubin")
      continue;
    ++Files;
    auto File = llvm::cantFail(llvm::errorOrToExpected(
        llvm::MemoryBuffer::getFile(Entry.path().string())));
    std::vector<uint8_t> Bytes(File->getBuffer().bytes_begin(),
                               File->getBuffer().bytes_end());
    auto Functions = llvm::cantFail(functionsOf(Bytes));
    EXPECT_FALSE(Functions.empty()) << Entry;
    EXPECT_EQ(0u, removeYields(Functions, isAnything)) << Entry;
  }
  EXPECT_NE(0u, Files);
}

TEST(MachineCode, OfAFileThatIsNoneOrIncompleteIsAnError) {
  const Object Whole({Yield, Branch});
  for (size_t Size = 0; Size < Whole.Bytes.size(); ++Size) {
    std::vector<uint8_t> Part(Whole.Bytes.begin(), Whole.Bytes.begin() + Size);
    EXPECT_NE("", llvm::toString(functionsOf(Part).takeError())) << Size;
  }
  std::vector<uint8_t> Text(256, 'x');
  EXPECT_NE("", llvm::toString(functionsOf(Text).takeError()));
}

TEST(MachineCode, OutsideOfTheFileIsAnError) {
  Object O({Yield, Branch});
  Elf64_Shdr Section;
  const size_t At = O.Bytes.size() - 3 * sizeof(Section);
  std::memcpy(&Section, O.Bytes.data() + At, sizeof(Section));
  Section.sh_size = O.Bytes.size();
  std::memcpy(O.Bytes.data() + At, &Section, sizeof(Section));
  EXPECT_NE("", llvm::toString(functionsOf(O.Bytes).takeError()));
}

TEST(Gatherings, GetARegisterThatNothingElseUses) {
  Object O({bssy(15, 3), Yield, Nop, bsync(15), bssy(0, 4), Collective, Barrier,
            EndCollective, bsync(0), Branch});
  auto Functions = O.functions();
  const Gatherings Places = reserveGatherings(Functions, isTwo);
  EXPECT_EQ(1u, Places.Reserved);
  EXPECT_EQ(0u, Places.Shared);
  for (int F = 0; F < 2; ++F) {
    EXPECT_EQ(bssy(15, 3), O.at(F, 0));
    EXPECT_EQ(bsync(15), O.at(F, 3));
    EXPECT_EQ(bssy(F == 0 ? 0 : 14, 4), O.at(F, 4));
    EXPECT_EQ(bsync(F == 0 ? 0 : 14), O.at(F, 8));
  }
}

TEST(Gatherings, AreRegionsWithACollectiveAndNothingElse) {
  const std::vector<uint64_t> NotOne[] = {
      // No collective.
      {bssy(0, 2), Barrier, bsync(0)},
      // It has a branch.
      {bssy(0, 4), Collective, EndCollective, Branch, bsync(0)},
      // It ends elsewhere.
      {bssy(0, 5), Collective, EndCollective, bsync(0), Nop, bsync(0)},
      // Another region lies in it, or ends in it.
      {bssy(1, 5), bssy(0, 3), Collective, EndCollective, Nop, bsync(1)},
      {bssy(1, 4), Collective, EndCollective, bsync(0), bsync(1)},
      // It is cut off.
      {bssy(0, 3), Collective, EndCollective}};
  for (const auto &Instructions : NotOne) {
    Object O(Instructions);
    auto Functions = O.functions();
    const Gatherings Places = reserveGatherings(Functions, isAnything);
    EXPECT_EQ(0u, Places.Reserved);
    EXPECT_EQ(0u, Places.Shared);
    for (size_t I = 0; I < Instructions.size(); ++I)
      EXPECT_EQ(Instructions[I], O.at(0, I));
  }
}

TEST(Gatherings, StayAsTheyAreIfEachRegisterIsUsed) {
  std::vector<uint64_t> Instructions = {bssy(0, 3), Collective, EndCollective,
                                        bsync(0)};
  for (unsigned Register = 0; Register < 16; ++Register) {
    Instructions.push_back(bssy(Register, 2));
    Instructions.push_back(Nop);
    Instructions.push_back(bsync(Register));
  }
  Object O(Instructions);
  auto Functions = O.functions();
  const Gatherings Places = reserveGatherings(Functions, isAnything);
  EXPECT_EQ(0u, Places.Reserved);
  EXPECT_EQ(2u, Places.Shared);
}

} // namespace

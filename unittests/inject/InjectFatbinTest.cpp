// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Cubins in fat binaries.

#include "CubinBuilder.h"
#include "image/Fatbin.h"

#include <gtest/gtest.h>

namespace crsan {

/// A fat binary as fatbinary writes it.
class FatbinBuilder {
public:
  void add(uint16_t Kind, uint32_t Architecture, const Bytes &Body) {
    append(Kind);
    append(uint16_t(0x0101));
    append(uint32_t(64));
    append(uint64_t(Body.size()));
    append(uint64_t(0));
    append(uint32_t(0));
    append(Architecture);
    Entries.resize(Entries.size() + 32);
    Entries.insert(Entries.end(), Body.begin(), Body.end());
  }
  Bytes build() {
    Bytes Body = std::move(Entries);
    Entries.clear();
    append(uint32_t(0xba55ed50));
    append(uint16_t(1));
    append(uint16_t(16));
    append(uint64_t(Body.size()));
    Entries.insert(Entries.end(), Body.begin(), Body.end());
    return Entries;
  }

private:
  template <typename T> void append(T Value) {
    const auto *Start = reinterpret_cast<const uint8_t *>(&Value);
    Entries.insert(Entries.end(), Start, Start + sizeof(T));
  }
  Bytes Entries;
};

static Bytes cubin(const std::string &Kernel) {
  CubinBuilder B;
  B.addKernel(Kernel);
  return B.build();
}

static Bytes found(const void *Code, int Major, int Minor) {
  auto Cubin = findCubin(Code, Major, Minor);
  return {Cubin.begin(), Cubin.end()};
}

TEST(InjectFatbin, TheBestCubinOfTheDeviceIsTaken) {
  FatbinBuilder B;
  B.add(2, 80, cubin("a"));
  B.add(2, 89, cubin("ab"));
  B.add(1, 90, Bytes(100, 'p'));
  B.add(2, 90, cubin("abc"));
  Bytes Fatbin = B.build();
  EXPECT_EQ(found(Fatbin.data(), 8, 0), cubin("a"));
  EXPECT_EQ(found(Fatbin.data(), 8, 6), cubin("a"));
  EXPECT_EQ(found(Fatbin.data(), 8, 9), cubin("ab"));
  EXPECT_EQ(found(Fatbin.data(), 9, 0), cubin("abc"));
  EXPECT_EQ(found(Fatbin.data(), 10, 0), Bytes());
}

TEST(InjectFatbin, CompressedAndForeignCodeIsNotTaken) {
  FatbinBuilder B;
  B.add(2, 90, Bytes(200, 'z'));
  Bytes Fatbin = B.build();
  EXPECT_EQ(found(Fatbin.data(), 9, 0), Bytes());
  Bytes Text(64, ' ');
  EXPECT_EQ(found(Text.data(), 9, 0), Bytes());
  EXPECT_EQ(found(nullptr, 9, 0), Bytes());
}

TEST(InjectFatbin, ACubinIsTakenWhole) {
  Bytes Cubin = cubin("kernel");
  Bytes Longer = Cubin;
  Longer.resize(Cubin.size() + 100);
  EXPECT_EQ(found(Longer.data(), 9, 0), Cubin);
}

} // namespace crsan

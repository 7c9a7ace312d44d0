//===- OracleReportTest.cpp - The oracle's report -------------------------===//
//
// Part of CudaRaceSanitizer, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
#include "oracle/OracleReport.h"
#include "Trace.h"

using namespace crsan;
using namespace crsan::sim;

static std::vector<SourceFrame> linesOf(int32_t Instruction) {
  if (Instruction == 9)
    return {};
  return {{"_Z4loadPi", "/src/kernel.cu", uint32_t(Instruction % 10), 5},
          {"_Z6kernelPi", "/src/kernel.cu", 50, 3}};
}

TEST(OracleReportTest, NamesBothSides) {
  Trace R;
  const uint64_t G = R.start(0, 2, 64);
  R.store(R.at(0, 3), R.shared(0, 64), 1);
  R.load(R.at(0, 40), R.shared(0, 64), 2);
  R.end(G);
  TextOptions Options;
  Options.StripPathPrefix = "/src/";
  EXPECT_EQ(renderText(buildOracleReport(R.O, linesOf), Options),
            R"(==================
CRSan: data race: unordered read and write of 4 bytes in shared memory
  read:
    #0 load(int*) at kernel.cu:2:5
    #1 inlined in kernel(int*) at kernel.cu:50:3
  conflicts with the write of 4 bytes before it:
    #0 load(int*) at kernel.cu:1:5
    #1 inlined in kernel(int*) at kernel.cu:50:3
  kernel: kernel
  first seen: block (0,0,0) thread (40,0,0) against block (0,0,0) thread (3,0,0) offset 0x40 (shared)
  occurrences: 1
  No barrier between them.
==================
CRSan: oracle checked 1 kernel launch: 2 accesses of 128 threads in 2 blocks, 0 barrier arrivals, 0 fences, 0 copies and fills
SUMMARY: CRSan: 1 data race (1 of read and write)
)");
}

TEST(OracleReportTest, OnePlaceIsOneFinding) {
  Trace R;
  R.start(0, 4, 32);
  R.store(R.at(0, 0), Data, 1);
  R.store(R.at(1, 0), Data, 11); // Another copy of line 1.
  R.atomic(R.at(2, 0), Flag, 9);
  R.store(R.at(3, 0), Flag, 4);
  R.store(R.at(3, 0), Data, 1);
  const OracleReport Report = buildOracleReport(R.O, linesOf);
  ASSERT_EQ(Report.Findings.size(), 2u);
  EXPECT_EQ(Report.Findings[0].Count, 3u);
  const std::string Text = renderText(Report);
  EXPECT_NE(Text.find("unordered atomic and plain access of 4 bytes in global "
                      "memory"),
            std::string::npos);
  EXPECT_NE(Text.find("relaxed atomic of device scope"), std::string::npos);
  EXPECT_NE(Text.find("an unknown line (compile with"), std::string::npos);
  EXPECT_NE(Text.find("SUMMARY: CRSan: 2 data races (1 of two writes, 1 of "
                      "atomic and other access)"),
            std::string::npos);
}

TEST(OracleReportTest, Silence) {
  Trace R;
  EXPECT_NE(renderText(buildOracleReport(R.O, linesOf))
                .find("SUMMARY: CRSan: nothing was checked: no kernel was "
                      "launched"),
            std::string::npos);
  R.start(0, 1, 32);
  R.store(R.at(0, 0), Data, 1);
  EXPECT_NE(renderText(buildOracleReport(R.O, linesOf))
                .find("SUMMARY: CRSan: no data races found"),
            std::string::npos);
}

TEST(OracleReportTest, CopiesHaveNames) {
  Trace R;
  const uint64_t G = R.start(1, 1, 32);
  R.store(R.at(0, 0), Data, 1);
  R.end(G);
  const HostRange Source{reinterpret_cast<void *>(Data), 4};
  R.O.streamOp(2, "cudaMemcpyAsync", {&Source, 1}, {});
  const std::string Text = renderText(buildOracleReport(R.O, linesOf));
  EXPECT_NE(Text.find("#0 cudaMemcpyAsync in a stream"), std::string::npos);
  EXPECT_NE(Text.find("kernel of the other: kernel"), std::string::npos);
}

// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// The oracle's report.
#include "oracle/OracleReport.h"
#include "PTX/Classify.h"
#include "Report/SarifReport.h"
#include "Report/TextReport.h"
#include "Trace.h"

#include <gmock/gmock.h>

using namespace crsan;
using namespace crsan::sim;
using testing::HasSubstr;

static std::vector<SourceFrame> linesOf(int32_t Instruction) {
  if (Instruction == 9)
    return {};
  return {{"_Z4loadPi", "/src/kernel.cu", uint32_t(Instruction % 10), 5},
          {"_Z6kernelPi", "/src/kernel.cu", 50, 3}};
}

static Report reportOf(const Trace &R) {
  ReportFile File = oracleRecords(R.O, linesOf);
  return buildReport(File);
}

TEST(OracleReportTest, NamesBothSides) {
  Trace R;
  const uint64_t G = R.start(0, 2, 64);
  R.store(R.at(0, 3), R.shared(0, 64), 1);
  R.load(R.at(0, 40), R.shared(0, 64), 2);
  R.end(G);
  TextOptions Options;
  Options.StripPathPrefix = "/src/";
  EXPECT_EQ(renderText(reportOf(R), Options),
            R"(==================
CRSan: data race: race within a block, 4 bytes in shared memory
  read of 4 bytes at kernel.cu:2:5 by block (0,0,0) thread (40,0,0):
    #0 load(int*) at kernel.cu:2:5
    #1 inlined in kernel(int*) at kernel.cu:50:3
  earlier write of 4 bytes at kernel.cu:1:5 by block (0,0,0) thread (3,0,0):
    #0 load(int*) at kernel.cu:1:5
    #1 inlined in kernel(int*) at kernel.cu:50:3
  kernel: kernel
  launched as: <<<(2,1,1), (64,1,1)>>>
  first seen: address 0x40 (shared)
  occurrences: 1
  No barrier between them.
  suppress with: race_pair:kernel.cu:1$ & kernel.cu:2$
==================
CRSan: oracle checked 1 kernel launch: 2 accesses of 128 threads in 2 blocks, 0 barrier arrivals, 0 fences, 0 copies and fills
SUMMARY: CRSan: 1 data race (1 race within a block)
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
  const Report Report = reportOf(R);
  ASSERT_EQ(Report.Findings.size(), 2u);
  EXPECT_EQ(Report.Findings[0].Count, 3u);
  const std::string Text = renderText(Report);
  EXPECT_THAT(Text, HasSubstr("access that is not strong, 4 bytes in global "
                              "memory"));
  EXPECT_THAT(Text, HasSubstr("device-scope relaxed atomic update of 4 bytes"));
  EXPECT_THAT(Text, HasSubstr("Only one of the two accesses is atomic."));
  EXPECT_THAT(Text, HasSubstr("an unknown line (compile with"));
  EXPECT_THAT(Text, HasSubstr("SUMMARY: CRSan: 2 data races (1 race between "
                              "blocks, 1 access that is not strong)"));
}

TEST(OracleReportTest, Silence) {
  Trace R;
  EXPECT_THAT(renderText(reportOf(R)),
              HasSubstr("SUMMARY: CRSan: nothing was checked: no kernel was "
                        "launched"));
  R.start(0, 1, 32);
  R.store(R.at(0, 0), Data, 1);
  EXPECT_THAT(renderText(reportOf(R)),
              HasSubstr("SUMMARY: CRSan: no data races found\n"));
}

TEST(OracleReportTest, CopiesHaveNames) {
  Trace R;
  const uint64_t G = R.start(1, 1, 32);
  R.store(R.at(0, 0), Data, 1);
  R.end(G);
  const HostRange Source{reinterpret_cast<void *>(Data), 4};
  R.O.streamOp(2, "cudaMemcpyAsync", {&Source, 1}, {});
  const std::string Text = renderText(reportOf(R));
  EXPECT_THAT(Text, HasSubstr("race with an operation of a stream, 4 bytes in "
                              "global memory\n"
                              "  read of 4 bytes by cudaMemcpyAsync in a "
                              "stream:\n"
                              "    #0 cudaMemcpyAsync in a stream\n"));
  EXPECT_THAT(Text, HasSubstr("  kernel of the earlier access: kernel\n"));
  EXPECT_EQ(Text.find("  kernel: "), std::string::npos);
}

TEST(OracleReportTest, ThreadsOfTwoKernels) {
  Trace R;
  const uint64_t A = R.start(1, 2, 64), B = R.start(2, 4, 32);
  R.store(R.thread(A, 1, 40), Data, 1);
  R.load(R.thread(B, 3, 5), Data, 2);
  const std::string Text = renderText(reportOf(R));
  EXPECT_THAT(Text, HasSubstr("race between kernels, 4 bytes"));
  EXPECT_THAT(Text, HasSubstr(" by block (3,0,0) thread (5,0,0):"));
  EXPECT_THAT(Text, HasSubstr(" by block (1,0,0) thread (40,0,0) of another "
                              "kernel:"));
}

/// What a file holds of the races is all that the reports are made of.
TEST(OracleReportTest, SurvivesAFile) {
  Trace R;
  const uint64_t A = R.start(1, 2, 64), B = R.start(2, 4, 32);
  R.store(R.thread(A, 1, 40), Data, 1);
  R.load(R.thread(B, 3, 5), Data, 2);
  R.volatileLoad(R.thread(B, 3, 6), Data, 3);
  const HostRange Source{reinterpret_cast<void *>(Data), 4};
  R.O.streamOp(3, "cudaMemcpyAsync", {&Source, 1}, {});
  const ReportFile File = oracleRecords(R.O, linesOf);
  const Report Before = buildReport(File);
  auto Parsed = parseReportFile(writeReportFile(File, Before));
  ASSERT_TRUE(std::holds_alternative<ReportFile>(Parsed))
      << std::get<ReportFileError>(Parsed).Message;
  const auto &Again = std::get<ReportFile>(Parsed);
  const Report After = buildReport(Again);
  EXPECT_EQ(renderText(After), renderText(Before));
  EXPECT_EQ(renderSARIF(After), renderSARIF(Before));
  EXPECT_THAT(renderSARIF(After), HasSubstr("\"stream_operation\""));
}

/// Two threads of block 0 come to barrier 7 by two instructions, in these
/// iterations (-1: not told).
static ReportFile meetAt(int32_t First, int32_t Second,
                         const IsBarrierAt &IsBarrier, int FirstIteration = -1,
                         int SecondIteration = -1) {
  Trace R;
  const uint64_t G = R.start(0, 1, 64);
  const auto Tell = [&](unsigned Thread, int Iteration) {
    if (Iteration != -1)
      R.O.annotation(R.at(0, Thread), ptx::Annotation::Iteration, Iteration);
  };
  // Told for an earlier barrier only.
  Tell(0, 11);
  R.arrive(R.at(0, 0), 6);
  Tell(0, FirstIteration);
  Tell(40, SecondIteration);
  R.O.syncThreads(R.at(0, 0), 7, First);
  R.arrive(R.at(0, 0), 7);
  R.O.syncThreads(R.at(0, 40), 7, Second);
  R.arrive(R.at(0, 40), 7);
  R.end(G);
  return oracleRecords(R.O, linesOf, {}, IsBarrier);
}
static bool isBarrier(const std::vector<SourceFrame> &Lines) {
  return !Lines.empty() && Lines.front().Line != 8;
}

TEST(OracleReportTest, TwoBarriersAreADivergence) {
  TextOptions Options;
  Options.StripPathPrefix = "/src/";
  ReportFile File = meetAt(1, 2, isBarrier);
  const std::string Text = renderText(buildReport(File), Options);
  EXPECT_THAT(Text, HasSubstr(R"(
CRSan: barrier divergence: threads of a block wait at different barriers
  barrier at kernel.cu:2:5 by block (0,0,0) thread (40,0,0):
    #0 load(int*) at kernel.cu:2:5
    #1 inlined in kernel(int*) at kernel.cu:50:3
  other barrier at kernel.cu:1:5 by block (0,0,0) thread (0,0,0):
    #0 load(int*) at kernel.cu:1:5
    #1 inlined in kernel(int*) at kernel.cu:50:3
  kernel: kernel
  launched as: <<<(1,1,1), (64,1,1)>>>
  first seen: block (0,0,0)
  occurrences: 1
)"));
  EXPECT_THAT(Text, HasSubstr("SUMMARY: CRSan: 1 barrier divergence\n"));
}

TEST(OracleReportTest, CopiesOfOneBarrierAreOne) {
  EXPECT_TRUE(meetAt(1, 11, isBarrier).Occurrences.empty());
  EXPECT_TRUE(meetAt(1, 1, isBarrier).Occurrences.empty());
}

TEST(OracleReportTest, OneBarrierInTwoIterationsIsADivergence) {
  for (const int32_t Copy : {1, 11}) {
    const ReportFile File = meetAt(1, Copy, isBarrier, 3, 4);
    EXPECT_THAT(renderText(buildReport(File)),
                HasSubstr("CRSan: barrier divergence: threads of a block wait "
                          "at one barrier in different iterations\n"));
    EXPECT_TRUE(meetAt(1, Copy, isBarrier, 3, 3).Occurrences.empty());
    EXPECT_TRUE(meetAt(1, Copy, isBarrier, -1, 4).Occurrences.empty());
    EXPECT_TRUE(meetAt(1, Copy, {}, 3, 4).Occurrences.empty());
  }
  EXPECT_THAT(renderText(buildReport(meetAt(1, 2, isBarrier, 3, 4))),
              HasSubstr("threads of a block wait at different barriers\n"));
}

TEST(OracleReportTest, OnlyBarriersByPlaceDiverge) {
  EXPECT_TRUE(meetAt(1, 8, isBarrier).Occurrences.empty()); // Inline assembly.
  EXPECT_TRUE(meetAt(1, 9, isBarrier).Occurrences.empty()); // Unknown lines.
  EXPECT_TRUE(meetAt(1, 2, {}).Occurrences.empty());
}

// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Host threads that share out work.
#ifndef CRSAN_SIM_CREW_H
#define CRSAN_SIM_CREW_H

#include <atomic>
#include <cstdint>
#include <functional>
#include <thread>
#include <vector>

namespace crsan::sim {

/// Does pieces of work numbered from 0 on, again and again; the calling thread
/// helps. A process that forks loses the others and goes on without them.
class Crew {
public:
  Crew(unsigned Threads, uint32_t Pieces, std::function<void(uint32_t)> Do);
  ~Crew();
  Crew(const Crew &) = delete;
  Crew &operator=(const Crew &) = delete;

  /// Returns when all pieces are done.
  void run();

private:
  void help();
  void work();

  const uint32_t Pieces;
  const std::function<void(uint32_t)> Do;
  std::atomic<uint32_t> Round{0};
  std::atomic<uint32_t> Next; ///< Piece to be taken; Pieces and more: none.
  std::atomic<uint32_t> Done{0};
  std::atomic<bool> IsOver{false};
  std::vector<std::thread> Helpers;
};

} // namespace crsan::sim

#endif // CRSAN_SIM_CREW_H

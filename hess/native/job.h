// Work that the threads of XLA's pool share.

#pragma once

#include <atomic>
#include <cstdint>
#include <functional>
#include <memory>
#include <utility>

#include "xla/ffi/api/ffi.h"

namespace hess {

inline void pause() {
#if defined(__x86_64__) || defined(__i386__)
  __builtin_ia32_pause();
#elif defined(__aarch64__)
  asm volatile("yield");
#endif
}

// A job in pieces, which threads take one by one: the caller from the front, who helps from the
// back, so that each finds in its cache what it packed, read or wrote last. The caller never waits
// for a thread that has not come yet, as it may be asleep or at work on something else, only for
// those in the middle of a piece; who comes too late finds the job closed.
class Job {
 public:
  Job(int64_t pieces, std::function<void(int64_t)> work) : pieces_(pieces), work_(std::move(work)) {}

  void take_first_pieces() {
    while (taken_++ < pieces_) work_(from_front_++);
  }

  void help() {
    ++inside_;
    if (open_) take_last_pieces();
    --inside_;
  }

  void close() {
    open_ = false;
    while (inside_ != 0) pause();
  }

 private:
  void take_last_pieces() {
    while (taken_++ < pieces_) work_(pieces_ - 1 - from_back_++);
  }

  const int64_t pieces_;
  const std::function<void(int64_t)> work_;
  std::atomic<int64_t> taken_{0}, from_front_{0}, from_back_{0}, inside_{0};
  std::atomic<bool> open_{true};
};

// Threads outside of the pool that compute right now. With more threads than cores, one that the
// system stops in the middle of a piece keeps all others waiting.
inline std::atomic<int64_t> busy_elsewhere{0};

// Calls work(0), work(1), ..., work(pieces - 1), if `shared` on as many threads of the pool as
// have a core to themselves: to wake one takes about 15 microseconds.
inline void run_pieces(int64_t pieces, bool shared, xla::ffi::ThreadPool& pool,
                       std::function<void(int64_t)> work) {
  const auto job = std::make_shared<Job>(pieces, std::move(work));
  const int64_t threads = shared ? pool.num_threads() - busy_elsewhere : 1;
  for (int64_t i = 1; i < threads; ++i) pool.Schedule([job] { job->help(); });
  job->take_first_pieces();
  job->close();
}

}  // namespace hess

// Memory that a thread keeps from call to call.

#pragma once

#include <algorithm>
#include <cstdint>
#include <initializer_list>
#include <utility>
#include <vector>

#include "vectors.h"

namespace hess {

class Scratch {
 public:
  // Room for so many floats, from the start of a line of the cache; what was there is lost.
  float* room(int64_t floats) {
    memory_.resize(std::max<size_t>(memory_.size(), floats + kLine));
    const auto address = reinterpret_cast<uintptr_t>(memory_.data());
    return reinterpret_cast<float*>((address + 4 * kLine - 1) & ~uintptr_t{4 * kLine - 1});
  }

  // Several arrays of such sizes, each from the start of a line.
  void lay_out(std::initializer_list<std::pair<float**, int64_t>> arrays) {
    int64_t total = 0;
    for (const auto& [array, floats] : arrays) total += rounded(floats);
    float* next = room(total);
    for (const auto& [array, floats] : arrays) {
      *array = next;
      next += rounded(floats);
    }
  }

 private:
  static int64_t rounded(int64_t floats) { return (floats + kLine - 1) / kLine * kLine; }

  std::vector<float> memory_;
};

}  // namespace hess

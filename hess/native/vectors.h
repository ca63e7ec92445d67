// As many floats as the processor handles at once, or has in a line of its cache.

#pragma once

namespace hess {

#if defined(__AVX512F__)
constexpr int kLanes = 16;
#elif defined(__AVX__)
constexpr int kLanes = 8;
#else
constexpr int kLanes = 4;
#endif

constexpr int kLine = 16;  // floats in a line of the cache

typedef float Vector __attribute__((vector_size(4 * kLanes)));
typedef float Unaligned __attribute__((vector_size(4 * kLanes), aligned(4), may_alias));

inline Vector load(const float* from) { return *reinterpret_cast<const Unaligned*>(from); }
inline void store(float* to, Vector value) { *reinterpret_cast<Unaligned*>(to) = value; }

inline float sum(Vector values) {
  float total = 0.0f;
  for (int i = 0; i < kLanes; ++i) total += values[i];
  return total;
}

}  // namespace hess

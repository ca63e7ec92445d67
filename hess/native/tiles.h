// Tiles of matrix products, summed up in registers.

#pragma once

#include <array>
#include <cstdint>
#include <utility>

#include "vectors.h"

namespace hess {

constexpr int kTileRows = kLanes == 16 ? 12 : 6;  // with two vectors each, 3/4 of the registers
constexpr int kTileColumns = 2 * kLanes;

// A row of the left factor is `row` floats after the one before, a column `column` floats.
struct Left {
  const float* start;
  int64_t row, column;
};

// What happens to a finished number: + bias, then at least 0; or 0 where the mask, which lies like
// the result, is not above it.
struct Finish {
  const float* bias = nullptr;
  bool rectify = false;
  const float* mask = nullptr;
};

template <int kRows>
void multiply_tile(Left left, const float* panel, int64_t depth, float* result, int64_t stride,
                   Finish finish) {
  Vector sums[kRows][2];
#pragma GCC unroll 16
  for (int i = 0; i < kRows; ++i) sums[i][0] = sums[i][1] = Vector{};

  // The result is seldom in a near cache: without this a store waits longer than the sums take.
#pragma GCC unroll 16
  for (int i = 0; i < kRows; ++i) __builtin_prefetch(result + i * stride, 1);

  const float* entry = left.start;
  auto add_column = [&] {
    const Vector low = *reinterpret_cast<const Vector*>(panel);
    const Vector high = *reinterpret_cast<const Vector*>(panel + kLanes);
#pragma GCC unroll 16
    for (int i = 0; i < kRows; ++i) {
      const float factor = entry[i * left.row];
      sums[i][0] += factor * low;
      sums[i][1] += factor * high;
    }
    entry += left.column;
    panel += kTileColumns;
  };

  int64_t done = 0;
  for (; done + kLine <= depth; done += kLine) {
    if (left.column == 1) {  // rows are far apart: fetch those of the next tile
#pragma GCC unroll 16
      for (int i = kRows; i < 2 * kRows; ++i) __builtin_prefetch(entry + i * left.row);
    }
#pragma GCC unroll 2
    for (int i = 0; i < kLine; ++i) add_column();
  }
  for (; done < depth; ++done) add_column();

  const Vector zero{};
#pragma GCC unroll 16
  for (int i = 0; i < kRows; ++i) {
    for (int half = 0; half < 2; ++half) {
      Vector value = sums[i][half];
      if (finish.bias) value += load(finish.bias + half * kLanes);
      if (finish.rectify) value = value < zero ? zero : value;  // keeps NaN
      if (finish.mask) {
        value = load(finish.mask + i * stride + half * kLanes) > zero ? value : zero;
      }
      store(result + i * stride + half * kLanes, value);
    }
  }
}

using Tile = void (*)(Left, const float*, int64_t, float*, int64_t, Finish);

template <int... kRows>
constexpr auto tiles_of(std::integer_sequence<int, kRows...>) {
  return std::array<Tile, sizeof...(kRows)>{multiply_tile<kRows + 1>...};
}

constexpr auto kTiles = tiles_of(std::make_integer_sequence<int, kTileRows>{});  // by rows - 1

}  // namespace hess

// Matrix products of the sizes that small networks have, for XLA on the CPU.
//
// XLA multiplies 128x256 by 256x256 at 0.9 of the speed that the processor can reach, but by the
// transpose of either at 0.6 to 0.7, and learning is made of all three. Here every product is cut
// into panels of a few columns. A panel of the right factor is packed so that it is read in one
// stream from the first-level cache, and tiles of the result stay in registers until they are
// done. The order in which a number is summed up depends on the sizes alone: neither threads nor
// time change a bit of it.
//
// Buffers are row-major, [batch..., rows, columns].

#include <algorithm>
#include <atomic>
#include <cstdint>
#include <vector>

#include "job.h"
#include "tiles.h"
#include "vectors.h"
#include "xla/ffi/api/ffi.h"

namespace {

namespace ffi = xla::ffi;

using hess::Finish;
using hess::kLanes;
using hess::kLine;
using hess::kTileColumns;
using hess::kTileRows;
using hess::kTiles;
using hess::Left;
using hess::load;
using hess::store;

// --- packing -----------------------------------------------------------------------------------

// A matrix of rows x columns, or the transpose of the one that is stored.
struct Factor {
  const float* start;
  int64_t rows, columns;
  bool transposed;

  float at(int64_t row, int64_t column) const {
    return transposed ? start[column * rows + row] : start[row * columns + column];
  }
};

typedef float Four __attribute__((vector_size(16)));
typedef float UnalignedFour __attribute__((vector_size(16), aligned(4), may_alias));

// Four rows of the stored matrix become four columns of the panel.
void pack_four(const float* rows, int64_t depth, float* panel) {
  int64_t k = 0;
#if defined(__has_builtin)
#if __has_builtin(__builtin_shufflevector)
  auto row = [&](int i) -> Four {
    return *reinterpret_cast<const UnalignedFour*>(rows + i * depth + k);
  };
  auto put = [&](int i, Four value) {
    *reinterpret_cast<UnalignedFour*>(panel + (k + i) * kTileColumns) = value;
  };
  for (; k + 4 <= depth; k += 4) {
    const Four a = row(0), b = row(1), c = row(2), d = row(3);
    const Four ab = __builtin_shufflevector(a, b, 0, 4, 1, 5);
    const Four cd = __builtin_shufflevector(c, d, 0, 4, 1, 5);
    put(0, __builtin_shufflevector(ab, cd, 0, 1, 4, 5));
    put(1, __builtin_shufflevector(ab, cd, 2, 3, 6, 7));
    const Four ab_high = __builtin_shufflevector(a, b, 2, 6, 3, 7);
    const Four cd_high = __builtin_shufflevector(c, d, 2, 6, 3, 7);
    put(2, __builtin_shufflevector(ab_high, cd_high, 0, 1, 4, 5));
    put(3, __builtin_shufflevector(ab_high, cd_high, 2, 3, 6, 7));
  }
#endif
#endif
  for (; k < depth; ++k) {
    for (int i = 0; i < 4; ++i) panel[k * kTileColumns + i] = rows[i * depth + k];
  }
}

// Columns first, first + 1, ... of the right factor, [depth, kTileColumns], 0 beyond its edge.
void pack_panel(const Factor& right, int64_t first, float* panel) {
  const int64_t depth = right.rows;
  const int64_t width = std::min<int64_t>(kTileColumns, right.columns - first);
  if (width < kTileColumns) {
    for (int64_t k = 0; k < depth; ++k) {
      for (int64_t j = 0; j < kTileColumns; ++j) {
        panel[k * kTileColumns + j] = j < width ? right.at(k, first + j) : 0.0f;
      }
    }
  } else if (right.transposed) {
    for (int64_t j = 0; j < kTileColumns; j += 4) {
      pack_four(right.start + (first + j) * depth, depth, panel + j);
    }
  } else {
    for (int64_t k = 0; k < depth; ++k) {
      const float* from = right.start + k * right.columns + first;
      store(panel + k * kTileColumns, load(from));
      store(panel + k * kTileColumns + kLanes, load(from + kLanes));
    }
  }
}

// The rows of a result are cut into tiles that differ by one row at most.
struct Cut {
  int64_t rows, count = (rows + kTileRows - 1) / kTileRows;

  int64_t start(int64_t tile) const { return rows / count * tile + std::min(tile, rows % count); }
  int64_t height(int64_t tile) const { return start(tile + 1) - start(tile); }
};

// The tiles of a transposed left factor one after the other, [depth, kTileRows] each.
void pack_left(const Factor& left, const Cut& cut, float* packed) {
  const int64_t depth = left.columns;
  for (int64_t k = 0; k < depth; ++k) {
    const float* from = left.start + k * left.rows;
    for (int64_t tile = 0; tile < cut.count; ++tile) {
      const int64_t first = cut.start(tile);
      float* to = packed + (tile * depth + k) * kTileRows;
      if (first + kTileRows <= left.rows) {
        for (int i = 0; i < kTileRows; ++i) to[i] = from[first + i];  // unrolled
      } else {
        for (int64_t i = first; i < left.rows; ++i) to[i - first] = from[i];
      }
    }
  }
}

// --- products ----------------------------------------------------------------------------------

struct Product {
  Factor left, right;
  float* result;
  Finish finish;
};

// What one thread packs into; the left factor stays packed from panel to panel of a product.
struct Desk {
  std::vector<float> memory;
  uint64_t packed_left = 0;  // of which product
  float edge[kTileRows * kTileColumns];

  float* room(int64_t size) {
    memory.resize(std::max<size_t>(memory.size(), size + kLine));
    const auto address = reinterpret_cast<uintptr_t>(memory.data());
    return reinterpret_cast<float*>((address + 4 * kLine - 1) & ~uintptr_t{4 * kLine - 1});
  }
};

void multiply_panel(const Product& product, uint64_t number, int64_t first) {
  static thread_local Desk desk;
  const Factor &left = product.left, &right = product.right;
  const int64_t depth = right.rows, columns = right.columns;
  const Cut cut{left.rows};
  float* panel = desk.room(depth * (kTileColumns + cut.count * kTileRows));
  float* packed = panel + depth * kTileColumns;
  if (left.transposed && desk.packed_left != number) {
    pack_left(left, cut, packed);
    desk.packed_left = number;
  }
  pack_panel(right, first, panel);

  const int64_t width = std::min<int64_t>(kTileColumns, columns - first);
  for (int64_t tile = 0; tile < cut.count; ++tile) {
    const int64_t row = cut.start(tile), height = cut.height(tile);
    const Left rows = left.transposed ? Left{packed + tile * depth * kTileRows, 1, kTileRows}
                                      : Left{left.start + row * depth, depth, 1};
    float* result = product.result + row * columns + first;
    Finish finish = product.finish;
    if (finish.bias) finish.bias += first;
    if (width == kTileColumns) {
      kTiles[height - 1](rows, panel, depth, result, columns, finish);
      continue;
    }
    kTiles[height - 1](rows, panel, depth, desk.edge, kTileColumns, Finish{nullptr, false});
    for (int64_t i = 0; i < height; ++i) {
      for (int64_t j = 0; j < width; ++j) {
        float value = desk.edge[i * kTileColumns + j] + (finish.bias ? finish.bias[j] : 0.0f);
        result[i * columns + j] = finish.rectify && value < 0.0f ? 0.0f : value;
      }
    }
  }
}

constexpr double kWorthSharing = 3e6;  // operations

void multiply(const std::vector<Product>& products, ffi::ThreadPool& pool) {
  static std::atomic<uint64_t> numbers{1};
  const uint64_t number = numbers.fetch_add(products.size());
  const Factor &left = products[0].left, &right = products[0].right;
  const int64_t panels = (right.columns + kTileColumns - 1) / kTileColumns;
  const double operations = 2.0 * left.rows * right.rows * right.columns * products.size();
  hess::run_pieces(panels * products.size(), operations >= kWorthSharing, pool, [&](int64_t piece) {
    const int64_t which = piece / panels, first = piece % panels * kTileColumns;
    multiply_panel(products[which], number + which, first);
  });
}

// --- what XLA calls ----------------------------------------------------------------------------

using Floats = ffi::Buffer<ffi::F32>;

struct Matrices {
  const float* start;
  int64_t batch = 1, rows, columns;

  explicit Matrices(const Floats& buffer) : start(buffer.typed_data()) {
    const auto sizes = buffer.dimensions();
    rows = sizes[sizes.size() - 2];
    columns = sizes[sizes.size() - 1];
    for (size_t i = 0; i + 2 < sizes.size(); ++i) batch *= sizes[i];
  }

  Factor plain(int64_t i) const { return {start + i * rows * columns, rows, columns, false}; }
  Factor transposed(int64_t i) const { return {start + i * rows * columns, columns, rows, true}; }
};

// The products of left_of(i) by right_of(i), one for each matrix of a batch.
template <typename LeftOf, typename RightOf>
ffi::Error multiply_batch(int64_t batch, LeftOf left_of, RightOf right_of, Finish finish,
                          float* result, ffi::ThreadPool& pool) {
  std::vector<Product> products;
  for (int64_t i = 0; i < batch; ++i) {
    const Factor left = left_of(i), right = right_of(i);
    if (left.columns != right.rows) return ffi::Error::InvalidArgument("sizes do not match");
    if (left.rows == 0 || right.columns == 0) return ffi::Error::Success();
    products.push_back({left, right, result, finish});
    result += left.rows * right.columns;
    if (finish.bias) finish.bias += right.columns;
  }
  if (!products.empty()) multiply(products, pool);
  return ffi::Error::Success();
}

// inputs [B, in], weights [in, out], bias [1, out] -> [B, out].
ffi::Error outputs(ffi::ThreadPool pool, bool rectify, Floats inputs, Floats weights, Floats bias,
                   ffi::Result<Floats> result) {
  const Matrices x(inputs), w(weights);
  return multiply_batch(
      x.batch, [&](int64_t i) { return x.plain(i); }, [&](int64_t i) { return w.plain(i); },
      Finish{bias.typed_data(), rectify}, result->typed_data(), pool);
}

// Gradients of the outputs [B, out], weights [in, out] -> those of the inputs [B, in].
ffi::Error input_gradients(ffi::ThreadPool pool, Floats gradients, Floats weights,
                           ffi::Result<Floats> result) {
  const Matrices g(gradients), w(weights);
  return multiply_batch(
      g.batch, [&](int64_t i) { return g.plain(i); }, [&](int64_t i) { return w.transposed(i); },
      Finish{nullptr, false}, result->typed_data(), pool);
}

// Inputs [B, in], gradients of the outputs [B, out] -> those of the weights [in, out].
ffi::Error weight_gradients(ffi::ThreadPool pool, Floats inputs, Floats gradients,
                            ffi::Result<Floats> result) {
  const Matrices x(inputs), g(gradients);
  return multiply_batch(
      x.batch, [&](int64_t i) { return x.transposed(i); }, [&](int64_t i) { return g.plain(i); },
      Finish{nullptr, false}, result->typed_data(), pool);
}

}  // namespace

XLA_FFI_DEFINE_HANDLER_SYMBOL(hess_outputs, outputs,
                              ffi::Ffi::Bind()
                                  .Ctx<ffi::ThreadPool>()
                                  .Attr<bool>("rectify")
                                  .Arg<Floats>()
                                  .Arg<Floats>()
                                  .Arg<Floats>()
                                  .Ret<Floats>());
XLA_FFI_DEFINE_HANDLER_SYMBOL(
    hess_input_gradients, input_gradients,
    ffi::Ffi::Bind().Ctx<ffi::ThreadPool>().Arg<Floats>().Arg<Floats>().Ret<Floats>());
XLA_FFI_DEFINE_HANDLER_SYMBOL(
    hess_weight_gradients, weight_gradients,
    ffi::Ffi::Bind().Ctx<ffi::ThreadPool>().Arg<Floats>().Arg<Floats>().Ret<Floats>());

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
#include "scratch.h"
#include "tiles.h"
#include "vectors.h"
#include "xla/ffi/api/ffi.h"

namespace {

namespace ffi = xla::ffi;

using hess::Finish;
using hess::kLanes;
using hess::kTileColumns;
using hess::kTileRows;
using hess::kTiles;
using hess::Left;
using hess::load;
using hess::store;
using hess::Vector;

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
  int64_t packed = 0;  // columns
  if (right.transposed) {
    for (; packed + 4 <= width; packed += 4) {
      pack_four(right.start + (first + packed) * depth, depth, panel + packed);
    }
  } else if (width == kTileColumns) {
    packed = width;
    for (int64_t k = 0; k < depth; ++k) {
      const float* from = right.start + k * right.columns + first;
      store(panel + k * kTileColumns, load(from));
      store(panel + k * kTileColumns + kLanes, load(from + kLanes));
    }
  }
  for (int64_t k = 0; packed < kTileColumns && k < depth; ++k) {
    for (int64_t j = packed; j < kTileColumns; ++j) {
      panel[k * kTileColumns + j] = j < width ? right.at(k, first + j) : 0.0f;
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
  Finish finish = {};
  float* column_sums = nullptr;      // of the right factor, if asked for
  bool may_have_empty_rows = false;  // of the left factor: worth a look
};

// What one thread packs into; the left factor stays packed from panel to panel of a product.
struct Desk {
  hess::Scratch memory;
  uint64_t prepared = 0;               // for which product
  bool only_filled = false;            // rows of the left factor are packed
  std::vector<int64_t> filled, empty;  // if it was searched
  float edge[kTileRows * kTileColumns];
};

bool is_empty(const float* row, int64_t size) {
  return std::all_of(row, row + size, [](float number) { return number == 0.0f; });
}

// Rows of zeros need not be multiplied: the others move together. A critic whose value is not the
// smaller one has such a row in the actor's gradient, and that is every second one.
void pack_filled_rows(const Factor& left, Desk& desk, float* packed) {
  desk.filled.clear();
  desk.empty.clear();
  for (int64_t row = 0; row < left.rows; ++row) {
    const bool empty = is_empty(left.start + row * left.columns, left.columns);
    (empty ? desk.empty : desk.filled).push_back(row);
  }
  desk.only_filled = 8 * desk.empty.size() >= static_cast<size_t>(left.rows);
  if (!desk.only_filled) return;
  for (const int64_t row : desk.filled) {
    packed = std::copy_n(left.start + row * left.columns, left.columns, packed);
  }
}

void prepare_left(const Product& product, const Cut& cut, Desk& desk, float* packed) {
  desk.only_filled = false;
  if (product.left.transposed) pack_left(product.left, cut, packed);
  if (product.may_have_empty_rows) pack_filled_rows(product.left, desk, packed);
}

float finished(float value, const Finish& finish, int64_t column, int64_t place) {
  if (finish.bias) value += finish.bias[column];
  if (finish.rectify && value < 0.0f) value = 0.0f;
  return finish.mask && !(finish.mask[place] > 0.0f) ? 0.0f : value;
}

// Rows of a tile on the desk to their places.
void put_rows(const Desk& desk, const Product& product, int64_t first, int64_t row,
              int64_t height) {
  const int64_t columns = product.right.columns;
  const int64_t width = std::min<int64_t>(kTileColumns, columns - first);
  const Finish& finish = product.finish;
  const Vector zero{};
  for (int64_t i = 0; i < height; ++i) {
    const float* from = desk.edge + i * kTileColumns;
    const int64_t start = (desk.only_filled ? desk.filled[row + i] : row + i) * columns + first;
    int64_t j = 0;
    for (; !finish.bias && !finish.rectify && j + kLanes <= width; j += kLanes) {
      const Vector value = load(from + j);
      const bool masked = finish.mask != nullptr;
      store(product.result + start + j,
            masked ? (load(finish.mask + start + j) > zero ? value : zero) : value);
    }
    for (; j < width; ++j) {
      product.result[start + j] = finished(from[j], finish, first + j, start + j);
    }
  }
}

void add_columns(const float* panel, int64_t depth, int64_t width, float* sums) {
  Vector low{}, high{};
  for (int64_t k = 0; k < depth; ++k) {
    low += load(panel + k * kTileColumns);
    high += load(panel + k * kTileColumns + kLanes);
  }
  for (int64_t j = 0; j < width; ++j) sums[j] = j < kLanes ? low[j] : high[j - kLanes];
}

void multiply_panel(const Product& product, uint64_t number, int64_t first) {
  static thread_local Desk desk;
  const Factor &left = product.left, &right = product.right;
  const int64_t depth = right.rows, columns = right.columns;
  const Cut all{left.rows};
  float* panel = desk.memory.room(depth * (kTileColumns + all.count * kTileRows));
  float* packed = panel + depth * kTileColumns;
  if (desk.prepared != number) prepare_left(product, all, desk, packed);
  desk.prepared = number;
  pack_panel(right, first, panel);
  const int64_t width = std::min<int64_t>(kTileColumns, columns - first);
  if (product.column_sums) add_columns(panel, depth, width, product.column_sums + first);

  const bool only_filled = desk.only_filled;
  const Cut cut{only_filled ? static_cast<int64_t>(desk.filled.size()) : left.rows};
  for (int64_t tile = 0; tile < cut.count; ++tile) {
    const int64_t row = cut.start(tile), height = cut.height(tile);
    const Left rows = left.transposed ? Left{packed + tile * depth * kTileRows, 1, kTileRows}
                                      : Left{(only_filled ? packed : left.start) + row * depth,
                                             depth, 1};
    if (only_filled || width < kTileColumns) {
      kTiles[height - 1](rows, panel, depth, desk.edge, kTileColumns, {});
      put_rows(desk, product, first, row, height);
    } else {
      const int64_t start = row * columns + first;
      Finish finish = product.finish;
      if (finish.bias) finish.bias += first;
      if (finish.mask) finish.mask += start;
      kTiles[height - 1](rows, panel, depth, product.result + start, columns, finish);
    }
  }
  if (!only_filled) return;
  for (const int64_t row : desk.empty) {
    std::fill_n(product.result + row * columns + first, width, 0.0f);
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

using Shape = ffi::Span<const int64_t>;

int64_t batch_of(Shape shape) {
  int64_t batch = 1;
  for (size_t axis = 0; axis + 2 < shape.size(); ++axis) batch *= shape[axis];
  return batch;
}

// The matrices of a buffer, one for each of a result's; along an axis of 1 one serves all.
class Matrices {
 public:
  Matrices(Floats buffer, Shape result) : start_(buffer.typed_data()) {
    const Shape shape = buffer.dimensions();
    rows_ = shape[shape.size() - 2];
    columns_ = shape[shape.size() - 1];
    for (int64_t i = 0; i < batch_of(result); ++i) {
      int64_t offset = 0, stride = rows_ * columns_, rest = i;
      for (size_t axis = shape.size() - 2; axis-- > 0;) {
        if (shape[axis] != 1) offset += rest % result[axis] * stride;
        stride *= shape[axis];
        rest /= result[axis];
      }
      offsets_.push_back(offset);
    }
  }

  float* matrix(int64_t i) const { return start_ + offsets_[i]; }
  Factor plain(int64_t i) const { return {matrix(i), rows_, columns_, false}; }
  Factor transposed(int64_t i) const { return {matrix(i), columns_, rows_, true}; }

 private:
  float* start_;
  int64_t rows_, columns_;
  std::vector<int64_t> offsets_;
};

template <typename ProductOf>
ffi::Error multiply_batch(Shape result, ProductOf product_of, ffi::ThreadPool& pool) {
  std::vector<Product> products;
  for (int64_t i = 0; i < batch_of(result); ++i) {
    const Product product = product_of(i);
    const Factor &left = product.left, &right = product.right;
    if (left.columns != right.rows) return ffi::Error::InvalidArgument("sizes do not match");
    if (left.rows == 0 || right.columns == 0) return ffi::Error::Success();
    products.push_back(product);
  }
  if (!products.empty()) multiply(products, pool);
  return ffi::Error::Success();
}

// inputs [B, in], weights [in, out], bias [1, out] -> [B, out].
ffi::Error outputs(ffi::ThreadPool pool, bool rectify, Floats inputs, Floats weights, Floats bias,
                   ffi::Result<Floats> result) {
  const Shape shape = result->dimensions();
  const Matrices x(inputs, shape), w(weights, shape), b(bias, shape), y(*result, shape);
  return multiply_batch(
      shape,
      [&](int64_t i) {
        return Product{x.plain(i), w.plain(i), y.matrix(i), {b.matrix(i), rectify}};
      },
      pool);
}

// Gradients of the outputs [B, out], weights [in, out], inputs [B, in] -> the gradients of the
// inputs [B, in]; if those were `rectified`, of what they were before.
ffi::Error input_gradients(ffi::ThreadPool pool, bool rectified, Floats gradients, Floats weights,
                           Floats inputs, ffi::Result<Floats> result) {
  const Shape shape = result->dimensions();
  const Matrices g(gradients, shape), w(weights, shape), x(inputs, shape), y(*result, shape);
  return multiply_batch(
      shape,
      [&](int64_t i) {
        const Finish finish{nullptr, false, rectified ? x.matrix(i) : nullptr};
        return Product{g.plain(i), w.transposed(i), y.matrix(i), finish, nullptr, true};
      },
      pool);
}

// Inputs [B, in], gradients of the outputs [B, out] -> those of weights [in, out] and bias [1, out].
ffi::Error weight_gradients(ffi::ThreadPool pool, Floats inputs, Floats gradients,
                            ffi::Result<Floats> of_weights, ffi::Result<Floats> of_bias) {
  const Shape shape = of_weights->dimensions();
  const Matrices x(inputs, shape), g(gradients, shape), w(*of_weights, shape), b(*of_bias, shape);
  return multiply_batch(
      shape,
      [&](int64_t i) {
        return Product{x.transposed(i), g.plain(i), w.matrix(i), {}, b.matrix(i)};
      },
      pool);
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
XLA_FFI_DEFINE_HANDLER_SYMBOL(hess_input_gradients, input_gradients,
                              ffi::Ffi::Bind()
                                  .Ctx<ffi::ThreadPool>()
                                  .Attr<bool>("rectified")
                                  .Arg<Floats>()
                                  .Arg<Floats>()
                                  .Arg<Floats>()
                                  .Ret<Floats>());
XLA_FFI_DEFINE_HANDLER_SYMBOL(hess_weight_gradients, weight_gradients,
                              ffi::Ffi::Bind()
                                  .Ctx<ffi::ThreadPool>()
                                  .Arg<Floats>()
                                  .Arg<Floats>()
                                  .Ret<Floats>()
                                  .Ret<Floats>());

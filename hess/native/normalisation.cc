// Layer normalisation with a ReLU behind it, forwards and backwards, each in one pass over memory;
// XLA makes about ten.
//
// Buffers are row-major, [..., columns]; every row is normalised by itself.

#include <algorithm>
#include <cmath>
#include <cstdint>

#include "job.h"
#include "vectors.h"
#include "xla/ffi/api/ffi.h"

namespace {

namespace ffi = xla::ffi;
using Floats = ffi::Buffer<ffi::F32>;
using hess::kLanes;
using hess::load;
using hess::store;
using hess::Vector;

constexpr int64_t kRowsOfPiece = 16;
constexpr int64_t kWorthSharing = 50'000;  // numbers

// Σ over columns, of whole vectors and of what is left of the row.
template <typename OfVector, typename OfFloat>
float add_up(int64_t columns, OfVector of_vector, OfFloat of_float) {
  Vector sums{};
  int64_t i = 0;
  for (; i + kLanes <= columns; i += kLanes) sums += of_vector(i);
  float total = hess::sum(sums);
  for (; i < columns; ++i) total += of_float(i);
  return total;
}

// z -> max(0, (z - mean) · scale); mean and scale are kept in `moments`.
void normalise_row(const float* z, int64_t columns, float epsilon, float* result, float* moments) {
  const float mean = add_up(
      columns, [&](int64_t i) { return load(z + i); }, [&](int64_t i) { return z[i]; }) / columns;
  const float variance = add_up(
      columns,
      [&](int64_t i) { const Vector centred = load(z + i) - mean; return centred * centred; },
      [&](int64_t i) { return (z[i] - mean) * (z[i] - mean); }) / columns;
  const float scale = 1.0f / std::sqrt(variance + epsilon);
  const Vector zero{};
  int64_t i = 0;
  for (; i + kLanes <= columns; i += kLanes) {
    const Vector value = (load(z + i) - mean) * scale;
    store(result + i, value < zero ? zero : value);  // keeps NaN
  }
  for (; i < columns; ++i) {
    const float value = (z[i] - mean) * scale;
    result[i] = value < 0.0f ? 0.0f : value;
  }
  moments[0] = mean;
  moments[1] = scale;
}

// With x = (z - mean) · scale and f the gradient where x > 0, else 0:
// scale · (f - mean of f - x · mean of f x).
void gradient_row(const float* z, const float* moments, const float* gradient, int64_t columns,
                  float* result) {
  const float mean = moments[0], scale = moments[1];
  const Vector zero{};
  Vector flows{}, products{};
  float flow = 0.0f, product = 0.0f;
  int64_t i = 0;
  for (; i + kLanes <= columns; i += kLanes) {
    const Vector x = (load(z + i) - mean) * scale;
    const Vector f = x > zero ? load(gradient + i) : zero;
    flows += f;
    products += f * x;
  }
  for (; i < columns; ++i) {
    const float x = (z[i] - mean) * scale, f = x > 0.0f ? gradient[i] : 0.0f;
    flow += f;
    product += f * x;
  }
  flow = (flow + hess::sum(flows)) / columns;
  product = (product + hess::sum(products)) / columns;
  for (i = 0; i + kLanes <= columns; i += kLanes) {
    const Vector x = (load(z + i) - mean) * scale;
    const Vector f = x > zero ? load(gradient + i) : zero;
    store(result + i, scale * (f - flow - x * product));
  }
  for (; i < columns; ++i) {
    const float x = (z[i] - mean) * scale, f = x > 0.0f ? gradient[i] : 0.0f;
    result[i] = scale * (f - flow - x * product);
  }
}

template <typename OfRow>
ffi::Error for_rows(const Floats& buffer, ffi::ThreadPool& pool, OfRow of_row) {
  const int64_t columns = buffer.dimensions().back(), count = buffer.element_count();
  if (count == 0) return ffi::Error::Success();
  const int64_t rows = count / columns, pieces = (rows + kRowsOfPiece - 1) / kRowsOfPiece;
  hess::run_pieces(pieces, count >= kWorthSharing, pool, [&](int64_t piece) {
    const int64_t end = std::min(rows, (piece + 1) * kRowsOfPiece);
    for (int64_t row = piece * kRowsOfPiece; row < end; ++row) of_row(row, columns);
  });
  return ffi::Error::Success();
}

// [..., B, columns] -> the same, and [..., B, 2].
ffi::Error normalise(ffi::ThreadPool pool, float epsilon, Floats inputs,
                     ffi::Result<Floats> outputs, ffi::Result<Floats> moments) {
  const float* z = inputs.typed_data();
  float *result = outputs->typed_data(), *kept = moments->typed_data();
  return for_rows(inputs, pool, [=](int64_t row, int64_t columns) {
    const int64_t start = row * columns;
    normalise_row(z + start, columns, epsilon, result + start, kept + 2 * row);
  });
}

// [..., B, columns], [..., B, 2], [..., B, columns] -> [..., B, columns].
ffi::Error gradients(ffi::ThreadPool pool, Floats inputs, Floats moments, Floats of_outputs,
                     ffi::Result<Floats> of_inputs) {
  const float *z = inputs.typed_data(), *kept = moments.typed_data();
  const float* gradient = of_outputs.typed_data();
  float* result = of_inputs->typed_data();
  return for_rows(inputs, pool, [=](int64_t row, int64_t columns) {
    const int64_t start = row * columns;
    gradient_row(z + start, kept + 2 * row, gradient + start, columns, result + start);
  });
}

}  // namespace

XLA_FFI_DEFINE_HANDLER_SYMBOL(hess_normalise, normalise,
                              ffi::Ffi::Bind()
                                  .Ctx<ffi::ThreadPool>()
                                  .Attr<float>("epsilon")
                                  .Arg<Floats>()
                                  .Ret<Floats>()
                                  .Ret<Floats>());
XLA_FFI_DEFINE_HANDLER_SYMBOL(hess_normalise_gradients, gradients,
                              ffi::Ffi::Bind()
                                  .Ctx<ffi::ThreadPool>()
                                  .Arg<Floats>()
                                  .Arg<Floats>()
                                  .Arg<Floats>()
                                  .Ret<Floats>());

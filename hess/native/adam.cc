// A step of Adam on all arrays of a network, in one pass over memory and on all threads; XLA makes
// three passes on one. A target that follows the parameters is moved in the same pass.

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <vector>

#include "job.h"
#include "xla/ffi/api/ffi.h"

namespace {

namespace ffi = xla::ffi;
using Floats = ffi::Buffer<ffi::F32>;
using Integers = ffi::Buffer<ffi::S32>;

constexpr int64_t kPiece = 8'192;          // numbers
constexpr int64_t kWorthSharing = 30'000;  // numbers

struct Rates {
  float learning, first, second, epsilon, rate;
  float mean_scale, square_scale;  // for the zeros that both averages began with
};

// Part of an array. Results lie where the inputs did, or elsewhere.
struct Piece {
  const float *parameters, *means, *squares, *target, *gradient;
  float *new_parameters, *new_means, *new_squares, *new_target;
  int64_t size;
};

template <bool kFollowed>
void step(const Piece& piece, const Rates& rates) {
  const auto& [parameters, means, squares, target, gradient, new_parameters, new_means, new_squares,
               new_target, size] = piece;
#pragma GCC ivdep
  for (int64_t i = 0; i < size; ++i) {
    const float slope = gradient[i];
    const float mean = rates.first * means[i] + (1.0f - rates.first) * slope;
    const float square = rates.second * squares[i] + (1.0f - rates.second) * (slope * slope);
    const float length = std::sqrt(square * rates.square_scale) + rates.epsilon;
    const float parameter = parameters[i] - rates.learning * (mean * rates.mean_scale) / length;
    if constexpr (kFollowed) {
      new_target[i] = target[i] + rates.rate * (parameter - target[i]);
    }
    new_means[i] = mean;
    new_squares[i] = square;
    new_parameters[i] = parameter;
  }
}

float scale(float rate, int32_t count) {
  return static_cast<float>(1.0 / (1.0 - std::pow(static_cast<double>(rate), count)));
}

// count [] of this step, from 1; then parameters, means of their gradients, means of the squares,
// targets if `polyak`, gradients: n arrays each -> all but the gradients, as they are afterwards.
ffi::Error adam(ffi::ThreadPool pool, float learning, float first, float second, float epsilon,
                bool polyak, float rate, Integers count, ffi::RemainingArgs arrays,
                ffi::RemainingRets results) {
  const size_t kinds = polyak ? 4 : 3, number = results.size() / kinds;
  if (arrays.size() != (kinds + 1) * number || results.size() != kinds * number) {
    return ffi::Error::InvalidArgument("parameters and gradients do not match");
  }
  const int32_t steps = *count.typed_data();
  const Rates rates{learning,  first,  second, epsilon, rate, scale(first, steps),
                    scale(second, steps)};
  std::vector<Piece> pieces;
  int64_t total = 0;
  for (size_t i = 0; i < number; ++i) {
    const auto gradient = arrays.get<Floats>(kinds * number + i);
    if (!gradient.has_value()) return gradient.error();
    const int64_t size = gradient->element_count();
    const float* from[4] = {};
    float* to[4] = {};
    for (size_t kind = 0; kind < kinds; ++kind) {
      const auto array = arrays.get<Floats>(kind * number + i);
      auto result = results.get<Floats>(kind * number + i);
      if (!array.has_value()) return array.error();
      if (!result.has_value()) return result.error();
      from[kind] = array->typed_data();
      to[kind] = (*result)->typed_data();
    }
    auto shifted = [](auto* start, int64_t by) { return start ? start + by : start; };
    for (int64_t start = 0; start < size; start += kPiece) {
      pieces.push_back({shifted(from[0], start), shifted(from[1], start), shifted(from[2], start),
                        shifted(from[3], start), gradient->typed_data() + start,
                        shifted(to[0], start), shifted(to[1], start), shifted(to[2], start),
                        shifted(to[3], start), std::min(kPiece, size - start)});
    }
    total += size;
  }
  hess::run_pieces(pieces.size(), total >= kWorthSharing, pool, [&](int64_t piece) {
    polyak ? step<true>(pieces[piece], rates) : step<false>(pieces[piece], rates);
  });
  return ffi::Error::Success();
}

}  // namespace

XLA_FFI_DEFINE_HANDLER_SYMBOL(hess_adam, adam,
                              ffi::Ffi::Bind()
                                  .Ctx<ffi::ThreadPool>()
                                  .Attr<float>("learning")
                                  .Attr<float>("first")
                                  .Attr<float>("second")
                                  .Attr<float>("epsilon")
                                  .Attr<bool>("polyak")
                                  .Attr<float>("rate")
                                  .Arg<Integers>()
                                  .RemainingArgs()
                                  .RemainingRets());

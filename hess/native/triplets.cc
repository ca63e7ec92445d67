// The loss of the subgoal representation and its gradient on one minibatch, in one go: fetching
// the states, a network with one hidden layer, triplet and stability terms, and the way back.
//
// XLA spends more time on handing the small intermediate results around than on the arithmetic.
// Here they stay in the second-level cache, in the layout that the next product reads. Each half of
// the minibatch is one piece of work; their gradients are added in the same order whoever did them.
//
// Buffers are row-major.

#include <algorithm>
#include <array>
#include <cmath>
#include <cstdint>
#include <utility>

#include "job.h"
#include "scratch.h"
#include "tiles.h"
#include "vectors.h"
#include "xla/ffi/api/ffi.h"

namespace {

namespace ffi = xla::ffi;
using Floats = ffi::Buffer<ffi::F32>;
using Integers = ffi::Buffer<ffi::S32>;
using hess::kLanes;
using hess::kTileColumns;
using hess::kTileRows;
using hess::load;
using hess::store;
using hess::Vector;

constexpr int kMostDimensions = 8;
constexpr int64_t kWorthSharing = 500'000;  // products of two numbers on the way forwards

struct Loss {
  bool squares;  // the triplet's distance: mean of squares, or L2
  float margin, epsilon;
  float share;  // of one triplet in the mean
};

struct Sizes {
  int64_t batch, inputs, hidden, dimensions;

  int64_t states() const { return 4 * batch; }  // anchors, nexts, distants, held
  int64_t panels() const { return (hidden + kTileColumns - 1) / kTileColumns; }
  int64_t padded() const { return panels() * kTileColumns; }
};

// Weights [panel][input][column], [hidden] and [dimension][hidden], zero beyond the edge.
class Weights {
 public:
  float *first, *first_bias, *second;
  const float* second_bias;

  void lay_out(const Sizes& sizes) {
    const int64_t padded = sizes.padded();
    scratch_.lay_out({{&first, sizes.inputs * padded},
                      {&first_bias, padded},
                      {&second, sizes.dimensions * padded}});
  }

 private:
  hess::Scratch scratch_;
};

// One half of the minibatch, on its way through the network and back. `layer` is in panels,
// [panel][state][column], zero beyond the edge.
class Half {
 public:
  float *states, *layer, *embeddings, *slopes;
  float *old, *stability_weights;  // what the stability term holds on to
  float *first_gradient, *bias_gradient, *second_gradient;
  double triplet, stability;

  void lay_out(const Sizes& sizes) {
    const int64_t states_of = sizes.states(), padded = sizes.padded();
    scratch_.lay_out({{&states, states_of * sizes.inputs},
                      {&layer, states_of * padded},
                      {&embeddings, states_of * sizes.dimensions},
                      {&slopes, states_of * sizes.dimensions},
                      {&old, sizes.batch * sizes.dimensions},
                      {&stability_weights, sizes.batch},
                      {&first_gradient, sizes.inputs * padded},
                      {&bias_gradient, padded},
                      {&second_gradient, sizes.dimensions * padded}});
  }

 private:
  hess::Scratch scratch_;
};

// Weights [inputs, hidden], [hidden] and [hidden, dimensions].
void pack(const float* first, const float* first_bias, const float* second, const Sizes& sizes,
          Weights& packed) {
  const auto [batch, inputs, hidden, dimensions] = sizes;
  const int64_t padded = sizes.padded();
  for (int64_t start = 0; start < hidden; start += kTileColumns) {
    const int64_t width = std::min<int64_t>(kTileColumns, hidden - start);
    float* panel = packed.first + start * inputs;
    for (int64_t i = 0; i < inputs; ++i, panel += kTileColumns) {
      std::copy_n(first + i * hidden + start, width, panel);
      std::fill(panel + width, panel + kTileColumns, 0.0f);
    }
  }
  std::copy_n(first_bias, hidden, packed.first_bias);
  std::fill(packed.first_bias + hidden, packed.first_bias + padded, 0.0f);
  for (int64_t k = 0; k < dimensions; ++k) {
    float* row = packed.second + k * padded;
    for (int64_t j = 0; j < hidden; ++j) row[j] = second[j * dimensions + k];
    std::fill(row + hidden, row + padded, 0.0f);
  }
}

// layer = max(0, states · first + bias).
void fill_layer(const Sizes& sizes, const Weights& packed, Half& half) {
  const int64_t states = sizes.states(), inputs = sizes.inputs;
  for (int64_t panel = 0; panel < sizes.panels(); ++panel) {
    const float* weights = packed.first + panel * inputs * kTileColumns;
    float* result = half.layer + panel * states * kTileColumns;
    for (int64_t row = 0; row < states; row += kTileRows) {
      const int64_t height = std::min<int64_t>(kTileRows, states - row);
      hess::kTiles[height - 1]({half.states + row * inputs, inputs, 1}, weights, inputs,
                               result + row * kTileColumns, kTileColumns,
                               {packed.first_bias + panel * kTileColumns, true});
    }
  }
}

// embeddings = layer · second + bias.
template <int kDimensions>
void embed(const Sizes& sizes, const Weights& packed, Half& half) {
  const int64_t states = sizes.states(), padded = sizes.padded();
  for (int64_t row = 0; row < states; ++row) {
    Vector sums[kDimensions] = {};
    for (int64_t j = 0; j < padded; j += kLanes) {
      const int64_t panel = j / kTileColumns, column = j % kTileColumns;
      const Vector unit = load(half.layer + (panel * states + row) * kTileColumns + column);
      for (int k = 0; k < kDimensions; ++k) sums[k] += unit * load(packed.second + k * padded + j);
    }
    for (int k = 0; k < kDimensions; ++k) {
      half.embeddings[row * kDimensions + k] = hess::sum(sums[k]) + packed.second_bias[k];
    }
  }
}

// The distance of x and y, and how it changes with x.
template <int kDimensions>
float separation(bool squares, float epsilon, const float* x, const float* y, float* slope) {
  float sum = 0.0f;
  for (int k = 0; k < kDimensions; ++k) sum += (x[k] - y[k]) * (x[k] - y[k]);
  const float distance = squares ? sum / kDimensions : std::sqrt(sum + epsilon);
  const float factor = squares ? 2.0f / kDimensions : 1.0f / distance;
  for (int k = 0; k < kDimensions; ++k) slope[k] = factor * (x[k] - y[k]);
  return distance;
}

// Both terms, summed up, and the slopes of their means at every embedding.
template <int kDimensions>
void add_losses(const Sizes& sizes, const Loss& loss, Half& half) {
  const int64_t batch = sizes.batch;
  half.triplet = half.stability = 0.0;
  auto embedding = [&](int64_t state) { return half.embeddings + state * kDimensions; };
  auto slope_of = [&](int64_t state) { return half.slopes + state * kDimensions; };
  for (int64_t i = 0; i < batch; ++i) {
    const int64_t next = batch + i, distant = 2 * batch + i, hold = 3 * batch + i;
    float near[kDimensions], far[kDimensions], drift[kDimensions];
    half.triplet += separation<kDimensions>(loss.squares, loss.epsilon, embedding(i), embedding(next),
                                       near);
    const float missing =
        loss.margin - separation<kDimensions>(loss.squares, loss.epsilon, embedding(i),
                                              embedding(distant), far);
    const bool close = !(missing <= 0.0f);  // a NaN shows
    if (close) half.triplet += missing;
    half.stability +=
        half.stability_weights[i] * separation<kDimensions>(false, loss.epsilon, embedding(hold),
                                                            half.old + i * kDimensions, drift);
    for (int k = 0; k < kDimensions; ++k) {
      const float pushed = close ? far[k] : 0.0f;
      slope_of(i)[k] = loss.share * (near[k] - pushed);
      slope_of(next)[k] = -loss.share * near[k];
      slope_of(distant)[k] = loss.share * pushed;
      slope_of(hold)[k] = loss.share * half.stability_weights[i] * drift[k];
    }
  }
}

// Gradients of `second` and of the first bias; the layer becomes its own gradient.
template <int kDimensions>
void descend(const Sizes& sizes, const Weights& packed, Half& half) {
  const int64_t states = sizes.states(), padded = sizes.padded();
  const Vector zero{};
  for (int64_t j = 0; j < padded; j += kLanes) {
    const int64_t panel = j / kTileColumns, column = j % kTileColumns;
    float* units = half.layer + panel * states * kTileColumns + column;
    Vector weights[kDimensions], gradients[kDimensions] = {}, total{};
    for (int k = 0; k < kDimensions; ++k) weights[k] = load(packed.second + k * padded + j);
    for (int64_t row = 0; row < states; ++row) {
      const Vector unit = load(units + row * kTileColumns);
      Vector flow{};
      for (int k = 0; k < kDimensions; ++k) {
        const float slope = half.slopes[row * kDimensions + k];
        gradients[k] += slope * unit;
        flow += slope * weights[k];
      }
      flow = unit > zero ? flow : zero;
      total += flow;
      store(units + row * kTileColumns, flow);
    }
    store(half.bias_gradient + j, total);
    for (int k = 0; k < kDimensions; ++k) store(half.second_gradient + k * padded + j, gradients[k]);
  }
}

// Gradients of `first`: states transposed · layer.
void descend_first(const Sizes& sizes, Half& half) {
  const int64_t states = sizes.states(), inputs = sizes.inputs, padded = sizes.padded();
  for (int64_t panel = 0; panel < sizes.panels(); ++panel) {
    const float* flow = half.layer + panel * states * kTileColumns;
    for (int64_t row = 0; row < inputs; row += kTileRows) {
      const int64_t height = std::min<int64_t>(kTileRows, inputs - row);
      hess::kTiles[height - 1]({half.states + row, 1, inputs}, flow, states,
                               half.first_gradient + row * padded + panel * kTileColumns, padded,
                               {});
    }
  }
}

using Pass = void (*)(const Sizes&, const Loss&, const Weights&, Half&);

template <int kDimensions>
void pass(const Sizes& sizes, const Loss& loss, const Weights& packed, Half& half) {
  fill_layer(sizes, packed, half);
  embed<kDimensions>(sizes, packed, half);
  add_losses<kDimensions>(sizes, loss, half);
  descend<kDimensions>(sizes, packed, half);
  descend_first(sizes, half);
}

template <int... kDimensions>
constexpr auto passes_of(std::integer_sequence<int, kDimensions...>) {
  return std::array<Pass, sizeof...(kDimensions)>{pass<kDimensions + 1>...};
}

constexpr auto kPasses = passes_of(std::make_integer_sequence<int, kMostDimensions>{});

// --- what XLA calls ----------------------------------------------------------------------------

// Where the minibatch lies in the ring of episodes.
struct Drawn {
  const int32_t *slots, *steps;

  Drawn from(int64_t start) const { return {slots + start, steps + start}; }

  bool inside(int64_t batch, int64_t most_slots, int64_t most_steps) const {
    for (int64_t i = 0; i < batch; ++i) {
      if (slots[i] < 0 || slots[i] >= most_slots || steps[i] < 0 || steps[i] >= most_steps) {
        return false;
      }
    }
    return true;
  }
};

struct Ring {
  const float *observations, *old, *stability_weights;
  int64_t length;    // states of an episode
  int64_t interval;  // from an anchor to its distant state

  int64_t triplets() const { return length - interval; }
};

void fetch(const Drawn& drawn, int64_t later, int64_t count, const float* from, int64_t length,
           int64_t width, float* rows) {
  for (int64_t i = 0; i < count; ++i) {
    const int64_t row = drawn.slots[i] * length + drawn.steps[i] + later;
    std::copy_n(from + row * width, width, rows + i * width);
  }
}

void fetch_half(const Drawn& drawn, const Drawn& held, const Ring& ring, const Sizes& sizes,
                Half& half) {
  const auto [count, inputs, hidden, dimensions] = sizes;
  float* rows = half.states;
  for (const int64_t later : {int64_t{0}, int64_t{1}, ring.interval}) {
    fetch(drawn, later, count, ring.observations, ring.length, inputs, rows);
    rows += count * inputs;
  }
  fetch(held, 0, count, ring.observations, ring.length, inputs, rows);
  fetch(held, 0, count, ring.old, ring.length, dimensions, half.old);
  fetch(held, 0, count, ring.stability_weights, ring.triplets(), 1, half.stability_weights);
}

// Gradients in the layout of the weights.
struct Gradients {
  float *first, *first_bias, *second, *second_bias;
};

void add_up(const std::array<Half, 2>& halves, const std::array<Sizes, 2>& parts,
            const Gradients& sums) {
  const auto [batch, inputs, hidden, dimensions] = parts[0];
  const int64_t padded = parts[0].padded();
  const auto& [one, other] = halves;
  for (int64_t i = 0; i < inputs; ++i) {
    for (int64_t j = 0; j < hidden; ++j) {
      const int64_t place = i * padded + j;
      sums.first[i * hidden + j] = one.first_gradient[place] + other.first_gradient[place];
    }
  }
  for (int64_t j = 0; j < hidden; ++j) {
    sums.first_bias[j] = one.bias_gradient[j] + other.bias_gradient[j];
    for (int64_t k = 0; k < dimensions; ++k) {
      const int64_t place = k * padded + j;
      sums.second[j * dimensions + k] = one.second_gradient[place] + other.second_gradient[place];
    }
  }
  std::fill_n(sums.second_bias, dimensions, 0.0f);
  for (size_t which = 0; which < halves.size(); ++which) {
    for (int64_t i = 0; i < parts[which].states() * dimensions; ++i) {
      sums.second_bias[i % dimensions] += halves[which].slopes[i];
    }
  }
}

// weights [obs, hidden], [hidden], [hidden, d], [d]; observations [slots, T+1, obs], old
// embeddings [slots, T+1, d], stability weights [slots, T+1-c]; slots and steps of triplets and of
// held states, [B] each -> gradients of the weights, [triplet loss, stability loss].
ffi::Error triplets(ffi::ThreadPool pool, bool squares, float margin, float epsilon,
                    int64_t interval, Floats first, Floats first_bias, Floats second,
                    Floats second_bias, Floats observations, Floats old, Floats stability,
                    Integers slots, Integers steps, Integers held_slots, Integers held_steps,
                    ffi::Result<Floats> of_first, ffi::Result<Floats> of_first_bias,
                    ffi::Result<Floats> of_second, ffi::Result<Floats> of_second_bias,
                    ffi::Result<Floats> losses) {
  static thread_local Weights own_weights;
  static thread_local std::array<Half, 2> own_halves;
  auto& packed = own_weights;  // by these names, a thread that helps finds the caller's
  auto& halves = own_halves;
  const Sizes sizes{slots.dimensions()[0], first.dimensions()[0], first.dimensions()[1],
                    second.dimensions()[1]};
  const auto [batch, inputs, hidden, dimensions] = sizes;
  const Drawn drawn{slots.typed_data(), steps.typed_data()};
  const Drawn held{held_slots.typed_data(), held_steps.typed_data()};
  const Ring ring{observations.typed_data(), old.typed_data(), stability.typed_data(),
                  observations.dimensions()[1], interval};
  const int64_t most_slots = observations.dimensions()[0], most_steps = ring.triplets();
  if (dimensions < 1 || dimensions > kMostDimensions) {
    return ffi::Error::InvalidArgument("the representation has too many dimensions");
  }
  if (!drawn.inside(batch, most_slots, most_steps) ||
      !held.inside(batch, most_slots, most_steps)) {
    return ffi::Error::InvalidArgument("a triplet lies outside of the replay");
  }
  packed.lay_out(sizes);
  packed.second_bias = second_bias.typed_data();
  pack(first.typed_data(), first_bias.typed_data(), second.typed_data(), sizes, packed);

  const int64_t middle = (batch + 1) / 2;
  const std::array<Sizes, 2> parts{{{middle, inputs, hidden, dimensions},
                                    {batch - middle, inputs, hidden, dimensions}}};
  const Loss loss{squares, margin, epsilon, 1.0f / batch};
  const Pass pass = kPasses[dimensions - 1];
  hess::run_pieces(2, 4 * batch * inputs * hidden >= kWorthSharing, pool, [&](int64_t which) {
    const int64_t start = which * middle;
    halves[which].lay_out(parts[which]);
    fetch_half(drawn.from(start), held.from(start), ring, parts[which], halves[which]);
    pass(parts[which], loss, packed, halves[which]);
  });

  add_up(halves, parts, {of_first->typed_data(), of_first_bias->typed_data(),
                         of_second->typed_data(), of_second_bias->typed_data()});
  losses->typed_data()[0] = static_cast<float>((halves[0].triplet + halves[1].triplet) / batch);
  losses->typed_data()[1] =
      static_cast<float>((halves[0].stability + halves[1].stability) / batch);
  return ffi::Error::Success();
}

}  // namespace

XLA_FFI_DEFINE_HANDLER_SYMBOL(hess_triplets, triplets,
                              ffi::Ffi::Bind()
                                  .Ctx<ffi::ThreadPool>()
                                  .Attr<bool>("squares")
                                  .Attr<float>("margin")
                                  .Attr<float>("epsilon")
                                  .Attr<int64_t>("interval")
                                  .Arg<Floats>()
                                  .Arg<Floats>()
                                  .Arg<Floats>()
                                  .Arg<Floats>()
                                  .Arg<Floats>()
                                  .Arg<Floats>()
                                  .Arg<Floats>()
                                  .Arg<Integers>()
                                  .Arg<Integers>()
                                  .Arg<Integers>()
                                  .Arg<Integers>()
                                  .Ret<Floats>()
                                  .Ret<Floats>()
                                  .Ret<Floats>()
                                  .Ret<Floats>()
                                  .Ret<Floats>());

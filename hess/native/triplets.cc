// The loss of the subgoal representation and its gradient on one minibatch, in one go: fetching
// the states, a network with one hidden layer, triplet and stability terms, and the way back.
//
// XLA spends more time on handing the small intermediate results around than on the arithmetic.
// Here they stay in the second-level cache, in the layout that the next product reads.
//
// Buffers are row-major.

#include <algorithm>
#include <array>
#include <cmath>
#include <cstdint>
#include <utility>
#include <vector>

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

struct Loss {
  bool squares;  // the triplet's distance: mean of squares, or L2
  float margin, epsilon;
};

struct Sizes {
  int64_t batch, inputs, hidden, dimensions;

  int64_t states() const { return 4 * batch; }  // anchors, nexts, distants, held
  int64_t panels() const { return (hidden + kTileColumns - 1) / kTileColumns; }
  int64_t padded() const { return panels() * kTileColumns; }
};

// Memory of one thread. `layer` is in panels, [panel][state][column], zero beyond the edge.
class Desk {
 public:
  float *states, *layer, *embeddings, *slopes;    // what flows through the network
  float *first, *first_bias, *second;             // weights by panel, and [dimension][hidden]
  float *first_gradient, *bias_gradient, *second_gradient;

  void lay_out(const Sizes& sizes) {
    const int64_t states_of = sizes.states(), padded = sizes.padded();
    const std::array<std::pair<float**, int64_t>, 10> parts = {{
        {&states, states_of * sizes.inputs},
        {&layer, states_of * padded},
        {&embeddings, states_of * sizes.dimensions},
        {&slopes, states_of * sizes.dimensions},
        {&first, sizes.inputs * padded},
        {&first_bias, padded},
        {&second, sizes.dimensions * padded},
        {&first_gradient, sizes.inputs * padded},
        {&bias_gradient, padded},
        {&second_gradient, sizes.dimensions * padded},
    }};
    int64_t total = kLineBytes / 4;
    for (const auto& [part, size] : parts) total += rounded(size);
    memory_.resize(std::max<size_t>(memory_.size(), total));
    const auto address = reinterpret_cast<uintptr_t>(memory_.data());
    auto* next = reinterpret_cast<float*>((address + kLineBytes - 1) & ~uintptr_t{kLineBytes - 1});
    for (const auto& [part, size] : parts) {
      *part = next;
      next += rounded(size);
    }
  }

 private:
  static constexpr int64_t kLineBytes = 64;
  static int64_t rounded(int64_t size) { return (size + 15) / 16 * 16; }

  std::vector<float> memory_;
};

// Weights [inputs, hidden], [hidden] and [hidden, dimensions]: the first by panel, the last by
// dimension.
void pack(const float* first, const float* first_bias, const float* second, const Sizes& sizes,
          Desk& desk) {
  const auto [batch, inputs, hidden, dimensions] = sizes;
  const int64_t padded = sizes.padded();
  for (int64_t start = 0; start < hidden; start += kTileColumns) {
    const int64_t width = std::min<int64_t>(kTileColumns, hidden - start);
    float* panel = desk.first + start * inputs;
    for (int64_t i = 0; i < inputs; ++i, panel += kTileColumns) {
      std::copy_n(first + i * hidden + start, width, panel);
      std::fill(panel + width, panel + kTileColumns, 0.0f);
    }
  }
  std::copy_n(first_bias, hidden, desk.first_bias);
  std::fill(desk.first_bias + hidden, desk.first_bias + padded, 0.0f);
  for (int64_t k = 0; k < dimensions; ++k) {
    float* row = desk.second + k * padded;
    for (int64_t j = 0; j < hidden; ++j) row[j] = second[j * dimensions + k];
    std::fill(row + hidden, row + padded, 0.0f);
  }
}

// layer = max(0, states · first + bias).
void fill_layer(const Sizes& sizes, Desk& desk) {
  const int64_t states = sizes.states(), inputs = sizes.inputs;
  for (int64_t panel = 0; panel < sizes.panels(); ++panel) {
    const float* weights = desk.first + panel * inputs * kTileColumns;
    float* result = desk.layer + panel * states * kTileColumns;
    for (int64_t row = 0; row < states; row += kTileRows) {
      const int64_t height = std::min<int64_t>(kTileRows, states - row);
      hess::kTiles[height - 1]({desk.states + row * inputs, inputs, 1}, weights, inputs,
                               result + row * kTileColumns, kTileColumns,
                               {desk.first_bias + panel * kTileColumns, true});
    }
  }
}

// embeddings = layer · second + bias.
template <int kDimensions>
void embed(const Sizes& sizes, const float* bias, Desk& desk) {
  const int64_t states = sizes.states(), padded = sizes.padded();
  for (int64_t row = 0; row < states; ++row) {
    Vector sums[kDimensions] = {};
    for (int64_t j = 0; j < padded; j += kLanes) {
      const int64_t panel = j / kTileColumns, column = j % kTileColumns;
      const Vector unit = load(desk.layer + (panel * states + row) * kTileColumns + column);
      for (int k = 0; k < kDimensions; ++k) sums[k] += unit * load(desk.second + k * padded + j);
    }
    for (int k = 0; k < kDimensions; ++k) {
      desk.embeddings[row * kDimensions + k] = hess::sum(sums[k]) + bias[k];
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

// What the stability term holds on to: old embeddings [batch, dimensions], weights [batch].
struct Held {
  const float *old, *weights;
};

// Both terms, averaged over the batch, and their slopes at every embedding.
template <int kDimensions>
void add_losses(const Sizes& sizes, const Loss& loss, const Held& held, Desk& desk,
                float* losses) {
  const int64_t batch = sizes.batch;
  const float share = 1.0f / batch;
  double triplet = 0.0, stability = 0.0;
  auto embedding = [&](int64_t state) { return desk.embeddings + state * kDimensions; };
  auto slope_of = [&](int64_t state) { return desk.slopes + state * kDimensions; };
  for (int64_t i = 0; i < batch; ++i) {
    const int64_t next = batch + i, distant = 2 * batch + i, hold = 3 * batch + i;
    float near[kDimensions], far[kDimensions], drift[kDimensions];
    triplet += separation<kDimensions>(loss.squares, loss.epsilon, embedding(i), embedding(next),
                                       near);
    const float missing =
        loss.margin - separation<kDimensions>(loss.squares, loss.epsilon, embedding(i),
                                              embedding(distant), far);
    const bool close = !(missing <= 0.0f);  // a NaN shows
    if (close) triplet += missing;
    stability += held.weights[i] * separation<kDimensions>(false, loss.epsilon, embedding(hold),
                                                           held.old + i * kDimensions, drift);
    for (int k = 0; k < kDimensions; ++k) {
      const float pushed = close ? far[k] : 0.0f;
      slope_of(i)[k] = share * (near[k] - pushed);
      slope_of(next)[k] = -share * near[k];
      slope_of(distant)[k] = share * pushed;
      slope_of(hold)[k] = share * held.weights[i] * drift[k];
    }
  }
  losses[0] = static_cast<float>(triplet / batch);
  losses[1] = static_cast<float>(stability / batch);
}

// Gradients of `second` and of the first bias; the layer becomes its own gradient.
template <int kDimensions>
void descend(const Sizes& sizes, Desk& desk) {
  const int64_t states = sizes.states(), padded = sizes.padded();
  const Vector zero{};
  for (int64_t j = 0; j < padded; j += kLanes) {
    const int64_t panel = j / kTileColumns, column = j % kTileColumns;
    float* units = desk.layer + panel * states * kTileColumns + column;
    Vector weights[kDimensions], gradients[kDimensions] = {}, total{};
    for (int k = 0; k < kDimensions; ++k) weights[k] = load(desk.second + k * padded + j);
    for (int64_t row = 0; row < states; ++row) {
      const Vector unit = load(units + row * kTileColumns);
      Vector flow{};
      for (int k = 0; k < kDimensions; ++k) {
        const float slope = desk.slopes[row * kDimensions + k];
        gradients[k] += slope * unit;
        flow += slope * weights[k];
      }
      flow = unit > zero ? flow : zero;
      total += flow;
      store(units + row * kTileColumns, flow);
    }
    store(desk.bias_gradient + j, total);
    for (int k = 0; k < kDimensions; ++k) store(desk.second_gradient + k * padded + j, gradients[k]);
  }
}

// Gradients of `first`: states transposed · layer.
void descend_first(const Sizes& sizes, Desk& desk) {
  const int64_t states = sizes.states(), inputs = sizes.inputs, padded = sizes.padded();
  for (int64_t panel = 0; panel < sizes.panels(); ++panel) {
    const float* flow = desk.layer + panel * states * kTileColumns;
    for (int64_t row = 0; row < inputs; row += kTileRows) {
      const int64_t height = std::min<int64_t>(kTileRows, inputs - row);
      hess::kTiles[height - 1]({desk.states + row, 1, inputs}, flow, states,
                               desk.first_gradient + row * padded + panel * kTileColumns, padded,
                               {});
    }
  }
}

using Pass = void (*)(const Sizes&, const Loss&, const Held&, const float*, Desk&, float*);

template <int kDimensions>
void pass(const Sizes& sizes, const Loss& loss, const Held& held, const float* second_bias,
          Desk& desk, float* losses) {
  fill_layer(sizes, desk);
  embed<kDimensions>(sizes, second_bias, desk);
  add_losses<kDimensions>(sizes, loss, held, desk, losses);
  descend<kDimensions>(sizes, desk);
  descend_first(sizes, desk);
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

  bool inside(int64_t batch, int64_t most_slots, int64_t most_steps) const {
    for (int64_t i = 0; i < batch; ++i) {
      if (slots[i] < 0 || slots[i] >= most_slots || steps[i] < 0 || steps[i] >= most_steps) {
        return false;
      }
    }
    return true;
  }
};

void fetch(const Drawn& drawn, int64_t later, int64_t batch, const Floats& ring, float* rows) {
  const int64_t length = ring.dimensions()[1], width = ring.dimensions()[2];
  for (int64_t i = 0; i < batch; ++i) {
    const int64_t state = drawn.slots[i] * length + drawn.steps[i] + later;
    std::copy_n(ring.typed_data() + state * width, width, rows + i * width);
  }
}

// weights [obs, hidden], [hidden], [hidden, d], [d]; observations [slots, T+1, obs], old
// embeddings [slots, T+1, d], stability weights [slots, T+1-c]; slots and steps of triplets and of
// held states, [B] each -> gradients of the weights, [triplet loss, stability loss].
ffi::Error triplets(bool squares, float margin, float epsilon, int64_t interval, Floats first,
                    Floats first_bias, Floats second, Floats second_bias, Floats observations,
                    Floats old, Floats stability, Integers slots, Integers steps,
                    Integers held_slots, Integers held_steps, ffi::Result<Floats> of_first,
                    ffi::Result<Floats> of_first_bias, ffi::Result<Floats> of_second,
                    ffi::Result<Floats> of_second_bias, ffi::Result<Floats> losses) {
  static thread_local Desk desk;
  const Sizes sizes{slots.dimensions()[0], first.dimensions()[0], first.dimensions()[1],
                    second.dimensions()[1]};
  const auto [batch, inputs, hidden, dimensions] = sizes;
  const Drawn drawn{slots.typed_data(), steps.typed_data()};
  const Drawn holding{held_slots.typed_data(), held_steps.typed_data()};
  const int64_t most_slots = observations.dimensions()[0];
  const int64_t most_steps = observations.dimensions()[1] - interval;
  if (dimensions < 1 || dimensions > kMostDimensions) {
    return ffi::Error::InvalidArgument("the representation has too many dimensions");
  }
  if (!drawn.inside(batch, most_slots, most_steps) ||
      !holding.inside(batch, most_slots, most_steps)) {
    return ffi::Error::InvalidArgument("a triplet lies outside of the replay");
  }
  desk.lay_out(sizes);
  fetch(drawn, 0, batch, observations, desk.states);
  fetch(drawn, 1, batch, observations, desk.states + batch * inputs);
  fetch(drawn, interval, batch, observations, desk.states + 2 * batch * inputs);
  fetch(holding, 0, batch, observations, desk.states + 3 * batch * inputs);
  std::vector<float> old_embeddings(batch * dimensions), weights(batch);
  fetch(holding, 0, batch, old, old_embeddings.data());
  for (int64_t i = 0; i < batch; ++i) {
    weights[i] = stability.typed_data()[holding.slots[i] * most_steps + holding.steps[i]];
  }
  pack(first.typed_data(), first_bias.typed_data(), second.typed_data(), sizes, desk);

  kPasses[dimensions - 1](sizes, {squares, margin, epsilon},
                          {old_embeddings.data(), weights.data()}, second_bias.typed_data(), desk,
                          losses->typed_data());

  const int64_t padded = sizes.padded();
  for (int64_t i = 0; i < inputs; ++i) {
    std::copy_n(desk.first_gradient + i * padded, hidden, of_first->typed_data() + i * hidden);
  }
  std::copy_n(desk.bias_gradient, hidden, of_first_bias->typed_data());
  for (int64_t k = 0; k < dimensions; ++k) {
    float total = 0.0f;
    for (int64_t row = 0; row < sizes.states(); ++row) total += desk.slopes[row * dimensions + k];
    of_second_bias->typed_data()[k] = total;
    for (int64_t j = 0; j < hidden; ++j) {
      of_second->typed_data()[j * dimensions + k] = desk.second_gradient[k * padded + j];
    }
  }
  return ffi::Error::Success();
}

}  // namespace

XLA_FFI_DEFINE_HANDLER_SYMBOL(hess_triplets, triplets,
                              ffi::Ffi::Bind()
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

#include "ir/probe.h"

#include <algorithm>
#include <memory>
#include <string>
#include <unordered_map>

#include "ir/interpret.h"
#include "ir/visit.h"

namespace weft::ir {
namespace {

/// Enough of the pipeline to compute a stage.
Pipeline cut_at(const Pipeline& pipeline, const StagePtr& stage) {
  Pipeline cut = pipeline;
  cut.outputs = {stage};
  cut.stages.clear();
  for (const StagePtr& needed : topological_order({stage})) {
    if (!needed->is_input()) cut.stages.push_back(needed);
  }
  return cut;
}

std::string spelt_place(const std::vector<std::int64_t>& at) {
  std::string text;
  for (const std::int64_t i : at) text += (text.empty() ? "" : ", ") + std::to_string(i);
  return "(" + text + ")";
}

class Prober {
 public:
  Prober(const Pipeline& pipeline, const Bindings& bindings, std::int64_t most)
      : pipeline_(pipeline), bindings_(bindings), sizes_(sizes_of(bindings)), most_(most) {}

  Value pixel(const Stage& stage, const std::vector<std::int64_t>& at) {
    Known& known = known_of(stage);
    const std::int64_t index = index_of(known.box, at);
    if (const auto found = known.pixels.find(index); found != known.pixels.end()) return found->second;
    if (++taken_ > most_) {
      throw Error("the pixel depends on more than " + std::to_string(most_) + " others")
          .help("probe a smaller image");
    }
    const Value value = known.interpreter ? (*known.interpreter)(at) : load_pixel(known, at);
    known.pixels.emplace(index, value);  // what that read may have added others: no reference is kept
    return value;
  }

  void check_inside(const Stage& stage, const std::vector<std::int64_t>& at) {
    const ConcreteBox box = evaluate(stage, sizes_);
    std::vector<std::int64_t> last;
    bool inside = true;
    for (std::size_t d = 0; d < at.size(); ++d) {
      last.push_back(box.min[d] + box.extent[d] - 1);
      inside &= at[d] >= box.min[d] && at[d] <= last[d];
    }
    if (inside) return;
    throw Error("stage '" + stage.name + "' has no pixel " + spelt_place(at))
        .note("pixels", spelt_place(box.min) + " to " + spelt_place(last));
  }

  std::vector<ProbedStage> found(const StagePtr& first) const {
    std::vector<ProbedStage> all;
    std::vector<StagePtr> order = topological_order({first});
    std::reverse(order.begin(), order.end());
    for (const StagePtr& stage : order) {
      const auto known = known_.find(stage.get());
      if (known == known_.end()) continue;
      ProbedStage& probed = all.emplace_back(ProbedStage{stage, known->second.is_whole, {}});
      std::vector<std::int64_t> indices;
      for (const auto& [index, value] : known->second.pixels) indices.push_back(index);
      std::sort(indices.begin(), indices.end());
      for (const std::int64_t index : indices)
        probed.pixels.push_back({point_at(known->second.box, index), known->second.pixels.at(index)});
    }
    return all;
  }

 private:
  /// A stage that something was asked of.
  struct Known {
    ConcreteBox box;
    std::unordered_map<std::int64_t, Value> pixels;  // by index_of
    std::unique_ptr<PixelInterpreter> interpreter;   // null: the pixels are there
    Buffer buffer;
    bool is_whole = false;
  };

  Known& known_of(const Stage& stage) {
    const auto found = known_.find(&stage);
    if (found != known_.end()) return found->second;
    Known& known = known_[&stage];
    known.box = evaluate(stage, sizes_);
    if (stage.is_input()) {
      known.buffer = bindings_.images.at(stage.name);
    } else if (std::holds_alternative<Pure>(stage.definition)) {
      known.interpreter = std::make_unique<PixelInterpreter>(
          pipeline_, bindings_, stage,
          [this](const Stage& source, const std::vector<std::int64_t>& at) { return pixel(source, at); });
    } else {
      known.is_whole = true;
      known.buffer = computed(stage);
    }
    return known;
  }

  Buffer computed(const Stage& stage) {
    const auto shared = std::find_if(pipeline_.stages.begin(), pipeline_.stages.end(),
                                     [&](const StagePtr& s) { return s.get() == &stage; });
    const Pipeline cut = cut_at(pipeline_, *shared);
    work_ += work_of(cut, bindings_);
    if (work_ > static_cast<double>(most_whole_ * most_)) {
      throw Error("the pixel needs the whole of '" + stage.name + "', which takes too long to interpret")
          .help("probe a smaller image, or a stage before it");
    }
    return interpret(cut, bindings_).at(stage.name);
  }

  static std::int64_t index_of(const ConcreteBox& box, const std::vector<std::int64_t>& at) {
    std::int64_t index = 0;
    for (std::size_t d = at.size(); d-- > 0;) index = index * box.extent[d] + (at[d] - box.min[d]);
    return index;
  }
  static std::vector<std::int64_t> point_at(const ConcreteBox& box, std::int64_t index) {
    std::vector<std::int64_t> at;
    for (std::size_t d = 0; d < box.min.size(); ++d) {
      at.push_back(box.min[d] + index % box.extent[d]);
      index /= box.extent[d];
    }
    return at;
  }

  static Value load_pixel(const Known& known, const std::vector<std::int64_t>& at) {
    const Buffer& buffer = known.buffer;
    std::int64_t offset = 0;
    for (std::size_t d = 0; d < at.size(); ++d)
      offset += (at[d] - known.box.min[d]) * buffer.stride(static_cast<int>(d));
    Value value{buffer.type(), {}};
    const Scalar scalar = buffer.type().scalar;
    for (int l = 0; l < value.type.lanes; ++l) {
      value.lane[l] = load(scalar, static_cast<const std::byte*>(buffer.data()) +
                                       (offset + l * buffer.lane_stride()) * size_of(scalar));
    }
    return value;
  }

  const Pipeline& pipeline_;
  const Bindings& bindings_;
  Sizes sizes_;
  static constexpr std::int64_t most_whole_ = 32;  ///< Of the limit: they are computed row by row.
  std::int64_t taken_ = 0, most_;
  double work_ = 0;  ///< Of whole stages, in points.
  std::unordered_map<const Stage*, Known> known_;
};

}  // namespace

std::vector<ProbedStage> probe(const Pipeline& pipeline, const Bindings& bindings, const StagePtr& stage,
                               const std::vector<std::int64_t>& at, std::int64_t most) {
  check_bindings(pipeline, bindings);
  Prober prober(pipeline, bindings, most);
  prober.check_inside(*stage, at);
  prober.pixel(*stage, at);
  return prober.found(stage);
}

}  // namespace weft::ir

#include "rewrite/turned_volumes.h"

#include <algorithm>
#include <functional>
#include <memory>
#include <unordered_map>
#include <unordered_set>
#include <utility>
#include <variant>
#include <vector>

#include "analysis/footprint.h"
#include "ir/visit.h"
#include "rewrite/rewrite_stages.h"

namespace weft::rewrite {
namespace {

constexpr int row_dim = 1, plane_dim = 2;  // which change places

bool is_volume(const ir::Stage& stage) { return stage.rank() == 3; }

/// The volumes of a pipeline in sets: those that read one another, and so lie in memory alike.
class VolumeSets {
 public:
  explicit VolumeSets(const ir::Pipeline& pipeline) {
    for (const ir::StagePtr& input : pipeline.inputs) stays(*input);
    for (const ir::StagePtr& output : pipeline.outputs) stays(*output);
    for (const ir::StagePtr& stage : pipeline.stages) add(*stage);
  }

  bool is_turned(const ir::Stage& stage) {
    if (!is_volume(stage)) return false;
    const ir::Stage* first = first_of(stage);
    return !stay_.count(first) && have_rows_.count(first);
  }

 private:
  const ir::Stage* first_of(const ir::Stage& stage) {
    const auto [found, is_new] = first_.try_emplace(&stage, &stage);
    if (found->second == &stage) return &stage;
    const ir::Stage* first = first_of(*found->second);
    return first_[&stage] = first;
  }
  void join(const ir::Stage& a, const ir::Stage& b) {
    const ir::Stage *from = first_of(a), *to = first_of(b);
    if (from == to) return;
    first_[from] = to;
    if (stay_.erase(from)) stay_.insert(to);
    if (have_rows_.erase(from)) have_rows_.insert(to);
  }
  void stays(const ir::Stage& stage) { stay_.insert(first_of(stage)); }

  void add(const ir::Stage& stage) {
    const bool is_pure = std::holds_alternative<ir::Pure>(stage.definition);
    if (!is_pure) stays(stage);
    // An evolution reads a field where the image is that it begins as.
    if (std::holds_alternative<ir::Evolve>(stage.definition)) {
      for (const ir::StagePtr& source : ir::sources(stage)) stays(*source);
    }
    for (const ir::Expr& e : ir::reads(stage)) {
      const auto& read = std::get<ir::Read>(e->op);
      if (is_pure && is_volume(stage) && is_volume(*read.source)) add(stage, read);
    }
  }
  void add(const ir::Stage& reader, const ir::Read& read) {
    join(reader, *read.source);
    const analysis::Footprint footprint = analysis::footprint(read);
    const auto is_own = [&](int d) {
      const analysis::Along& along = footprint[d];
      return along.is_unit(d) && along.base.is_constant(0) && along.min == 0 && along.max == 0;
    };
    if (!is_own(plane_dim)) stays(reader);
    if (!is_own(row_dim)) have_rows_.insert(first_of(reader));
  }

  std::unordered_map<const ir::Stage*, const ir::Stage*> first_;  // of a set: by which it is known
  std::unordered_set<const ir::Stage*> stay_, have_rows_;  // sets; some pixel reads other rows than its own
};

ir::Affine turned(const ir::Affine& a) {
  return a.substitute([](const ir::Atom& atom) {
    const auto* coord = std::get_if<ir::Coord>(&atom);
    if (!coord || coord->dim < row_dim) return ir::Affine(atom);
    return ir::Affine(ir::Coord{coord->dim == row_dim ? plane_dim : row_dim});
  });
}

class Turning {
 public:
  explicit Turning(const ir::Pipeline& pipeline) : pipeline_(pipeline), sets_(pipeline) {}

  ir::Pipeline run() {
    ir::Pipeline result = pipeline_;
    if (std::none_of(result.stages.begin(), result.stages.end(),
                     [&](const ir::StagePtr& stage) { return sets_.is_turned(*stage); }))
      return result;
    Evolutions evolutions(replaced_);
    for (ir::StagePtr& stage : result.stages) {
      const ir::Stage& original = *stage;
      const bool is_turned = sets_.is_turned(original);
      ir::Rewriter rewrite([&](const ir::Expr& e) { return rewritten(e, is_turned); });
      ir::Stage copy = evolutions(ir::rewritten(original, std::ref(rewrite)));
      if (is_turned) std::swap(copy.box[row_dim], copy.box[plane_dim]);
      stage = replaced_[&original] = std::make_shared<const ir::Stage>(std::move(copy));
    }
    for (ir::StagePtr& output : result.outputs) output = replaced_.at(output.get());
    return result;
  }

 private:
  ir::Expr rewritten(const ir::Expr& e, bool is_turned) {
    ir::Node node = *e;
    if (auto* quantity = std::get_if<ir::Quantity>(&node.op)) {
      if (!is_turned) return nullptr;
      quantity->value = turned(quantity->value);
    } else if (auto* read = std::get_if<ir::Read>(&node.op)) {
      const auto source = replaced_.find(read->source.get());
      if (!is_turned && source == replaced_.end()) return nullptr;
      if (is_turned) {
        for (ir::Index& index : read->indices) {
          if (auto* affine = std::get_if<ir::Affine>(&index)) *affine = turned(*affine);
        }
      }
      if (sets_.is_turned(*read->source)) {
        std::swap(read->indices[row_dim], read->indices[plane_dim]);
        std::swap(read->region[row_dim], read->region[plane_dim]);
      }
      if (source != replaced_.end()) read->source = source->second;
    } else {
      return nullptr;
    }
    return std::make_shared<const ir::Node>(std::move(node));
  }

  const ir::Pipeline& pipeline_;
  VolumeSets sets_;
  Evolutions::Replaced replaced_;
};

}  // namespace

ir::Pipeline turned_volumes(const ir::Pipeline& pipeline) { return Turning(pipeline).run(); }

}  // namespace weft::rewrite

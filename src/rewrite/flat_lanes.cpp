#include "rewrite/flat_lanes.h"

#include <algorithm>

#include "analysis/footprint.h"
#include "analysis/interior.h"
#include "ir/operation.h"
#include "ir/visit.h"

namespace weft::rewrite {

using ir::Expr;

namespace {

ir::Value first_lane(const ir::Value& v) { return {v.type.lane(), {v.lane[0]}}; }

bool has_equal_lanes(const ir::Value& v) {
  for (int l = 1; l < v.type.lanes; ++l) {
    if (!(ir::Value{v.type.lane(), {v.lane[l]}} == first_lane(v))) return false;
  }
  return true;
}

/// Whether a node computes all lanes alike, or one value for all pixels of a row.
class Likeness {
 public:
  explicit Likeness(int lanes) : lanes_(lanes) {}

  bool of(const ir::Node& node) const {
    if (node.type.lanes != 1 && node.type.lanes != lanes_) return false;
    return std::visit(ir::overloaded{
                          [&](const ir::Const& n) { return has_equal_lanes(n.value); },
                          [&](const ir::Quantity& n) { return !ir::mentions_coord(n.value, 0); },
                          [&](const ir::Pack& n) {
                            return std::all_of(n.lanes.begin(), n.lanes.end(),
                                               [&](const Expr& e) { return e == n.lanes[0]; });
                          },
                          [&](const ir::Lane&) { return false; },
                          [&](const ir::Read& n) { return n.indices.empty() ? node.type.lanes == 1 : of(n); },
                          [](const ir::Operand&) { return false; },
                          [](const ir::Operation auto&) { return true; },
                          [](const ir::ParamRef&) { return true; },
                          [](const ir::Coefficient&) { return true; },
                          [](const ir::Accumulated&) { return true; },
                          [](const ir::FoldResult&) { return true; },
                          [](const ir::Median&) { return true; },
                          [](const ir::StepNumber&) { return true; },
                      },
                      node.op);
  }

 private:
  bool of(const ir::Read& n) const {
    return n.source->type.lanes == lanes_ && analysis::access_of(n) == analysis::Access::Direct &&
           analysis::footprint(n)[0].is_unit(0);
  }

  const int lanes_;
};

class Flattening {
 public:
  explicit Flattening(int lanes) : lanes_(lanes) {}

  FlatLanes run(const ir::Stage& stage) {
    ir::Rewriter rewriter([this](const Expr& e) { return flat(e); });
    FlatLanes result{ir::rewritten(stage, std::ref(rewriter)), std::move(views_)};
    result.stage.type = stage.type.lane();
    result.stage.box[0] = scaled(stage.box[0]);
    return result;
  }

 private:
  /// A node whose operands are flat already.
  Expr flat(const Expr& e) {
    if (e->type.lanes == 1) return nullptr;
    if (const auto* pack = std::get_if<ir::Pack>(&e->op)) return pack->lanes[0];
    ir::Node node = *e;
    node.type = e->type.lane();
    if (auto* constant = std::get_if<ir::Const>(&node.op)) constant->value = first_lane(constant->value);
    if (auto* read = std::get_if<ir::Read>(&node.op)) {
      read->source = view_of(read->source);
      read->indices[0] = scaled_distance(std::get<ir::Affine>(read->indices[0]));
      read->region[0] = scaled(read->region[0]);
    }
    return std::make_shared<const ir::Node>(std::move(node));
  }

  ir::StagePtr view_of(const ir::StagePtr& source) {
    ir::StagePtr& view = views_[source.get()];
    if (!view) {
      ir::Stage copy = *source;
      copy.type = source->type.lane();
      copy.box[0] = scaled(source->box[0]);
      view = std::make_shared<const ir::Stage>(std::move(copy));
    }
    return view;
  }

  ir::Range scaled(const ir::Range& r) const { return {r.min * lanes_, r.extent * lanes_}; }
  /// x + d  →  f + lanes * d
  ir::Affine scaled_distance(const ir::Affine& a) const {
    const ir::Affine x{ir::Atom(ir::Coord{0})};
    return x + (a - x) * lanes_;
  }

  const int lanes_;
  std::unordered_map<const ir::Stage*, ir::StagePtr> views_;
};

}  // namespace

std::optional<FlatLanes> flat_lanes(const ir::Stage& stage) {
  const auto* pure = std::get_if<ir::Pure>(&stage.definition);
  const int lanes = stage.type.lanes;
  if (!pure || lanes == 1 || stage.box.empty() || pure->cases.size() != 1 || pure->cases[0].when)
    return std::nullopt;
  const Likeness is_alike(lanes);
  bool all = true;
  ir::visit(pure->cases[0].value, [&](const Expr& e) { all = all && is_alike.of(*e); });
  if (!all) return std::nullopt;
  return Flattening(lanes).run(stage);
}

bool borders_find_pixels(const ir::Stage& stage, const std::function<bool(const ir::Stage&)>& is_kept) {
  const std::vector<ir::Expr> reads = ir::reads(stage);
  return std::any_of(reads.begin(), reads.end(), [&](const ir::Expr& e) {
    const auto& read = std::get<ir::Read>(e->op);
    if (is_kept(*read.source) || !read.border || read.indices.empty()) return false;
    const auto* x = std::get_if<ir::Affine>(&read.indices[0]);
    return !x || !analysis::stays_inside(*x, read.region[0], stage.domain());
  });
}

}  // namespace weft::rewrite

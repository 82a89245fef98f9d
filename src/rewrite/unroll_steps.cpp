#include "rewrite/unroll_steps.h"

#include <fmt/format.h>

#include <map>
#include <set>

#include "analysis/evolutions.h"
#include "ir/build.h"
#include "ir/visit.h"
#include "rewrite/rewrite_stages.h"

namespace weft::rewrite {
namespace {

using ir::Expr;

Expr coordinate(int dim) { return ir::quantity(ir::Affine(ir::Coord{dim})); }

/// Whether a pixel is in the box, as far as that is not all of the other.
Expr is_in(const ir::Box& box, const ir::Box& whole) {
  Expr all;
  const auto add = [&](const Expr& condition) {
    all = all ? ir::binary(ir::BinaryOp::And, all, condition) : condition;
  };
  for (std::size_t d = 0; d < box.size(); ++d) {
    if (box[d] == whole[d]) continue;
    const Expr x = coordinate(static_cast<int>(d));
    add(ir::binary(ir::BinaryOp::Le, ir::quantity(box[d].min), x));
    add(ir::binary(ir::BinaryOp::Lt, x, ir::quantity(box[d].min + box[d].extent)));
  }
  return all;
}

/// A line as an image of one row; other boxes as they are.
ir::Box with_rows(ir::Box box) {
  if (box.size() == 1) box.push_back({0, 1});
  return box;
}

/// A read of a field's past, of that stage, which may have a row more.
Expr read_of(ir::Read read, const ir::StagePtr& past) {
  const bool has_row_more = read.indices.size() < past->box.size();
  read.source = past;
  if (has_row_more) read.indices.emplace_back(ir::Affine(ir::Coord{1}));
  if (has_row_more) read.region = with_rows(std::move(read.region));
  return std::make_shared<const ir::Node>(ir::Node{past->type, std::move(read)});
}

std::string why_not(const ir::Evolution& evolution, int count) {
  const ir::Box& box = evolution.fields[0].initial->box;
  const bool is_line = box.size() == 1;
  const std::vector<int> oldest = analysis::oldest_ages(evolution);
  bool reads_past = false;
  for (std::size_t f = 0; f < evolution.fields.size(); ++f) {
    const ir::Evolving& field = evolution.fields[f];
    const std::string name = "'" + field.update->name + "'";
    if (field.initial->box != box) return "fields of several sizes change together";
    if (oldest[f] > count) return fmt::format("{} is read {} steps back", name, oldest[f]);
    if (is_line && box[0].extent.is_constant()) return name + " is a line of fixed length";
    for (const ir::Expr& e : ir::reads(*field.update)) {
      const ir::StagePtr& source = std::get<ir::Read>(e->op).source;
      const auto* past = std::get_if<ir::Past>(&source->definition);
      reads_past |= past && past->age > 0;
      if (is_line && !past && !source->box.empty())
        return fmt::format("{} reads '{}', which is a line, too", name, source->name);
    }
  }
  return reads_past ? "" : fmt::format("'{}' does not read its past", evolution.fields[0].update->name);
}

class Unrolling {
 public:
  /// Lines are images of one row, or lines.
  Unrolling(const ir::Evolution& evolution, int count, bool as_images)
      : evolution_(evolution), count_(count), as_images_(as_images) {}

  UnrolledSteps run() {
    UnrolledSteps steps{{}, {}, analysis::oldest_ages(evolution_), ""};
    const std::size_t fields = evolution_.fields.size();
    stages_.resize(fields);
    for (int step = 1; step <= count_; ++step) {
      for (std::size_t f = 0; f < fields; ++f) stages_[f].push_back(stage_of(f, step));
    }
    std::set<const ir::Stage*> needed;
    for (int step = count_; step > 0; --step) {
      for (std::size_t f = fields; f-- > 0;) {
        const Version version{at(f, step), f, count_ - step};
        if (!steps.is_stored(version) && !needed.count(version.stage.get())) continue;
        for (const Expr& e : ir::reads(*version.stage)) needed.insert(std::get<ir::Read>(e->op).source.get());
        steps.versions.insert(steps.versions.begin(), version);
      }
    }
    for (auto& [key, stage] : pasts_) {
      if (needed.count(stage.get())) steps.pasts.push_back({stage, key.first, key.second});
    }
    return steps;
  }

 private:
  /// A field after a step, from 1 on; before, its past.
  ir::StagePtr at(std::size_t field, int step) {
    return step > 0 ? stages_[field].at(static_cast<std::size_t>(step - 1)) : past_of(field, 1 - step);
  }

  ir::StagePtr past_of(std::size_t f, int age) {
    ir::StagePtr& past = pasts_[{f, age}];
    if (past) return past;
    const ir::Evolving& field = evolution_.fields[f];
    const auto a = static_cast<std::size_t>(age);
    const bool is_read = a < field.past.size() && field.past[a];
    ir::Stage stage = is_read
                          ? *field.past[a]
                          : ir::Stage{fmt::format("{}[t-{}]", field.update->name, age), field.initial->type,
                                      field.initial->box, ir::Past{age}, field.update->where};
    if (is_read && (!as_images_ || stage.box.size() > 1)) return past = field.past[a];
    stage.box = shaped(std::move(stage.box));
    return past = std::make_shared<const ir::Stage>(std::move(stage));
  }

  /// The update of a field in a step.
  ir::StagePtr stage_of(std::size_t f, int step) {
    const ir::Evolving& field = evolution_.fields[f];
    ir::Rewriter rewrite([&](const Expr& e) -> Expr {
      if (const auto* read = std::get_if<ir::Read>(&e->op)) {
        const auto* past = std::get_if<ir::Past>(&read->source->definition);
        if (!past) return nullptr;
        const int of = ir::field_of(read->source.get(), evolution_);
        return read_of(*read, at(static_cast<std::size_t>(of), step - past->age));
      }
      if (!std::holds_alternative<ir::StepNumber>(e->op) || step == 1) return nullptr;
      return ir::binary(ir::BinaryOp::Add, e, ir::constant(e->type, step - 1));
    });
    ir::Stage stage = ir::rewritten(*field.update, std::ref(rewrite));
    stage.box = shaped(stage.box);
    const ir::Box whole = shaped(field.initial->box);
    if (const Expr inside = is_in(stage.box, whole)) {
      auto& cases = std::get<ir::Pure>(stage.definition).cases;
      for (ir::Case& c : cases) c.when = c.when ? ir::binary(ir::BinaryOp::And, inside, c.when) : inside;
      const ir::StagePtr before = at(f, step - 1);
      cases.push_back({nullptr, ir::read(read_at_pixel(before, before->where))});
    }
    stage.box = whole;
    if (step < count_) stage.name += fmt::format("@{}", step);
    return std::make_shared<const ir::Stage>(std::move(stage));
  }

  ir::Box shaped(ir::Box box) const { return as_images_ ? with_rows(std::move(box)) : box; }

  const ir::Evolution& evolution_;
  const int count_;
  const bool as_images_;
  std::vector<std::vector<ir::StagePtr>> stages_;              // by field and step
  std::map<std::pair<std::size_t, int>, ir::StagePtr> pasts_;  // by field and age
};

}  // namespace

UnrolledSteps unroll_steps(const ir::Evolution& evolution, int count) {
  if (std::string why = why_not(evolution, count); !why.empty()) return {{}, {}, {}, std::move(why)};
  return Unrolling(evolution, count, true).run();
}

UnrolledSteps single_step(const ir::Evolution& evolution) { return Unrolling(evolution, 1, false).run(); }

}  // namespace weft::rewrite

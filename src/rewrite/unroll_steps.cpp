#include "rewrite/unroll_steps.h"

#include <fmt/format.h>

#include <algorithm>

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

/// A read of the field's past, of that stage, which may have a row more.
Expr read_of(ir::Read read, const ir::StagePtr& past) {
  const bool is_line = read.indices.size() == 1;
  read.source = past;
  if (is_line) read.indices.emplace_back(ir::Affine(ir::Coord{1}));
  read.region = with_rows(std::move(read.region));
  return std::make_shared<const ir::Node>(ir::Node{past->type, std::move(read)});
}

/// The update of a step, `number` steps after the first, whose past is a stage.
ir::Stage step_of(const ir::Evolving& field, const ir::StagePtr& past, int number) {
  ir::Rewriter rewrite([&](const Expr& e) -> Expr {
    const auto* read = std::get_if<ir::Read>(&e->op);
    if (read && read->source == field.past[1]) return read_of(*read, past);
    if (!std::holds_alternative<ir::StepNumber>(e->op) || number == 0) return nullptr;
    return ir::binary(ir::BinaryOp::Add, e, ir::constant(e->type, number));
  });
  ir::Stage stage = ir::rewritten(*field.update, std::ref(rewrite));
  stage.box = with_rows(stage.box);
  if (const Expr inside = is_in(stage.box, past->box)) {
    auto& cases = std::get<ir::Pure>(stage.definition).cases;
    for (ir::Case& c : cases) c.when = c.when ? ir::binary(ir::BinaryOp::And, inside, c.when) : inside;
    cases.push_back({nullptr, ir::read(read_at_pixel(past, past->where))});
  }
  stage.box = past->box;
  return stage;
}

std::string why_not(const ir::Evolution& evolution) {
  if (evolution.fields.size() > 1) return "several fields change together";
  const ir::Evolving& field = evolution.fields[0];
  for (std::size_t age = 2; age < field.past.size(); ++age) {
    if (field.past[age]) return fmt::format("'{}' is read {} steps back", field.update->name, age);
  }
  if (field.past.size() < 2 || !field.past[1])
    return fmt::format("'{}' does not read its past", field.update->name);
  const bool is_line = field.initial->box.size() == 1;
  if (is_line && field.initial->box[0].extent.is_constant())
    return fmt::format("'{}' is a line of fixed length", field.update->name);
  for (const ir::Expr& e : ir::reads(*field.update)) {
    const ir::StagePtr& source = std::get<ir::Read>(e->op).source;
    if (is_line && source != field.past[1] && !source->box.empty())
      return fmt::format("'{}' reads '{}', which is a line, too", field.update->name, source->name);
  }
  return "";
}

}  // namespace

StepsOrWhy unroll_steps(const ir::Evolution& evolution, int count) {
  StepsOrWhy result{nullptr, {}, why_not(evolution)};
  if (!result.why.empty()) return result;
  const ir::Evolving& field = evolution.fields[0];
  result.past = field.past[1];
  if (result.past->box.size() == 1) {
    ir::Stage line = *result.past;
    line.box = with_rows(line.box);
    result.past = std::make_shared<const ir::Stage>(std::move(line));
  }
  ir::StagePtr past = result.past;
  for (int step = 0; step < count; ++step) {
    ir::Stage stage = step_of(field, past, step);
    if (step + 1 < count) stage.name += fmt::format("@{}", step + 1);
    past = std::make_shared<const ir::Stage>(std::move(stage));
    result.stages.push_back(past);
  }
  return result;
}

}  // namespace weft::rewrite

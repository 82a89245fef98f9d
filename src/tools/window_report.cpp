#include "tools/window_report.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <functional>
#include <set>
#include <unordered_set>

#include "ir/visit.h"
#include "ir/window.h"
#include "plan/window_code.h"
#include "rewrite/prepare.h"

namespace weft::tools {
namespace {

std::string text_of(const ir::Domain& domain) {
  const auto box = ir::dense_box(domain);
  return box && !box->extent.empty() ? fmt::format("{}", fmt::join(box->extent, "x"))
                                     : fmt::format("{} taps", domain.points.size());
}

bool is_line(int width, int height) { return width == 1 || height == 1; }
bool is_line(const ir::Domain& domain) {
  const auto box = domain.rank == 2 ? ir::dense_box(domain) : std::nullopt;
  return box && is_line(box->extent[0], box->extent[1]);
}

WindowReport report_on(const rewrite::SeparatedWindow& window) {
  if (is_line(window.width, window.height)) {
    return {window.stage, fmt::format("{}x{}", window.width, window.height), "in pieces",
            fmt::format("equal weights: pieces that neighbours share: {}", fmt::join(window.stages, ", "))};
  }
  const char* why =
      window.in_pieces ? "a box, whose lines are pieces that neighbours share" : "a column times a row";
  return {window.stage, fmt::format("{}x{}", window.width, window.height),
          window.in_pieces ? "separated, in pieces" : "separated",
          fmt::format("{}: {}", why, fmt::join(window.stages, ", "))};
}

/// Those windows and medians that are in no other.
void visit_outermost(const ir::Stage& stage, const std::function<void(const ir::Expr&)>& f) {
  std::unordered_set<const void*> seen;
  const std::function<void(const ir::Expr&)> walk = [&](const ir::Expr& e) {
    const auto* result = std::get_if<ir::FoldResult>(&e->op);
    const void* key = result ? static_cast<const void*>(result->fold.get()) : e.get();
    if (!seen.insert(key).second) return;
    if (result || std::holds_alternative<ir::Median>(e->op)) return f(e);
    for (const ir::Expr& operand : ir::operands(*e)) walk(operand);
  };
  for (const ir::Expr& root : ir::expressions(stage)) walk(root);
}

/// Of the kernel that computes the stage.
plan::CodeLimits limits_of(const ir::Stage& stage, const std::vector<plan::KernelPlan>& kernels,
                           target::Processor processor) {
  for (const plan::KernelPlan& kernel : kernels) {
    if (kernel.computed_of(stage.name)) return kernel.code;
  }
  return plan::usual_limits(processor == target::Processor::Gpu);
}

bool reads_any_of(const ir::Expr& e, const std::set<std::string>& names) {
  bool found = false;
  ir::visit(e, [&](const ir::Expr& inner) {
    const auto* read = std::get_if<ir::Read>(&inner->op);
    found |= read && names.count(read->source->name) > 0;
  });
  return found;
}

}  // namespace

std::vector<WindowReport> windows_of(const ir::Pipeline& definition, rewrite::Preparation preparation,
                                     target::Processor processor,
                                     const std::vector<plan::KernelPlan>& kernels) {
  std::vector<rewrite::SeparatedWindow> separated;
  const ir::Pipeline pipeline = rewrite::prepare(definition, preparation, &separated);
  std::vector<WindowReport> reports;
  std::set<std::string> made, with_lines;  // with_lines: their short lines are what pieces leave over
  for (const auto& window : separated) {
    reports.push_back(report_on(window));
    made.insert(window.stages.begin(), window.stages.end() - 1);
    if (is_line(window.width, window.height)) with_lines.insert(window.stage);
  }
  const auto add = [&](const ir::Stage& stage) {
    const plan::CodeLimits limits = limits_of(stage, kernels, processor);
    visit_outermost(stage, [&](const ir::Expr& e) {
      if (const auto* median = std::get_if<ir::Median>(&e->op)) {
        const plan::WindowCode code = plan::code_of(*median, limits);
        reports.push_back({stage.name, text_of(median->loop->domain), code.form, code.why});
        return;
      }
      const ir::Fold& fold = *std::get<ir::FoldResult>(e->op).fold;
      plan::WindowCode code = plan::code_of(fold, pipeline.strict, processor, limits);
      const bool is_part = made.count(stage.name) > 0 || reads_any_of(e, made) ||
                           (with_lines.count(stage.name) > 0 && is_line(fold.loop->domain));
      if (is_part && code.form == "unrolled") return;
      if (code.form == "tap by tap" && !is_part)
        code.why += "; not separated: " + rewrite::why_not_separated(stage, fold, pipeline.strict);
      reports.push_back({stage.name, text_of(fold.loop->domain), code.form, code.why});
    });
  };
  for (const ir::StagePtr& stage : pipeline.stages) {
    add(*stage);
    for (const ir::StagePtr& update : ir::updates(*stage)) add(*update);
  }
  return reports;
}

}  // namespace weft::tools

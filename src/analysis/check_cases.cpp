#include <fmt/format.h>

#include "analysis/check_parts.h"
#include "analysis/set_text.h"

namespace weft::analysis {
namespace {

std::string listed(const std::vector<std::string>& items) {
  std::string text;
  for (const std::string& item : items) text += (text.empty() ? "" : ", ") + item;
  return text;
}

}  // namespace

void check_cases(const ir::Pipeline& pipeline, const ir::Stage& stage, IntegerSets& sets) {
  const auto* pure = std::get_if<ir::Pure>(&stage.definition);
  if (!pure) return;
  SetText text(pipeline, stage);
  std::string uncovered = text.box();
  bool exact = true;
  for (const ir::Case& c : pure->cases) {
    if (!c.when) return;  // it holds everywhere
    if (const auto fails = text.condition(c.when, false, &exact)) uncovered += " and " + *fails;
  }
  const auto pixel = sets.least_point(text.set(uncovered), text.rank());
  if (!pixel) return;
  Error error(fmt::format("the cases of '{}' do not cover its box", stage.name), stage.where);
  if (exact) {
    const SizeNames name(pipeline);
    std::vector<std::string> sizes, place;
    for (const ir::Size& size : text.sizes()) {
      sizes.push_back(fmt::format("{} = {}", name(ir::Affine(ir::Atom(size))), (*pixel)[sizes.size()]));
    }
    for (int d = 0; d < stage.rank(); ++d) {
      place.push_back(fmt::format("{} = {}", ir::dim_name(d), (*pixel)[text.sizes().size() + d]));
    }
    error.note("uncovered", fmt::format("{}no case holds at {}",
                                        sizes.empty() ? "" : "for " + listed(sizes) + " ", listed(place)));
  } else {
    error.note("needs",
               "a last case without a condition, for some conditions depend on pixels or parameters");
  }
  throw error.help("add .otherwise(value)");
}

}  // namespace weft::analysis

#include "plan/ended_columns.h"

#include <fmt/format.h>

#include <algorithm>
#include <variant>

#include "plan/scatter.h"

namespace weft::plan {
namespace {

using Why = std::optional<std::string>;

/// Whether the pixel is in the column of the reader's own one, wherever along it.
bool is_of_own_column(const ir::Read& read, const analysis::Columns& columns) {
  return std::all_of(columns.across.begin(), columns.across.end(), [&](const analysis::Bands& bands) {
    const auto* index = std::get_if<ir::Affine>(&read.indices[bands.dim]);
    return index != nullptr && *index == ir::Affine(ir::Atom(ir::Coord{bands.dim})) &&
           read.region[bands.dim] == read.source->box[bands.dim];
  });
}

Why why_not_ended_by(const StageReads& reader, const ir::Stage& scatter, const analysis::Columns& columns) {
  const ir::Stage& stage = *reader.stage;
  if (!std::holds_alternative<ir::Pure>(stage.definition))
    return fmt::format("'{}' is no function of one pixel's place", stage.name);
  if (stage.box.size() != scatter.box.size())
    return fmt::format("'{}' has not as many dimensions as '{}'", stage.name, scatter.name);
  for (int d = 0; d < static_cast<int>(stage.box.size()); ++d) {
    const bool is_like =
        columns.is_across(d) ? stage.box[d] == scatter.box[d] : stage.box[d].extent.is_constant();
    if (!is_like) return fmt::format("'{}' and '{}' have not the same columns", stage.name, scatter.name);
  }
  for (const ir::Read* read : reader.reads) {
    if (read->source.get() == &scatter && !is_of_own_column(*read, columns))
      return fmt::format("'{}' reads other columns of '{}' than that of its own pixel", stage.name,
                         scatter.name);
  }
  return std::nullopt;
}

}  // namespace

std::optional<std::string> why_not_ended(const std::vector<StageReads>& members, const Memory& memory) {
  const ir::Stage& scatter = *members.front().stage;
  if (members.size() == 1 || !std::holds_alternative<ir::Scatter>(scatter.definition)) return std::nullopt;
  if (!memory.is_of_blocks())
    return fmt::format("only threads of a GPU have columns of '{}' to themselves", scatter.name);
  const Scatter division = scatter_of(scatter, memory);
  const auto* columns = std::get_if<ScatterColumns>(&division);
  if (columns == nullptr) return fmt::format("threads have no columns of '{}'", scatter.name);
  if (members.size() > 2) return fmt::format("columns of '{}' end in one stage", scatter.name);
  return why_not_ended_by(members[1], scatter, columns->columns);
}

}  // namespace weft::plan

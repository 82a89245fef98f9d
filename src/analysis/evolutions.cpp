#include "analysis/evolutions.h"

#include <algorithm>

#include "ir/visit.h"

namespace weft::analysis {

std::vector<int> oldest_ages(const ir::Evolution& evolution) {
  std::vector<int> oldest;
  for (const ir::Evolving& field : evolution.fields) {
    std::size_t age = 1;
    for (std::size_t a = 2; a < field.past.size(); ++a) {
      if (field.past[a]) age = a;
    }
    oldest.push_back(static_cast<int>(age));
  }
  return oldest;
}

std::size_t arrays_of(const ir::Evolution& evolution, std::size_t field) {
  std::size_t count = 1;
  for (std::size_t u = 0; u < evolution.fields.size(); ++u) {
    const ir::Stage& update = *evolution.fields[u].update;
    for (const ir::Expr& e : ir::reads(update)) {
      const auto& read = std::get<ir::Read>(e->op);
      const auto* past = std::get_if<ir::Past>(&read.source->definition);
      if (!past || ir::field_of(read.source.get(), evolution) != static_cast<int>(field)) continue;
      // The oldest value may be overwritten by the field's own update once nobody else needs it.
      // Lanes are stored one after the other, so a pixel of several is not overwritten while it is read.
      const bool in_place =
          u == field && read.source->type.lanes == 1 && ir::reads_current_pixel(read, update.domain());
      const bool before = u < field || in_place;
      count = std::max(count, static_cast<std::size_t>(past->age) + (before ? 0 : 1));
    }
  }
  return count;
}

bool is_in_place(const ir::Evolution& evolution, std::size_t field) {
  const std::size_t oldest_there = arrays_of(evolution, field);
  const std::vector<ir::Expr> reads = ir::reads(*evolution.fields[field].update);
  return std::any_of(reads.begin(), reads.end(), [&](const ir::Expr& e) {
    const ir::Stage* source = std::get<ir::Read>(e->op).source.get();
    const auto* past = std::get_if<ir::Past>(&source->definition);
    return past && ir::field_of(source, evolution) == static_cast<int>(field) &&
           static_cast<std::size_t>(past->age) == oldest_there;
  });
}

}  // namespace weft::analysis

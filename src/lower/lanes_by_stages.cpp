#include "lower/lanes_by_stages.h"

#include <algorithm>

#include "ir/visit.h"
#include "lower/lane_code.h"

namespace weft::lower {

Expr LanesByStages::slot(const plan::Kept& kept, const Expr& number) const {
  const int resident = *kept.resident;
  const Expr back = slot_of_guest(kept, number);
  const Expr slot = resident == kept.rows ? number
                    : resident == 0       ? back
                                          : kernel::select(less(number, literal(resident)), number, back);
  return kernel::mul(slot, literal(kept.pitch));
}

Expr LanesByStages::slot_of_guest(const plan::Kept& kept, const Expr& number) {
  const Expr resident = literal(*kept.resident);
  const Expr turn = kernel::binary(BinaryOp::Rem, kernel::sub(number, resident), literal(kept.least_rows));
  return kernel::add(resident, turn);
}

Expr LanesByStages::place_of_rest(const Source& source, const Expr& number) const {
  const Expr row = kernel::mul(kernel::sub(number, literal(*source.kept.resident)),
                               literal(tile_.plan().row_of_lanes(source.kept)));
  return kernel::add(row, kernel::mul(name(variables_.lane), literal(scalars_of(source))));
}

Block LanesByStages::to_registers(const Source& source, const Expr& slot, const kernel::Symbol& own) {
  latest_ = kernel::mul(slot, literal(source.kept.pitch));
  const Expr j = name(variables_.j);
  const kernel::Store store{source.array, kernel::add(own_at(source, literal(0), 0), j),
                            kernel::load(own, source.kept.type.scalar, j)};
  Block block{{unrolled(variables_.j, scalars_of(source), {{store}})}};
  kernel::append(block, columns_beside(source));
  return block;
}

Block LanesByStages::kept_row(const Source& source, const kernel::Symbol& own) {
  const Expr k = name(variables_.k);
  const kernel::StorePack away{own, rest_of(source), place_of_rest(source, k), literal(scalars_of(source)),
                               true};
  const int resident = *source.kept.resident;
  if (resident == 0) return {{away}};
  Block stays = to_registers(source, k, own);
  if (resident == source.kept.rows) return stays;
  return {{If{less(k, literal(resident)), std::move(stays), {{away}}}}};
}

Block LanesByStages::back_to_registers(const Source& source, const Expr& number) {
  const kernel::Symbol& own = variables_of(&source).next_row;
  Block back{{kernel::LoadPack{own, rest_of(source), source.kept.type.scalar, scalars_of(source),
                               place_of_rest(source, number), literal(scalars_of(source)), true}}};
  kernel::append(back, to_registers(source, slot_of_guest(source.kept, number), own));
  if (*source.kept.resident == 0) return back;
  return {{If{at_most(literal(*source.kept.resident), number), std::move(back), {}}}};
}

Block LanesByStages::all_rows_of_image(const Source& image) {
  const Rows rows(image.stage.box, tile_.layout());
  const Expr row =
                 kernel::add(name(tile_.from(1)), kernel::add(name(variables_.k), literal(first_of(&image)))),
             j = name(variables_.j);
  const Expr above = kernel::mul(kernel::sub(row, rows.begin(1)), name(memory_of(image).strides[0]));
  const Expr column = kernel::mul(kernel::sub(left_of(&image.kept), rows.begin(0)), literal(image.lanes()));
  const kernel::Symbol& own = variables_of(&image).own;
  const kernel::LoadPack pack = pack_of_lane(image, kernel::add(above, column));
  Block each{{pack}};
  if (has_words(image)) {
    each.push_back({kernel::LocalArray{own, image.kept.type.scalar, scalars_of(image)}});
    const kernel::Store unpacked{own, j, loaded_scalar(image, pack.name, literal(0), j)};
    each.push_back({unrolled(variables_.j, scalars_of(image), {{unpacked}})});
  }
  kernel::append(each, kept_row(image, has_words(image) ? own : pack.name));
  return {{unrolled(variables_.k, tile_.rows_needed(&image.kept), std::move(each))}};
}

std::optional<plan::Reach> LanesByStages::rows_read(const Tile::PassLanes& pass, const ir::Stage& source) {
  std::optional<plan::Reach> reach;
  for (const auto& lanes : pass) {
    for (const ir::Expr& e : ir::reads(lanes->stage())) {
      const auto& read = std::get<ir::Read>(e->op);
      if (read.source->name != source.name) continue;
      const auto footprint = plan::footprint_in_image(read);
      if (!reach) reach = plan::Reach{};
      reach->min = std::min(reach->min, (*footprint)[1].min);
      reach->max = std::max(reach->max, (*footprint)[1].max);
    }
  }
  return reach;
}

}  // namespace weft::lower

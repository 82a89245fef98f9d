#include "lower/tile.h"

#include <weft/error.h>

#include <algorithm>
#include <utility>

#include "analysis/case_box.h"
#include "ir/visit.h"
#include "plan/march.h"

namespace weft::lower {

namespace {

/// The member, or what a member reads, of that name.
const ir::Stage& stage_named(const std::string& name, const Tile::Stages& members) {
  for (const ir::Stage* member : members) {
    if (member->name == name) return *member;
    for (const ir::Expr& e : ir::reads(*member)) {
      const ir::Stage& source = *std::get<ir::Read>(e->op).source;
      if (source.name == name) return source;
    }
  }
  throw InternalError("a plan of '" + members.back()->name + "' speaks of '" + name +
                      "', which it does not read");
}

int batch_of(const plan::KernelPlan& plan) {
  const plan::Level* batch = plan.level(plan::LevelKind::Batch);
  return (batch ? batch : plan.level(plan::LevelKind::Row))->extent.back().fixed();
}

std::vector<int> steps_of(const plan::KernelPlan& plan, std::size_t dims) {
  std::vector<int> steps(dims, 1);
  steps.front() = plan.step[0], steps.back() = plan.step[1];
  return steps;
}

/// "in", "in_or_blur", "in_and_others".
std::string joined(const std::vector<std::string>& names) {
  if (names.size() > 2) return names.front() + "_and_others";
  return names.size() == 2 ? names[0] + "_or_" + names[1] : names.front();
}

}  // namespace

Tile::Tile(const KernelContext& context)
    : context_(context),
      rows_(result().domain(), layout()),
      steps_(steps_of(plan(), result().domain().size()), result().domain(), layout()),
      batch_(batch_of(plan())),
      first_of_batch_(layout().names.local("batch")),
      row_(layout().names.local("row")),
      plane_(layout().names.local("plane")) {
  for (int d = 0; d < rows_.rank(); ++d) {
    from_.push_back(layout().names.local(ir::dim_name(d) + "0"));
    until_.push_back(layout().names.local(ir::dim_name(d) + "1"));
  }
  for (const plan::Kept& kept : plan().kept) {
    const ir::Stage& stage = stage_named(kept.stage, context.members);
    sources_.push_back({kept, stage, plan::at_rate(width(), steps_[0], kept.rate[0]), {}});
  }
  place_rows();
}

/// Rows that take turns lie in one array, which has their names.
void Tile::place_rows() {
  std::vector<std::vector<std::string>> names;
  for (const Source& source : sources_) {
    places_.resize(std::max<std::size_t>(places_.size(), source.kept.place + 1));
    names.resize(places_.size());
    kernel::LocalArray& place = places_[source.kept.place];
    names[source.kept.place].push_back(layout().arrays.at(&source.stage).name.spelling());
    place.type = source.kept.type.scalar;
    place.count = std::max(place.count, source.kept.scalars());
  }
  for (std::size_t p = 0; p < places_.size(); ++p)
    places_[p].name = layout().names.claim(joined(names[p]) + "_rows");
  for (Source& source : sources_) source.array = places_[source.kept.place].name;
}

const Tile::Source* Tile::source(const ir::Stage& stage) const {
  const auto found = std::find_if(sources_.begin(), sources_.end(),
                                  [&](const Source& source) { return &source.stage == &stage; });
  return found == sources_.end() ? nullptr : &*found;
}

std::string Tile::named_sources(bool members_alone) const {
  std::string names;
  for (const Source& source : sources_) {
    if (!members_alone || source.kept.is_member)
      names += (names.empty() ? "'" : ", '") + source.stage.name + "'";
  }
  return names;
}

Tile::Stages Tile::members_of(const plan::Pass& pass) const {
  Stages stages;
  for (const std::string& name : pass) stages.push_back(&stage_named(name, context_.members));
  return stages;
}

Expr Tile::columns_of_tiles() const { return parts(steps_.extent(0), literal(width())); }

Expr Tile::layers_of_tiles() const {
  return is_of_volume() ? parts(rows_.extent(1), literal(plan().lines())) : literal(1);
}

Expr Tile::height(const Expr& side_by_side, const Expr& rows_per_part, const OfRows& given,
                  const Expr& room) const {
  const OfRows in_parts = [&](const Expr& height) {
    if (!plan().parts) return given(height);
    const Expr whole = kernel::mul(rows_per_part, literal(plan().step[1]));
    return given(kernel::mul(parts(height, whole), whole));
  };
  return plan::with_size(plan().height(), steps_.extent(down()), side_by_side, in_parts, room);
}

void Tile::append_ends(Block& block, int d, const Expr& number, const Expr& extent) const {
  block.push_back({Let{from(d), kernel::add(kernel::mul(number, extent), steps_.origin(d))}});
  const Expr end = kernel::min(kernel::add(name(from(d)), extent), steps_.whole(rows_.end(d), d));
  block.push_back({Let{until(d), end}});
}

// ---- coordinates

Expr Tile::batch_row() const { return name(batch_ == 1 ? marching() : first_of_batch_); }
Expr Tile::begin(int rate) const { return steps_.at_rate(name(from(0)), 0, rate); }
Expr Tile::row_at(const Expr& row, int rate) const { return steps_.at_rate(row, down(), rate); }
Expr Tile::first_row(const plan::Kept& kept) const {
  return kernel::add(row_at(name(from(down())), kept.rate[1]), literal(kept.down().min));
}
Expr Tile::end_row(const plan::Kept& kept) const {
  return kernel::add(row_at(name(until(down())), kept.rate[1]), literal(kept.down().max));
}
Expr Tile::first_line(const plan::Kept& kept) const {
  return kernel::add(name(from(1)), literal(kept.window[1].min));
}
Expr Tile::end_line(const plan::Kept& kept) const {
  return kernel::add(name(until(1)), literal(kept.window[1].max));
}

std::vector<Expr> Tile::row_coords(const plan::Kept* kept) const {
  std::vector<Expr> coords{name(line(kept))};
  if (is_of_volume()) coords.push_back(name(marching(kept)));
  return coords;
}

/// Around work for a row of a volume's plane: all that the tile needs of it, or those that are inside.
Block Tile::for_lines(const plan::Kept* kept, bool all, Block work) const {
  std::vector<Expr> from{kept ? first_line(*kept) : name(this->from(1))},
      until{kept ? end_line(*kept) : name(this->until(1))};
  if (kept && !all) {
    const plan::Reach beyond = kept->continued(1);
    const ir::Range& range = kept->box[1];
    from.push_back(kernel::sub(rows_.lower(range.min), literal(beyond.min)));
    until.push_back(kernel::add(rows_.lower(range.min + range.extent), literal(beyond.max)));
  }
  return {{For{LoopKind::Serial, line(kept), kernel::max(from), kernel::min(until), std::move(work)}}};
}

Tile::RowsAtATime Tile::rows_at_a_time(const plan::Kept* kept, bool all) const {
  const int step = plan().step[1], rate = kept ? kept->rate[1] : step, ahead = kept ? kept->ahead : 0;
  const plan::Reach needed = kept ? kept->down() : plan::Reach{};
  const Expr tile_begin = first_row_of(kept), tile_end = kept ? end_row(*kept) : name(until(down()));
  RowsAtATime rows{tile_begin, 0, {}, {}};
  if (is_static()) {
    rows.until.push_back(tile_end);
  } else {
    rows.first = kernel::add(row_at(batch_row(), rate), literal(ahead));
    rows.count = plan::at_rate(batch_, step, rate);
    const bool begins_with_tile = ahead - needed.min == plan::at_rate(plan().before, step, rate);
    if (rows.count == 1 || !begins_with_tile) rows.from.push_back(tile_begin);
    if (batch_ > step) rows.until.push_back(tile_end);
  }
  if (all) return rows;
  const ir::Range& range = kept ? kept->box[down()] : result().domain()[down()];
  const plan::Reach beyond = kept ? kept->continued(down()) : plan::Reach{};
  const bool moves_alike = range == result().domain()[down()] && step == 1 && rate == 1;
  const Expr begin = rows_.lower(range.min), end = rows_.lower(range.min + range.extent);
  if (!moves_alike || needed.min < -beyond.min) rows.from.push_back(kernel::sub(begin, literal(beyond.min)));
  if (!moves_alike || needed.max > beyond.max) rows.until.push_back(kernel::add(end, literal(beyond.max)));
  return rows;
}

Block Tile::for_rows(const plan::Kept* kept, bool all, Block work, Together together) const {
  if (is_of_volume()) {
    work = for_lines(kept, all, std::move(work));
    if (!together.work.empty()) together.work = for_lines(kept, false, std::move(together.work));
  }
  const kernel::Symbol& variable = marching(kept);
  const Expr row = name(variable);
  auto [first, count, from, until] = rows_at_a_time(kept, all);
  if (count == 1) {
    Expr is_needed = kernel::binary(BinaryOp::Le, kernel::max(from), first);
    if (!until.empty())
      is_needed = kernel::both(is_needed, kernel::binary(BinaryOp::Lt, first, kernel::min(until)));
    if (!kernel::same(first, row)) work.insert(work.begin(), {Let{variable, first}});
    return {{If{is_needed, std::move(work), {}}}};
  }
  Block block;
  from.insert(from.begin(), first);
  if (count > 1) until.insert(until.begin(), kernel::add(first, literal(count)));
  const auto bound = [&](const char* word, const Expr& value, bool is_long) {
    if (!is_long || !plan().is_of_blocks()) return value;  // a core finds it once for a whole row
    const kernel::Symbol symbol = layout().names.local(word);
    block.push_back({Let{symbol, value}});
    return name(symbol);
  };
  const Expr begin = bound("first", kernel::max(from), from.size() > 2);
  const Expr end = bound("last", kernel::min(until), until.size() > 2);
  block.push_back({For{LoopKind::Serial, variable, begin, end, std::move(work)}});
  if (together.work.empty()) return block;
  together.work.insert(together.work.begin(), {Let{variable, first}});
  return {{If{are_together(kept, together.where), std::move(together.work), std::move(block)}}};
}

Expr Tile::are_together(const plan::Kept* kept, const Expr& where) const {
  const RowsAtATime inside = rows_at_a_time(kept, false);
  Expr are_all = where;
  if (!inside.from.empty())
    are_all = kernel::both(are_all, kernel::binary(BinaryOp::Le, kernel::max(inside.from), inside.first));
  const Expr last = kernel::add(inside.first, literal(inside.count));
  if (!inside.until.empty())
    are_all = kernel::both(are_all, kernel::binary(BinaryOp::Le, last, kernel::min(inside.until)));
  return are_all;
}

int Tile::rows_needed(const plan::Kept* kept) const {
  const int rows = plan().height().fixed();
  if (!kept) return rows;
  return plan::at_rate(rows, plan().step[1], kept->rate[1]) + static_cast<int>(kept->down().extent()) - 1;
}

bool Tile::reads_no_kept(const plan::Kept& kept) const {
  const plan::Computed* computed = plan().computed_of(kept.stage);
  return computed != nullptr &&
         std::none_of(computed->reads.begin(), computed->reads.end(),
                      [&](const std::string& read) { return plan().kept_of(read) != nullptr; });
}

Expr Tile::first_row_of(const plan::Kept* kept) const { return kept ? first_row(*kept) : name(from(down())); }

bool Tile::is_unrolled_inside(const plan::Kept* kept) const {
  // Planes share the kept rows that they read. Those that read none would just take many registers as straight-line code.
  const bool is_from_memory = kept != nullptr && plan().lines() > 1 && reads_no_kept(*kept);
  return plan().level(plan::LevelKind::Row)->order == plan::Order::Unrolled && !is_from_memory;
}

Expr Tile::number_of_row_inside(const plan::Kept* kept) const {
  if (!is_unrolled_inside(kept)) return literal(0);
  return kernel::sub(name(marching(kept)), first_row_of(kept));
}

Block Tile::for_rows_inside(const plan::Kept* kept, Block work) const {
  const bool is_unrolled = plan().level(plan::LevelKind::Row)->order == plan::Order::Unrolled;
  const auto loop = [&](const char* counter, const kernel::Symbol& variable, const Expr& first,
                        std::int64_t count, Block body, bool is_rolled) -> Block {
    if (is_rolled)
      return {{For{LoopKind::Serial, variable, first, kernel::add(first, literal(count)), std::move(body)}}};
    // Counted from 0: clang unrolls a loop from y0 to y0 + 16 only where it can prove that the sum does not overflow.
    const kernel::Symbol number = layout().names.local(counter);
    body.insert(body.begin(), {Let{variable, kernel::add(first, name(number))}});
    return {{For{LoopKind::Unrolled, number, literal(0), literal(count), std::move(body)}}};
  };
  if (is_of_volume()) {
    const std::int64_t beyond = kept ? kept->window[1].extent() - 1 : 0;
    work = loop("r", line(kept), kept ? first_line(*kept) : name(from(1)), plan().lines() + beyond,
                std::move(work), !is_unrolled);
  }
  return loop(is_of_volume() ? "p" : "r", marching(kept), first_row_of(kept), rows_needed(kept),
              std::move(work), !is_unrolled_inside(kept));
}

Expr Tile::is_inside(int least_dimension) const {
  /// A lower bound, bound <= from + offset, or an upper one, from + offset <= bound. 0 <= x0 - 2 and 0 <= x0 - 8 have the
  /// same bound and start from the same place: the second, which is stricter, stands for both.
  struct Test {
    Expr from, bound;
    std::int64_t offset;
    bool is_lower;
  };
  std::vector<Test> tests;
  const auto add = [&](const Test& test) {
    for (Test& known : tests) {
      if (known.is_lower != test.is_lower || !kernel::same(known.from, test.from) ||
          !kernel::same(known.bound, test.bound))
        continue;
      known.offset =
          test.is_lower ? std::min(known.offset, test.offset) : std::max(known.offset, test.offset);
      return;
    }
    tests.push_back(test);
  };
  // The pixels [from + offset, from + offset + count) of a stage lie in its box, and in the box of its first case.
  const auto lies_in = [&](const ir::Stage& stage, int d, const Expr& from, std::int64_t offset,
                           std::int64_t count) {
    if (d < least_dimension) return;
    const ir::Range& range = stage.box[d];
    add({from, rows_.lower(range.min), offset, true});
    add({from, rows_.lower(range.min + range.extent), offset + count, false});
    const auto box = box_of_first_case(stage);
    if (!box) return;
    for (const ir::Affine& bound : (*box)[d].lower) add({from, rows_.lower(bound), offset, true});
    for (const ir::Affine& bound : (*box)[d].upper) add({from, rows_.lower(bound), offset + count, false});
  };
  for (const Source& source : sources_) {
    const plan::Kept& kept = source.kept;
    const int first_pixel =
        (kept.first + source.lanes() - 1) / source.lanes();  // of an image, in whole sectors
    const std::int64_t left = kept.is_member ? kept.x().min : -first_pixel;
    const std::int64_t columns = kept.is_member ? source.width + kept.x().extent() - 1
                                                : (kept.pitch + source.lanes() - 1) / source.lanes();
    lies_in(source.stage, 0, begin(kept.rate[0]), left, columns);
    lies_in(source.stage, down(), row_at(name(from(down())), kept.rate[1]), kept.down().min,
            rows_needed(&kept));
    if (is_of_volume())
      lies_in(source.stage, 1, name(from(1)), kept.window[1].min,
              plan().lines() + kept.window[1].extent() - 1);
  }
  lies_in(result(), 0, name(from(0)), 0, width());
  lies_in(result(), down(), name(from(down())), 0, rows_needed(nullptr));
  if (is_of_volume()) lies_in(result(), 1, name(from(1)), 0, plan().lines());
  Expr all;
  for (const Test& test : tests) {
    const Expr at = kernel::add(test.from, literal(test.offset));
    all = kernel::both(all, test.is_lower ? kernel::binary(BinaryOp::Le, test.bound, at)
                                          : kernel::binary(BinaryOp::Le, at, test.bound));
  }
  return all;
}

std::optional<std::vector<analysis::Bounds>> Tile::box_of_first_case(const ir::Stage& stage) const {
  const auto* pure = std::get_if<ir::Pure>(&stage.definition);
  if (!pure || pure->cases.size() != 2) return std::nullopt;
  return analysis::box_where(pure->cases[0].when, rows_.rank());
}

Block Tile::march(Block work) const {
  if (is_static()) return work;
  return {{For{LoopKind::Serial, batch_ == 1 ? marching() : first_of_batch_,
               kernel::sub(name(from(down())), literal(plan().before)), name(until(down())), std::move(work),
               batch_ > 1 ? literal(batch_) : nullptr}}};
}

// ---- kept rows

Expr Tile::row_start(const plan::Kept& kept, const std::vector<Expr>& row) const {
  const Expr& down = row.back();
  Expr number = is_static() ? kernel::sub(down, first_row(kept))
                            : kernel::binary(BinaryOp::And, down, literal(kept.rows - 1));
  if (is_of_volume())
    number =
        kernel::add(kernel::mul(number, literal(kept.lines)), kernel::sub(row.front(), first_line(kept)));
  return kernel::mul(number, literal(kept.pitch));
}

Expr Tile::at(const plan::Kept& kept, const Expr& column, int lane) {
  return kernel::add(kernel::mul(column, literal(pixel_pitch(kept.type.lanes, kept.lane_pitch))),
                     literal(kept.first + lane * kept.lane_pitch));
}

kernel::Stmt Tile::current_row(const Source& source, const kernel::Symbol& row, int below) const {
  std::vector<Expr> coords = row_coords(&source.kept);
  coords.back() = kernel::add(coords.back(), literal(below));
  return {kernel::Pointer{row, source.array, source.kept.type.scalar, row_start(source.kept, coords), false}};
}

// ---- expressions

ExpressionLowering Tile::expressions(const ir::Stage& stage, Place place, std::vector<Expr> coords,
                                     const Names* names) const {
  return {context_, stage, place, std::move(coords), names};
}

bool Tile::reads_lanes_apart(const ir::Stage& stage) const {
  const std::vector<ir::Expr> reads = ir::reads(stage);
  return std::any_of(reads.begin(), reads.end(), [&](const ir::Expr& e) {
    const Source* read = source(*std::get<ir::Read>(e->op).source);
    return read && read->kept.lane_pitch != 1;
  });
}

Tile::PassLanes Tile::lanes_of(const Stages& pass) const {
  const auto is_kept = [&](const ir::Stage& stage) { return source(stage) != nullptr; };
  const bool as_pixels = std::any_of(pass.begin(), pass.end(), [&](const ir::Stage* stage) {
    return reads_lanes_apart(*stage) || rewrite::borders_find_pixels(*stage, is_kept);
  });
  PassLanes lanes;
  for (const ir::Stage* stage : pass)
    lanes.push_back(std::make_unique<PlacedLanes>(*stage, layout(), as_pixels));
  return lanes;
}

Tile::RowsOf Tile::rows_of(const PassLanes& lanes,
                           const std::function<ExpressionLowering::KeptRows(const Source&)>& rows_of) const {
  RowsOf rows;
  for (const Source& source : sources_) {
    if (!source.kept.is_copied()) continue;  // read like any other image
    for (const auto& stage : lanes) rows[&stage->view(source.stage)] = rows_of(source);
  }
  return rows;
}

}  // namespace weft::lower

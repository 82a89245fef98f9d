#include "lower/lower_row_packs.h"

#include <algorithm>
#include <map>

#include "lower/aligned.h"
#include "lower/lane_code.h"
#include "lower/lower_grid.h"
#include "lower/rows.h"
#include "lower/strip_pixels.h"
#include "plan/pixel_rows.h"

namespace weft::lower {

namespace {

/// The read with what is beyond the ends of its source: without a border nobody asks for that, and any pixel that is there will
/// do.
ir::Read bordered(ir::Read read) {
  if (!read.border) read.border = ir::Border{ir::BorderMode::Clamp, nullptr};
  return read;
}

class RowPacks {
 public:
  explicit RowPacks(const KernelContext& context)
      : context_(context),
        layout_(context.layout),
        stage_(context.stage()),
        array_(layout_.arrays.at(&stage_)),
        rows_(stage_.box, layout_),
        pixels_(context.plan.level(plan::LevelKind::Lane)->extent[0].fixed()),
        first_(layout_.names.local("x0")) {
    const ir::Affine into = stage_.box[0].min - array_.box[0].min;
    if (into.is_constant())
      before_ = static_cast<int>(into.constant() - ir::floor_div(into.constant(), pixels_) * pixels_);
  }

  kernel::Launch lower() {
    For along_x{LoopKind::GridX, first_, from(), rows_.end(0), {}, literal(pixels_)};
    Block aligned, whole = all_pixels();  // which finds rows that have to be inside
    along_x.body.push_back({kernel::If{are_whole(aligned), std::move(whole), one_by_one()}});
    kernel::Function function{layout_.names.claim(array_.name.spelling() + "_kernel"),
                              comment_on(stage_, "'" + stage_.name + "'"),
                              {},
                              std::move(aligned)};
    kernel::append(function.body, grid_loops_around(rows_, {{std::move(along_x)}}));
    kernel::Launch launch{function.name, literal(1), grid_over(rows_, pixels_, before_)};
    context_.module.functions.push_back(std::move(function));
    return launch;
  }

 private:
  Expr x0() const { return name(first_); }
  /// Packs begin where those of the array do.
  Expr from() const { return kernel::sub(rows_.begin(0), literal(before_)); }

  /// Whether all pixels of a thread are to be stored, and their columns of all that they read are there, where whole
  /// accesses begin. Appends to `before` what does not depend on the thread.
  Expr are_whole(Block& before) {
    std::vector<Expr> tests;
    const auto test = [&](const Expr& condition) {
      const bool is_known =
          std::any_of(tests.begin(), tests.end(), [&](const Expr& e) { return kernel::same(e, condition); });
      if (!is_known) tests.push_back(condition);
    };
    const Expr end = kernel::add(x0(), literal(pixels_));
    const auto test_columns = [&](const Expr& least, const Expr& most) {
      if (!kernel::same(least, from())) test(at_most(least, x0()));
      test(at_most(end, most));
    };
    for (const ArrayLayout* array : arrays())
      test(is_aligned(*array, rows_.x_offset(from(), *array), pixels_ * array->type.lanes, layout_, before));
    test_columns(rows_.begin(0), rows_.end(0));
    for (const plan::PixelRow& row : around_) {
      const ir::Range& columns = row.read.region[0];
      test_columns(rows_.lower(columns.min), rows_.lower(columns.min + columns.extent));
    }
    for (std::size_t d = 1; d < stage_.box.size(); ++d) {
      for (const auto& [region, reach] : reach_along(d)) {
        const Expr at = name(rows_.coordinate(static_cast<int>(d)));
        const bool is_own = region == stage_.box[d];
        if (reach.min < 0 || !is_own) test(at_most(rows_.lower(region.min - reach.min), at));
        if (reach.max > 0 || !is_own) test(less(at, rows_.lower(region.min + region.extent - reach.max)));
      }
    }
    for (const Expr& inside : rows_inside_) test(inside);
    Expr all;
    for (const Expr& condition : tests) all = kernel::both(all, condition);
    return all;
  }

  /// What is stored and read, once each: a step may take the place of what it reads.
  std::vector<const ArrayLayout*> arrays() const {
    std::vector<const ArrayLayout*> arrays{&array_};
    for (const plan::PixelRow& row : around_) {
      const ArrayLayout& array = layout_.arrays.at(row.read.source.get());
      const bool is_known = std::any_of(arrays.begin(), arrays.end(),
                                        [&](const ArrayLayout* known) { return known->name == array.name; });
      if (!is_known) arrays.push_back(&array);
    }
    return arrays;
  }

  /// How far a row is from the pixels' own, by dimension from y on; none if its place is another function of theirs, or it has
  /// not as many dimensions.
  std::optional<std::vector<std::int64_t>> distance_of(const plan::PixelRow& row) const {
    const analysis::Footprint footprint = analysis::footprint(row.read);
    if (footprint.size() != stage_.box.size()) return std::nullopt;
    std::vector<std::int64_t> distance;
    for (std::size_t d = 1; d < footprint.size(); ++d) {
      if (!footprint[d].is_unit(static_cast<int>(d))) return std::nullopt;
      distance.push_back(footprint[d].min);
    }
    return distance;
  }

  /// How far rows are away along a dimension, for all sources that have the same pixels along it.
  std::vector<std::pair<ir::Range, plan::Reach>> reach_along(std::size_t d) const {
    std::vector<std::pair<ir::Range, plan::Reach>> all;
    for (const plan::PixelRow& row : around_) {
      const auto distances = distance_of(row);
      if (!distances) continue;
      const ir::Range& region = row.read.region[d];
      const std::int64_t distance = (*distances)[d - 1];
      auto known =
          std::find_if(all.begin(), all.end(), [&](const auto& each) { return each.first == region; });
      if (known == all.end()) known = all.insert(all.end(), {region, {}});
      known->second = analysis::hull({known->second}, {plan::Reach{distance, distance}}).front();
    }
    return all;
  }

  Block all_pixels() {
    Block block;
    ExpressionLowering expressions(context_, stage_, Place::Thread, rows_.coords());
    expressions.open(block);
    std::vector<ExpressionLowering::Pack> packs;
    for (const plan::PixelRow& row : around_) packs.push_back(load_row(row, expressions, block));
    const kernel::Symbol number = expressions.claim("k");
    const kernel::Symbol result = expressions.claim(array_.name.spelling() + "_pack");
    const Expr k = name(number), lanes = literal(array_.type.lanes);
    block.push_back({kernel::LocalArray{result, array_.type.scalar, pixels_ * array_.type.lanes}});
    expressions.keep_packs(std::move(packs), k);
    expressions.number_neighbours(0, k);
    For each = unrolled(number, pixels_, {{Let{rows_.coordinate(0), kernel::add(x0(), k)}}});
    const std::vector<ir::Case>& cases = cases_of(stage_);
    store_pixel(expressions, each.body, box_of_first_case(stage_) ? as_one_case(cases) : cases, result,
                kernel::mul(k, lanes));
    block.push_back({std::move(each)});
    expressions.close();
    const Expr to = kernel::add(rows_.row_offset(array_), rows_.x_offset(x0(), array_));
    block.push_back({kernel::StorePack{result, array_.name, to, literal(pixels_ * array_.type.lanes), true}});
    return block;
  }

  ExpressionLowering::Pack load_row(const plan::PixelRow& row, ExpressionLowering& expressions,
                                    Block& block) {
    const ir::Read read = bordered(row.read);
    const ArrayLayout& from = layout_.arrays.at(read.source.get());
    const int lanes = from.type.lanes;
    const auto left = static_cast<int>(-row.columns.min), right = static_cast<int>(row.columns.max);
    const kernel::Symbol array = pointer_to(row, read, from, expressions, block);
    const kernel::Symbol pack = expressions.claim(from.name.spelling() + "_row");
    kernel::LoadPack own{
        pack, array, from.type.scalar, pixels_ * lanes, rows_.x_offset(x0(), from), literal(pixels_ * lanes),
        true};
    own.before = left * lanes, own.after = right * lanes;
    block.push_back({std::move(own)});
    for (int column = -left; column < pixels_ + right; ++column) {
      if (0 <= column && column < pixels_) continue;
      const FoundPixel beside = column_beside(read, column, expressions, block);
      Lanes values;
      for (int l = 0; l < lanes; ++l) {
        const Expr at = kernel::add(kernel::mul(beside.index, literal(lanes)), literal(l));
        values.push_back(kernel::load(array, from.type.scalar, at));
      }
      if (beside.inside) values = expressions.or_constant(beside.inside, std::move(values), read);
      for (int l = 0; l < lanes; ++l)
        block.push_back(
            {kernel::Store{pack, literal((left + column) * lanes + l), values[static_cast<std::size_t>(l)]}});
    }
    return {row.read, pack, nullptr, left};
  }

  /// To the row, or the array where it has no others.
  kernel::Symbol pointer_to(const plan::PixelRow& row, const ir::Read& read, const ArrayLayout& from,
                            ExpressionLowering& expressions, Block& block) {
    if (from.strides.empty()) return from.name;
    const auto pointer = [&](const kernel::Symbol& base, const Expr& offset) {
      const kernel::Symbol symbol = expressions.claim(from.name.spelling() + "_at");
      block.push_back({kernel::Pointer{symbol, base, from.type.scalar, offset}});
      return symbol;
    };
    const auto distance = distance_of(row);
    if (!distance) {
      const auto [offset, inside] = expressions.row_of(read);
      if (inside) rows_inside_.push_back(inside);
      return pointer(from.name, offset);
    }
    const auto [own, is_new] = own_rows_.try_emplace(&from);
    if (is_new) own->second = pointer(from.name, rows_.row_offset(from));
    Expr away = literal(0);
    for (std::size_t d = 0; d < distance->size(); ++d)
      away = kernel::add(away, kernel::mul(literal((*distance)[d]), name(from.strides[d])));
    return kernel::is_literal(away, 0) ? own->second : pointer(own->second, away);
  }

  /// A column of a source in its array. Rows that have the same columns share where they are.
  FoundPixel column_beside(const ir::Read& read, int column, ExpressionLowering& expressions, Block& block) {
    const Expr begin = rows_.lower(read.region[0].min), x = kernel::add(x0(), literal(column));
    FoundPixel found =
        find_pixel(read.border->mode, kernel::sub(x, begin), rows_.lower(read.region[0].extent));
    found.index = kernel::sub(kernel::add(found.index, begin), rows_.lower(read.source->box[0].min));
    for (const auto& [index, symbol] : columns_) {
      if (kernel::same(index, found.index)) return {name(symbol), found.inside};
    }
    const std::string side = column < 0 ? "_m" + std::to_string(-column) : "_p" + std::to_string(column);
    const kernel::Symbol symbol = expressions.claim("x" + side);
    block.push_back({Let{symbol, found.index}});
    columns_.emplace_back(found.index, symbol);
    return {name(symbol), found.inside};
  }

  Block one_by_one() {
    ExpressionLowering expressions(context_, stage_, Place::Thread, rows_.coords());
    For each{LoopKind::Rolled,
             rows_.coordinate(0),
             kernel::max(x0(), rows_.begin(0)),
             kernel::min(kernel::add(x0(), literal(pixels_)), rows_.end(0)),
             {}};
    if (before_ == 0) each.from = x0();
    const Expr to = kernel::add(rows_.row_offset(array_), rows_.x_offset(rows_.coords()[0], array_));
    expressions.open(each.body);
    store_pixel(expressions, each.body, cases_of(stage_), array_.name, to);
    expressions.close();
    return {{std::move(each)}};
  }

  const KernelContext& context_;
  Layout& layout_;
  const ir::Stage& stage_;
  const ArrayLayout& array_;
  const Rows rows_;
  const int pixels_;
  const kernel::Symbol first_;  ///< Column of a thread.
  int before_ = 0;              ///< Columns of the first pack before those of the stage.
  const std::vector<plan::PixelRow> around_ = plan::pixel_rows(stage_).rows;
  std::vector<Expr> rows_inside_;  ///< What has to hold for rows with a constant border to be there.
  std::map<const ArrayLayout*, kernel::Symbol> own_rows_;  ///< Pointers to the row of the pixels themselves.
  std::vector<std::pair<Expr, kernel::Symbol>> columns_;
};

}  // namespace

kernel::Launch lower_row_packs(const KernelContext& context) { return RowPacks(context).lower(); }

}  // namespace weft::lower

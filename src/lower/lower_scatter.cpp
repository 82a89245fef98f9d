#include "lower/lower_scatter.h"

#include <algorithm>

#include "analysis/interior.h"
#include "ir/visit.h"
#include "lower/expressions.h"
#include "lower/lower_scatter_atomics.h"
#include "lower/lower_scatter_bands.h"
#include "lower/lower_scatter_columns.h"
#include "lower/rows.h"
#include "lower/updates.h"

namespace weft::lower {

namespace {

class ScatterLowering {
 public:
  ScatterLowering(const KernelContext& context, const plan::ScatterCopies& asked)
      : stage_(context.stage()),
        scatter_(std::get<ir::Scatter>(stage_.definition)),
        context_(context),
        layout_(context.layout),
        module_(context.module),
        array_(layout_.arrays.at(&stage_)),
        bins_(stage_.box, layout_),
        points_(scatter_.over, layout_),
        asked_(asked),
        place_copies_(asked_.are_of_places ? asked_.places : 1) {}

  void run() {
    copies_ = layout_.names.claim(array_.name.spelling() + "_copies");
    module_.arrays.push_back({copies_,
                              stage_.type,
                              kernel::Array::Role::Intermediate,
                              {},
                              {kernel::mul(bin_count(), all_copies())}});
    kernel::Function fill = fill_function(), merge = merge_function();
    module_.steps.push_back(kernel::Launch{fill.name, copy_count()});
    module_.steps.push_back(kernel::Launch{merge.name, bins_.count()});
    module_.functions.push_back(std::move(fill));
    module_.functions.push_back(std::move(merge));
  }

 private:
  int lanes() const { return stage_.type.lanes; }
  Expr bin_count() const { return kernel::mul(bins_.count(), bins_.width()); }
  Expr copy_count() const {
    const Expr bins = kernel::max(bin_count(), literal(1));
    const Expr fitting = kernel::div(literal(asked_.pixels), bins);
    return kernel::min(literal(asked_.most), kernel::max(literal(asked_.least), fitting));
  }
  Expr all_copies() const { return kernel::mul(copy_count(), literal(place_copies_)); }
  Expr scalar_of(const Expr& bin, int lane) const {
    return kernel::add(kernel::mul(bin, literal(lanes())), literal(lane));
  }
  Expr combined(const Expr& a, const Expr& b) const {
    return stored_as(stage_.type.scalar,
                     simplified_binary(scatter_.op, computable(a), computable(b), module_.strict));
  }

  // ---- filling a copy ----

  kernel::Function fill_function() {
    kernel::Function function{layout_.names.claim(array_.name.spelling() + "_fill"),
                              "Copies [first, last) of '" + stage_.name + "', each from a part of the rows.",
                              {variables_.first, variables_.last},
                              {}};
    const kernel::Symbol number = layout_.names.local("part");
    For loop{LoopKind::Serial, number, kernel::name(variables_.first), kernel::name(variables_.last), {}};
    const Expr part = kernel::name(number);
    const bool needs_borders = !analysis::interior_of(stage_).is_everything();
    std::vector<Expr> coords = points_.coords();
    if (asked_.places > 1) {
      const Expr place = kernel::mul(kernel::name(variables_.i), kernel::name(apart_));
      coords[0] = kernel::add(coords[0], place);
    }
    ExpressionLowering expressions(context_, stage_, needs_borders ? Place::Anywhere : Place::Interior,
                                   coords);
    const kernel::Symbol copy = expressions.claim(array_.name.spelling() + "_copy");
    const Expr scalars = kernel::mul(kernel::mul(bin_count(), literal(place_copies_)), literal(lanes()));
    loop.body.push_back(
        {kernel::Pointer{copy, copies_, stage_.type.scalar, kernel::mul(part, scalars), false}});
    clear(copy, scalars, loop.body);
    // A 1-D domain is divided along x.
    const bool along_x = points_.rank() == 1;
    const Expr total = along_x ? points_.extent(0) : points_.count();
    const kernel::Symbol copies = layout_.names.local("copies");
    loop.body.push_back({kernel::Let{copies, copy_count()}});
    const auto bound = [&](const Expr& of) {
      return kernel::div(kernel::mul(total, of), kernel::name(copies));
    };
    const Expr from = bound(part), to = bound(kernel::add(part, literal(1)));
    if (along_x) {
      points(expressions, copy, kernel::add(points_.begin(0), from), kernel::add(points_.begin(0), to),
             loop.body);
    } else {
      const kernel::Symbol row = layout_.names.local("row");
      For rows{LoopKind::Serial, row, from, to, points_.coordinates_of(kernel::name(row))};
      const bool scalar = points_.rank() == 0;
      points(expressions, copy, scalar ? literal(0) : points_.begin(0), scalar ? literal(1) : points_.end(0),
             rows.body);
      loop.body.push_back({std::move(rows)});
    }
    function.body.push_back({std::move(loop)});
    return function;
  }

  void clear(const kernel::Symbol& copy, const Expr& scalars, Block& block) const {
    const ir::Value identity = identity_of(scatter_.op, stage_.type.lane());
    Block body = {{kernel::Store{copy, kernel::name(variables_.i),
                                 kernel::constant(stage_.type.scalar, identity.lane[0])}}};
    block.push_back({For{LoopKind::Vector, variables_.i, literal(0), scalars, std::move(body)}});
  }

  /// Makes the updates of the points of a row, one after another, since any two may meet in a bin.
  void points(ExpressionLowering& expressions, const kernel::Symbol& copy, const Expr& from, const Expr& to,
              Block& block) const {
    Block pointers, loops;
    expressions.open(loops, &pointers);
    if (asked_.places == 1) {
      update(expressions, copy, loops);
    } else {
      const Expr apart = kernel::name(apart_);
      const auto loop = [&](const Expr& begin, const Expr& end, int places) {
        For place{LoopKind::Serial, variables_.i, literal(0), literal(places), {}};
        update(expressions, copy, place.body);
        loops.push_back({For{LoopKind::Serial, points_.coordinate(0), begin, end, {{std::move(place)}}}});
      };
      loops.push_back({kernel::Let{apart_, kernel::div(kernel::sub(to, from), literal(asked_.places))}});
      loop(from, kernel::add(from, apart), asked_.places);
      loop(kernel::add(from, kernel::mul(apart, literal(asked_.places))), to, 1);
    }
    expressions.close();
    kernel::append(block, std::move(pointers));
    kernel::append(block, std::move(loops));
  }

  /// The updates of one point.
  void update(ExpressionLowering& expressions, const kernel::Symbol& copy, Block& block) const {
    lower_updates(expressions, stage_, bins_, block, [&](Expr bin, const Lanes& value) {
      if (place_copies_ > 1) bin = kernel::add(kernel::mul(kernel::name(variables_.i), bin_count()), bin);
      Block change;
      for (int l = 0; l < lanes(); ++l) {
        const Expr place = scalar_of(bin, l);
        change.push_back(
            {kernel::Store{copy, place, combined(kernel::load(copy, stage_.type.scalar, place), value[l])}});
      }
      return change;
    });
  }

  // ---- merging the copies ----

  kernel::Function merge_function() {
    kernel::Function function{
        layout_.names.claim(array_.name.spelling() + "_merge"),
        "Rows [first, last) of '" + stage_.name + "': its initial value and all copies.",
        {variables_.first, variables_.last},
        {}};
    const kernel::Symbol row_number = layout_.names.local("row"), copy_number = layout_.names.local("copy");
    For rows{LoopKind::Serial, row_number, kernel::name(variables_.first), kernel::name(variables_.last), {}};
    ExpressionLowering expressions(context_, stage_, Place::Anywhere, points_.coords());
    const Expr row = kernel::name(row_number), copy = kernel::name(copy_number),
               i = kernel::name(variables_.i);
    const kernel::Symbol target = expressions.claim(array_.name.spelling() + "_row");
    rows.body.push_back(
        {kernel::Pointer{target, array_.name, stage_.type.scalar, bins_.offset_of(row, array_), false}});

    Block start;
    expressions.open(start);
    const Lanes initial = expressions.lower(scatter_.initial);
    for (int l = 0; l < lanes(); ++l) start.push_back({kernel::Store{target, scalar_of(i, l), initial[l]}});
    expressions.close();
    rows.body.push_back({For{LoopKind::Vector, variables_.i, literal(0), bins_.width(), std::move(start)}});

    const Expr scalars = kernel::mul(bins_.width(), literal(lanes()));
    const Expr from = kernel::mul(kernel::add(kernel::mul(copy, bins_.count()), row), scalars);
    Block add = {{kernel::Store{target, i,
                                combined(kernel::load(target, stage_.type.scalar, i),
                                         kernel::load(copies_, stage_.type.scalar, kernel::add(from, i)))}}};
    For copies{LoopKind::Serial, copy_number, literal(0), all_copies(), {}};
    copies.body.push_back({For{LoopKind::Vector, variables_.i, literal(0), scalars, std::move(add)}});
    rows.body.push_back({std::move(copies)});
    function.body.push_back({std::move(rows)});
    return function;
  }

  const ir::Stage& stage_;
  const ir::Scatter& scatter_;
  const KernelContext& context_;
  Layout& layout_;
  kernel::Module& module_;
  const ArrayLayout& array_;
  const Rows bins_, points_;
  const plan::ScatterCopies& asked_;
  const int place_copies_;
  const Variables& variables_ = layout_.variables;
  kernel::Symbol copies_;
  const kernel::Symbol apart_ = layout_.names.local("apart");  ///< From place to place in a row.
};

}  // namespace

void lower_scatter(const KernelContext& context) {
  std::visit(
      ir::overloaded{[&](const plan::ScatterBands& bands) { lower_scatter_bands(context, bands); },
                     [&](const plan::ScatterColumns& columns) { lower_scatter_columns(context, columns); },
                     [&](const plan::ScatterCopies& copies) { ScatterLowering(context, copies).run(); },
                     [&](const plan::ScatterAtomics& atomics) { lower_scatter_atomics(context, atomics); }},
      *context.plan.scatter);
}

}  // namespace weft::lower

#include "lower/lower_split.h"

#include <fmt/format.h>

#include <algorithm>

#include "lower/lower_grid.h"
#include "lower/lower_stage.h"
#include "lower/rows.h"

namespace weft::lower {

using plan::SplitDimension;

namespace {

Expr rem(const Expr& a, const Expr& b) { return kernel::binary(BinaryOp::Rem, a, b); }

/// The fields that follow one another in a step, by level.
std::vector<std::size_t> in_order(const plan::SplitTiles& tiles) {
  std::vector<std::size_t> fields;
  for (std::size_t f = 0; f < tiles.level.size(); ++f) fields.push_back(f);
  std::stable_sort(fields.begin(), fields.end(),
                   [&](std::size_t a, std::size_t b) { return tiles.level[a] < tiles.level[b]; });
  return fields;
}

class SplitLowering {
 public:
  explicit SplitLowering(const SplitContext& context)
      : context_(context),
        tiles_(*context.plan.split),
        layout_(context.layout),
        module_(context.module),
        box_(context.evolution.fields[0].initial->box),
        rows_(box_, context.layout),
        is_of_blocks_(context.plan.is_of_blocks()) {}

  std::vector<kernel::Turns> run() {
    const Expr band = literal(tiles_.steps);
    std::vector<kernel::Turns> turns;
    if (is_fused()) {
      const Expr none = kernel::binary(BinaryOp::Le, context_.steps, literal(0));
      turns.push_back({literal(0),
                       kernel::select(none, literal(0), band),
                       tiles_.steps,
                       {launch(upright_, "the upright tiles of the first band", false)},
                       0});
    }
    kernel::Turns& bands = turns.emplace_back(
        kernel::Turns{literal(0), kernel::mul(parts(context_.steps, band), band), tiles_.steps, {}, 0});
    for (int l = 0; l < plan::launches_of(tiles_); ++l) {
      const bool goes_on = is_fused() && l + 1 == plan::launches_of(tiles_);
      bands.launches.push_back(launch(plan::colours_of(tiles_, l), comment_of(l), goes_on));
    }
    return turns;
  }

 private:
  using Colours = std::vector<unsigned>;

  bool is_fused() const { return tiles_.scheme == plan::SplitScheme::Fused; }
  std::size_t dims() const { return tiles_.dims.size(); }
  const std::string& result() const { return context_.plan.result; }

  /// "tiles that are inverted along x or along y"
  std::string comment_of(int launch) const {
    std::string text;
    for (const unsigned colour : plan::colours_of(tiles_, launch)) {
      std::string along;
      for (std::size_t d = 0; d < dims(); ++d) {
        if ((colour >> d & 1U) != 0)
          along += (along.empty() ? "" : " and ") + ir::dim_name(tiles_.dims[d].dim);
      }
      text += (text.empty() ? "" : ", or ") + (along.empty() ? "upright" : "inverted along " + along);
    }
    return "the tiles that are " + text;
  }

  /// What functions call what they know of a dimension: x_tile, x_begin, x_end …
  struct Along {
    kernel::Symbol tiles;  ///< How many there are, those of both colours, some of them empty.
    kernel::Symbol tile, is_inverted;
    kernel::Symbol begin, begin_lean, end, end_lean;
    kernel::Symbol at, until, round;  ///< On a circle.
  };
  std::vector<Along> variables_along() const {
    std::vector<Along> all;
    for (const SplitDimension& d : tiles_.dims) {
      const auto of = [&](const char* what) { return layout_.names.local(ir::dim_name(d.dim) + what); };
      all.push_back({of("_tiles"), of("_tile"), of("_is_inverted"), of("_begin"), of("_begin_lean"),
                     of("_end"), of("_end_lean"), of("_at"), of("_until"), of("_round")});
    }
    return all;
  }
  const Along& along(const SplitDimension& d) const {
    return along_[static_cast<std::size_t>(&d - tiles_.dims.data())];
  }
  Expr count_of(const SplitDimension& d) const { return name(along(d).tiles); }
  Expr extent(const SplitDimension& d) const { return rows_.extent(d.dim); }

  Expr tiles_along(const SplitDimension& d) const {
    const Expr pixels = kernel::add(extent(d), literal(plan::pixels_beyond(tiles_, d)));
    return kernel::max(kernel::div(pixels, literal(d.pitch)), literal(0));
  }
  Expr all_tiles(std::size_t colours) const {
    Expr all = literal(static_cast<std::int64_t>(colours));
    for (const SplitDimension& d : tiles_.dims) all = kernel::mul(all, tiles_along(d));
    return all;
  }

  // ---- launches

  kernel::Launch launch(const Colours& colours, const std::string& comment, bool goes_on) {
    kernel::Function function{layout_.names.claim(context_.arrays[0][0].name.spelling() + "_split"),
                              fmt::format("Up to {} steps of '{}' from the step `{}` on, in {}.",
                                          tiles_.steps, result(), layout_.counter.spelling(), comment),
                              {},
                              {}};
    if (goes_on)
      function.comment += "\nThen those of the next band, in the upright tiles that stand on them.";
    Block& body = function.body;
    for (const SplitDimension& d : tiles_.dims) body.push_back({Let{along(d).tiles, tiles_along(d)}});
    body.push_back({Let{taken_, taken(literal(0))}});
    if (goes_on) body.push_back({Let{taken_next_, kernel::max(taken(literal(tiles_.steps)), literal(0))}});
    Block work = tile(colours, goes_on);
    kernel::Launch launch{function.name, all_tiles(colours.size())};
    if (is_of_blocks_) {
      body.push_back(
          {For{LoopKind::BlocksX, tile_, literal(0), all_tiles_by_name(colours.size()), std::move(work)}});
      launch.grid = grid_of_blocks(launch.count);
      launch.count = literal(1);
    } else {
      const Variables& variables = layout_.variables;
      function.parameters = {variables.first, variables.last};
      body.push_back(
          {For{LoopKind::Serial, tile_, name(variables.first), name(variables.last), std::move(work)}});
    }
    module_.functions.push_back(std::move(function));
    return launch;
  }

  /// Steps of the band that begins `after` steps after the counter.
  Expr taken(const Expr& after) const {
    const Expr begin = kernel::add(step(), after);
    return kernel::min(literal(tiles_.steps), kernel::sub(context_.steps, begin));
  }
  Expr step() const {
    return kernel::cast(ir::CastMode::Convert, Scalar::I64, name(layout_.counter, Scalar::I32));
  }

  Expr all_tiles_by_name(std::size_t colours) const {
    Expr all = literal(static_cast<std::int64_t>(colours));
    for (const SplitDimension& d : tiles_.dims) all = kernel::mul(all, count_of(d));
    return all;
  }

  /// What is done of the tile with the number `tile`.
  Block tile(const Colours& colours, bool goes_on) {
    Block block;
    Expr rest = name(tile_);
    for (const SplitDimension& d : tiles_.dims) {
      const Expr number = rem(rest, count_of(d));
      block.push_back({Let{along(d).tile, kernel::add(number, literal(plan::first_tile(tiles_)))}});
      rest = kernel::div(rest, count_of(d));
    }
    if (colours.size() > 1) block.push_back({Let{colour_, rest}});
    Block band;
    for (std::size_t d = 0; d < dims(); ++d)
      append_ends(band, tiles_.dims[d], shape_of(band, d, colours), literal(0));
    append_steps(band, literal(0), taken_);
    if (!goes_on) {
      kernel::append(block, std::move(band));
      return block;
    }
    block.push_back({kernel::Scope{std::move(band)}});
    Block next;
    for (const SplitDimension& d : tiles_.dims)
      append_ends(next, d, {.is_inverted = false}, literal(tiles_.origin_step(d)));
    append_steps(next, literal(tiles_.steps), taken_next_);
    block.push_back({kernel::Scope{std::move(next)}});
    return block;
  }

  /// Whether a tile is inverted along a dimension: known now, or when the kernel runs.
  struct Shape {
    bool is_inverted = false;
    Expr known_later = nullptr;

    Expr choose(const Expr& of_inverted, const Expr& of_upright) const {
      if (known_later) return kernel::select(known_later, of_inverted, of_upright);
      return is_inverted ? of_inverted : of_upright;
    }
  };
  Shape shape_of(Block& block, std::size_t dim, const Colours& colours) const {
    const auto is_inverted = [&](unsigned colour) { return (colour >> dim & 1U) != 0; };
    const auto inverted = std::count_if(colours.begin(), colours.end(), is_inverted);
    if (inverted == 0 || inverted == std::ssize(colours)) return {inverted > 0};
    Expr any;
    for (std::size_t c = 0; c < colours.size(); ++c) {
      if (!is_inverted(colours[c])) continue;
      const Expr is_it = kernel::binary(BinaryOp::Eq, name(colour_), literal(static_cast<std::int64_t>(c)));
      any = any ? kernel::binary(BinaryOp::Or, any, is_it) : is_it;
    }
    const kernel::Symbol& variable = along_[dim].is_inverted;
    block.push_back({Let{variable, any}});
    return {false, name(variable, Scalar::Bool)};
  }

  /// Where the tile begins and ends at the top of the band, in parts of a pixel, and by how many parts both ends move in
  /// each level below, for a colour that is known when the kernel runs. What fields are shifted by is not in it yet.
  void append_ends(Block& block, const SplitDimension& d, const Shape& shape,
                   const Expr& origin_moved) const {
    const Along& variables = along(d);
    const Expr k = name(variables.tile), unit = literal(tiles_.unit);
    const auto upright = plan::ends_of(tiles_, d, false, 0), inverted = plan::ends_of(tiles_, d, true, 0);
    Expr wider = literal(0);  // the last tile of a circle, behind its beginning
    if (d.wraps) {
      const Expr is_last = kernel::binary(BinaryOp::Eq, kernel::add(k, literal(1)), count_of(d));
      const Expr last_end = kernel::mul(count_of(d), literal(d.pitch));
      wider = kernel::mul(kernel::select(is_last, kernel::sub(extent(d), last_end), literal(0)), unit);
    }
    const Expr origin = kernel::add(rows_.begin(d.dim), kernel::add(origin_of(d), origin_moved));
    const auto at_top = [&](const plan::SplitBound& bound, const Expr& further) {
      const Expr of_tile = kernel::mul(k, literal(bound.of_tile));
      return kernel::add(kernel::add(of_tile, literal(bound.constant + d.shift[0])), further);
    };
    const auto let_end = [&](const kernel::Symbol& at, const kernel::Symbol& lean,
                             const plan::SplitBound& of_inverted, const plan::SplitBound& of_upright,
                             const Expr& upright_further) {
      const Expr parts = shape.choose(at_top(of_inverted, wider), at_top(of_upright, upright_further));
      block.push_back({Let{at, kernel::add(kernel::mul(origin, unit), parts)}});
      block.push_back({Let{lean, shape.choose(literal(of_inverted.of_level), literal(of_upright.of_level))}});
    };
    let_end(variables.begin, variables.begin_lean, inverted.first, upright.first, literal(0));
    let_end(variables.end, variables.end_lean, inverted.second, upright.second, wider);
  }

  /// Of a band, pixels from the box's first. On a circle the first tile begins far enough inside.
  Expr origin_of(const SplitDimension& d) const {
    if (d.wraps) return literal(plan::first_on_circle(tiles_, d));
    if (!is_fused()) return literal(0);
    const Expr band = kernel::div(step(), literal(tiles_.steps));
    return rem(kernel::mul(band, literal(tiles_.origin_step(d))), literal(d.pitch));
  }

  // ---- steps

  /// The steps of the band that begins `after` steps after the counter; `taken` says how many.
  void append_steps(Block& block, const Expr& after, const kernel::Symbol& taken) {
    const int turn = tiles_.turn;
    const kernel::Symbol number = layout_.names.local("done");
    For steps{LoopKind::Serial, number, literal(0), name(taken), {}};
    if (turn > 1) steps.step = literal(turn);
    layout_.step_variable = layout_.names.local("now");
    for (int phase = 0; phase < turn; ++phase) {
      Block one;
      const Expr done = kernel::add(name(number), literal(phase));
      const Expr left = kernel::sub(kernel::sub(name(taken), done), literal(1));
      one.push_back({Let{layout_.step_variable, kernel::add(step(), kernel::add(done, after))}});
      place(phase);
      for (const std::size_t f : in_order(tiles_)) {
        // Levels to the top of the band.
        const Expr levels = kernel::add(kernel::mul(left, literal(tiles_.levels)),
                                        literal(tiles_.levels - 1 - tiles_.level[f]));
        one.push_back({kernel::Scope{pixels_of(f, levels)}});
      }
      steps.body.push_back({kernel::Scope{std::move(one)}});
    }
    layout_.step_variable = {};
    block.push_back({std::move(steps)});
  }

  /// Where values lie in a step, with `steps_before` steps before it: each age in the array that had its turn then.
  void place(int steps_before) {
    for (std::size_t f = 0; f < context_.evolution.fields.size(); ++f) {
      const ir::Evolving& field = context_.evolution.fields[f];
      const auto& arrays = context_.arrays[f];
      const auto of_age = [&](int age) {
        const auto count = static_cast<std::int64_t>(arrays.size());
        return arrays[static_cast<std::size_t>(((age - steps_before - 1) % count + count) % count)];
      };
      layout_.arrays[field.update.get()] = of_age(0);
      for (std::size_t age = 0; age < field.past.size(); ++age) {
        if (field.past[age]) layout_.arrays[field.past[age].get()] = of_age(static_cast<int>(age));
      }
    }
  }

  /// All of the tile's pixels of a field in the level that lies `levels` below the top of the band.
  Block pixels_of(std::size_t f, const Expr& levels) {
    const ir::Stage& update = *context_.evolution.fields[f].update;
    const Rows rows(update.box, layout_);
    const int rank = rows.rank();
    Block block;
    const kernel::Symbol below = layout_.names.local("levels");
    block.push_back({Let{below, levels}});
    std::vector<Expr> from, to;
    std::vector<const SplitDimension*> circles;
    for (int d = 0; d < rank; ++d) {
      from.push_back(rows.begin(d)), to.push_back(rows.end(d));
    }
    for (const SplitDimension& d : tiles_.dims) {
      const auto end = [&](const kernel::Symbol& at, const kernel::Symbol& lean) {
        const Expr parts =
            kernel::add(name(at), kernel::sub(kernel::mul(name(lean), name(below)), literal(d.shift[f])));
        if (tiles_.unit == 1) return parts;
        return kernel::index_call(kernel::IndexOp::FloorDiv, kernel::add(parts, literal(tiles_.unit - 1)),
                                  literal(tiles_.unit));
      };
      const auto at = static_cast<std::size_t>(d.dim);
      const Along& own = along(d);
      Expr first = end(own.begin, own.begin_lean), last = end(own.end, own.end_lean);
      if (d.wraps) {
        // What goes on beyond the last pixel begins again at the first.
        circles.push_back(&d);
        block.push_back({Let{own.at, first}});
        block.push_back({Let{own.until, last}});
        const Expr turned = kernel::mul(name(own.round), extent(d));
        first = kernel::sub(name(own.at), turned), last = kernel::sub(name(own.until), turned);
      }
      from[at] = kernel::max(first, from[at]), to[at] = kernel::min(last, to[at]);
    }
    Block pixels = is_of_blocks_ ? by_threads(update, rows, from, to) : by_rows(update, from, to);
    for (const SplitDimension* d : circles)
      pixels = {{For{LoopKind::Serial, along(*d).round, literal(0), literal(2), std::move(pixels)}}};
    kernel::append(block, std::move(pixels));
    return block;
  }

  KernelContext of_update(const ir::Stage& update, const plan::KernelPlan& plan) const {
    return {plan, {&update}, context_.names, layout_, module_, context_.architecture};
  }

  /// On a core, row by row.
  Block by_rows(const ir::Stage& update, const std::vector<Expr>& from, const std::vector<Expr>& to) {
    Block block = row_of_stage(of_update(update, context_.plan), from[0], to[0]);
    for (std::size_t d = 1; d < from.size(); ++d)
      block = {{For{LoopKind::Serial, layout_.variables.coords[d], from[d], to[d], std::move(block)}}};
    return block;
  }

  /// In a block, shared out among its threads.
  Block by_threads(const ir::Stage& update, const Rows& rows, const std::vector<Expr>& from,
                   const std::vector<Expr>& to) {
    Block block;
    ExpressionLowering expressions(of_update(update, context_.plan), update, Place::Thread, rows.coords());
    const ArrayLayout& array = layout_.arrays.at(&update);
    Block pixel;
    store_pixel(expressions, pixel, std::get<ir::Pure>(update.definition).cases, array.name,
                kernel::add(rows.row_offset(array), rows.x_offset(rows.coords()[0], array)));
    const kernel::Symbol first = layout_.names.local("x_first"), count = layout_.names.local("x_count"),
                         thread = layout_.names.local("thread");
    block.push_back({Let{first, from[0]}});
    block.push_back({Let{count, kernel::max(kernel::sub(to[0], name(first)), literal(0))}});
    For pixels{LoopKind::Threads, thread, literal(0), name(count), {}};
    if (from.size() == 1) {
      pixels.body.push_back({Let{rows.coordinate(0), kernel::add(name(first), name(thread))}});
      kernel::append(pixels.body, std::move(pixel));
    } else {
      // As many rows at a time as make enough threads; a thread goes down a column, and divides once.
      const Expr enough = kernel::div(literal(context_.plan.level(plan::LevelKind::Block)->extent[0].fixed()),
                                      kernel::max(name(count), literal(1)));
      const kernel::Symbol at_once = layout_.names.local("rows_at_once");
      block.push_back({Let{at_once, kernel::max(enough, literal(1))}});
      pixels.to = kernel::mul(name(count), name(at_once));
      pixels.body.push_back(
          {Let{rows.coordinate(0), kernel::add(name(first), rem(name(thread), name(count)))}});
      const Expr first_row = kernel::add(from[1], kernel::div(name(thread), name(count)));
      For down{LoopKind::Serial, rows.coordinate(1), first_row, to[1], std::move(pixel), name(at_once)};
      Block column{{std::move(down)}};
      for (std::size_t d = 2; d < from.size(); ++d)
        column = {{For{LoopKind::Serial, layout_.variables.coords[d], from[d], to[d], std::move(column)}}};
      kernel::append(pixels.body, std::move(column));
    }
    block.push_back({std::move(pixels)});
    return block;
  }

  const SplitContext& context_;
  const plan::SplitTiles& tiles_;
  Layout& layout_;
  kernel::Module& module_;
  const ir::Box& box_;
  const Rows rows_;
  const bool is_of_blocks_;
  const Colours upright_ = {0};
  const std::vector<Along> along_ = variables_along();
  const kernel::Symbol tile_ = layout_.names.local("tile"), colour_ = layout_.names.local("colour");
  const kernel::Symbol taken_ = layout_.names.local("taken"), taken_next_ = layout_.names.local("taken_next");
};

}  // namespace

std::vector<kernel::Turns> lower_split(const SplitContext& context) { return SplitLowering(context).run(); }

}  // namespace weft::lower

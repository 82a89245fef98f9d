// A warp's tiles (plan/warp_strip.h): each lane computes some neighbouring pixels of every row.
//
//     for batch from y0 - 4 to y1, by 3:        ten batches of three rows, unrolled: (k + 2) % 3 is a number
//       for k in 0, 1, 2:                       row y = batch + k
//         in_rows[(k + 2) % 3] = in_next[k]     what was loaded three rows ago
//         in_next[k] = row y + 5 of in          16 bytes for each lane
//         the columns beside these              shuffles
//         gx_rows[(k + 1) % 3] = …              a pass
//         out = …                               16 bytes for each lane that is no other tile's, too
//
// Or a batch has one row, and rows move up: in_rows[0] = in_rows[1], in_rows[1] = in_rows[2]. That is a third of the code, and
// each launch fetches its code anew.
//
// A static tile that lies inside is computed stage by stage instead: the first rows of a source stay in registers, and a
// lane keeps its pixels of the others in shared memory until a pass gets to what reads them.
//
//     for k in 0 … 11:            row y0 - 2 + k of in: to in_rows[k], or from the sixth on to in_rest
//     for k in 0 … 9:             row k + 2 of in_rest back to in_rows, with the columns beside it; gx = …
//     for k in 0 … 7:             out = …
//
// Rows whose sources all lie inside of an image do just that. Strips at the ends of rows have batches of their own,
// where the lanes at the ends take what borders find beyond them from their own pixels. That takes rows that are aligned,
// and ends between lanes. Other strips, and rows near the top and the bottom of an image, go the same way one by one, with
// tests for each pixel: they load by the border, and replace what was computed beyond the ends of a stage by what its
// border finds, in other lanes or other rows.
#include <weft/error.h>

#include <algorithm>
#include <map>
#include <numeric>
#include <optional>

#include "ir/build.h"
#include "ir/visit.h"
#include "lower/lane_code.h"
#include "lower/lanes_by_stages.h"
#include "lower/lower_stage.h"
#include "lower/strip_blocks.h"
#include "lower/tile_owner.h"
#include "plan/warp_strip.h"

namespace weft::lower {

using plan::lanes_of_warp;

namespace {

class WarpTiles : public TileOwner, private LanesByStages {
 public:
  explicit WarpTiles(const Tile& tile) : LanesByStages(tile) {}

  std::string comment() const override {
    const std::string members = tile_.named_sources(true);
    const std::string begin = "'" + result_.name + "'" + (members.empty() ? "" : " with " + members);
    if (tile_.is_static())
      return begin + ". Each warp computes a tile of " + std::to_string(tile_.width()) + "x" +
             std::to_string(batch()) + " pixels, " + std::to_string(pixels_of(nullptr)) +
             " a lane, all of a stage\nbefore the next, and keeps " + std::to_string(tile_.plan().share) +
             " % of the rows of " + tile_.named_sources(false) +
             " in registers, the others in shared memory.";
    const std::string pixels = std::to_string(pixels_of(nullptr)), width = std::to_string(tile_.width());
    if (tile_.is_of_volume()) {
      const std::string lines = std::to_string(tile_.plan().lines());
      return begin + ". Each warp goes through planes of " + width + "x" + lines + " pixels, " + pixels +
             "x" + lines + " a lane, and keeps the planes of\n" + tile_.named_sources(false) +
             " in registers while they are read.";
    }
    return begin + ". Each warp goes down a strip of " + width + " pixels, " + pixels +
           " a lane, and keeps the rows of\n" + tile_.named_sources(false) +
           " in registers while they are read.";
  }

  void declare(kernel::LocalArray rows, Block& block) override {
    rows.is_zeroed = true;  // what is computed too early reads what nobody has stored
    block.push_back({std::move(rows)});
  }

  kernel::Function begin() override {
    const std::string& array = tile_.array().name.spelling();
    kernel::Function function{tile_.layout().names.claim(array + "_kernel"), "", {}, {}};
    if (const plan::Extent height = tile_.plan().height(); height.step > 0)
      room_ =
          kernel::Room{tile_.layout().names.claim(array + "_room"), tile_.plan().registers, height.enough};
    for_images([&](const Source& image) {
      const int rows = loaded() * image.kept.rate[1];
      function.body.push_back(
          {kernel::LocalArray{next_of(image), type_of_next(image), rows * next_in_plane(image)}});
    });
    for (const Source& source : tile_.sources()) {
      const plan::Kept& kept = source.kept;
      const int rows = kept.rows - kept.resident.value_or(kept.rows);
      if (rows == 0) continue;
      kernel::LocalArray rest{rest_of(source), kept.type.scalar, rows * tile_.plan().row_of_lanes(kept)};
      rest.storage = kernel::Storage::Shared, rest.is_aligned = true;
      function.body.push_back({std::move(rest)});
    }
    return function;
  }

  void go_through(kernel::Function& function, const Expr&, Block work) override {
    const StripBlocks blocks(tile_, variables_.next, room());
    const kernel::Symbol all = tile_.layout().names.local(tile_.is_of_volume() ? "planes" : "rows");
    function.body.push_back({Let{all, blocks.height()}});
    Block tile;
    if (!has_single_rows()) {
      tile.push_back({Let{variables_.step0, in_steps(name(tile_.from(1)), 1)}});
      tile.push_back({Let{variables_.step1, in_steps(name(tile_.until(1)), 1)}});
    }
    kernel::append(tile, std::move(work));
    Block strip;
    For along = blocks.down(strip, name(all), std::move(tile));
    strip.push_back({Let{variables_.first, kernel::sub(step_of_tile(), literal(halo_.left * steps_))}});
    strip.push_back({Let{variables_.left, kernel::add(name(variables_.first),
                                                      kernel::mul(name(variables_.lane), literal(steps_)))}});
    strip.push_back({Let{variables_.has_result, between(literal(halo_.left), name(variables_.lane),
                                                        literal(lanes_of_warp - halo_.right))}});
    strip.push_back({std::move(along)});
    function.body.push_back({For{LoopKind::Lanes,
                                 variables_.lane,
                                 literal(0),
                                 literal(lanes_of_warp),
                                 {{blocks.across(std::move(strip))}}}});
  }

  kernel::Launch launch_of(const kernel::Function& function, const Expr&) override {
    kernel::Grid grid = StripBlocks(tile_, variables_.next, room()).grid();
    grid.room = room_;
    grid.at_a_time = plan::warps_to_leave_registers_for(tile_.plan(), tile_.context().architecture);
    return {function.name, literal(1), grid};
  }

  Block go_down(const std::function<Block()>& rows) override {
    return tile_.is_static() ? stage_by_stage(rows) : march(rows);
  }

  /// Rows with tests, batches without where all that they read and compute lies inside, and again rows with tests.
  Block march(const std::function<Block()>& rows) {
    Block block;
    const Expr end_of_steps = end_of_tile(), from = first_step();
    const auto let = [&](const kernel::Symbol& variable, const Expr& value, Scalar type = Scalar::I64) {
      block.push_back({Let{variable, value}});
      return name(variable, type);
    };
    const Inside inside = where_inside(block);
    const Expr in_lanes = let(variables_.in_lanes, inside.lanes, Scalar::Bool);
    const Expr is_inside = let(variables_.is_inside, inside.columns, Scalar::Bool);
    const Expr first_inside = kernel::min(kernel::max(inside.first_steps), end_of_steps);
    const Expr has_batches = kernel::both(in_lanes, ends_below_beginnings());
    const Expr begin = let(variables_.inner, kernel::select(has_batches, first_inside, end_of_steps));
    const Expr all = kernel::max(kernel::sub(kernel::min(inside.end_steps), begin), literal(0));
    const Expr turns = kernel::mul(kernel::div(all, literal(batch())), literal(batch()));
    const Expr end = let(variables_.inner_end, kernel::add(begin, turns));

    for_images([&](const Source& image) {
      block.push_back({Let{variables_of(&image).column, column_of_lane(image)}});
    });
    const Tests ends{.columns = true, .lines = tile_.is_of_volume()};
    if (Block whole = first_rows(ends); !whole.empty()) {
      Expr begins_inside = kernel::both(equal(begin, from), less(begin, end));
      for_images([&](const Source& image) {
        const Rows of_image(image.stage.box, tile_.layout());
        const Expr first = row_of_step(&image.kept, from, 0);
        begins_inside = kernel::both(begins_inside, at_most(of_image.begin(down()), first));
      });
      block.push_back({If{begins_inside, std::move(whole), first_rows(all_tests())}});
    }
    // Variables that change, so that nothing else of the first turn is in registers during the batches.
    block.push_back({Let{variables_.from, from, true}});
    block.push_back({Let{variables_.until, begin, true}});
    const Expr until = name(variables_.until);
    Block part;
    part.push_back({For{LoopKind::Serial, step(), name(variables_.from), until, row_by_row(rows)}});
    const auto in_batches = [&](const Expr& is_chosen, const Tests& tests) {
      tests_ = tests, moves_ = tile_.plan().moves_rows();
      const Expr first = kernel::select(is_chosen, until, end);
      Block each =
          moves_ ? moved_up() : Block{{Let{step(), kernel::add(name(variables_.batch), name(variables_.k))}}};
      kernel::append(each, rows());
      if (moves_)
        part.push_back({For{LoopKind::Rolled, step(), first, end, std::move(each)}});
      else
        part.push_back({For{LoopKind::Serial,
                            variables_.batch,
                            first,
                            end,
                            {{unrolled(variables_.k, batch(), std::move(each))}},
                            literal(batch())}});
    };
    in_batches(is_inside, {});
    in_batches(kernel::unary(ir::UnaryOp::Not, is_inside), ends);
    part.push_back({kernel::Assign{variables_.from, end}});
    part.push_back({kernel::Assign{variables_.until, end_of_steps}});
    block.push_back({For{LoopKind::Serial, variables_.part, literal(0), literal(2), std::move(part)}});
    return block;
  }

  /// Where all lies inside all rows of a stage and then of the next; else row by row, with tests.
  Block stage_by_stage(const std::function<Block()>& rows) {
    Block block;
    const Inside inside = where_inside(block);
    block.push_back({Let{variables_.in_lanes, inside.lanes}});
    for_images([&](const Source& image) {
      block.push_back({Let{variables_of(&image).column, column_of_lane(image)}});
    });
    Block edges = first_rows(all_tests());
    edges.push_back(
        {For{LoopKind::Serial, rows_.coordinate(1), first_step(), name(tile_.until(1)), row_by_row(rows)}});
    tests_ = {}, moves_ = false, is_by_stages_ = true;
    Block whole = rows();
    is_by_stages_ = false, latest_ = nullptr;
    const Expr is_whole = kernel::both(kernel::both(name(variables_.in_lanes, Scalar::Bool), inside.columns),
                                       tile_.is_inside(1));
    block.push_back({If{is_whole, std::move(whole), std::move(edges)}});
    return block;
  }

  /// Where the pixels of a pass go, and the cases of their values that there can be.
  struct Target {
    kernel::Symbol array;
    Expr offset;
    std::vector<ir::Case> cases;
  };

  /// The code for one of several rows, whose names are its own.
  static Block one_of(int rows, Block block) {
    return rows == 1 ? std::move(block) : Block{{kernel::Scope{std::move(block)}}};
  }

  /// The rows that were loaded some steps ago take their places, and others are loaded. Of a tile stage by stage all rows.
  Block rows_of_image(const Source& image) override {
    if (is_by_stages_) return all_rows_of_image(image);
    const plan::Kept& kept = image.kept;
    const int rows_of_step = kept.rate[1], in_plane = next_in_plane(image);
    const Expr j = name(variables_.j), in_next = next_of_line(image);
    Block block;
    for (int number = 0; number < rows_of_step; ++number) {
      const Expr own = own_of_step(image, number);
      const Expr next = kernel::add(due(image, number), in_next);
      const kernel::Store unpacked{image.array, kernel::add(own, j),
                                   loaded_scalar(image, next_of(image), next, j)};
      kernel::append(block, each_line(&kept, {{unrolled(variables_.j, scalars_of(image), {{unpacked}})}}));
    }
    const int moving = (loaded() - 1) * rows_of_step * in_plane;
    if (moves_ && moving > 0)
      block.push_back(
          moved(next_of(image), type_of_next(image), literal(0), literal(rows_of_step * in_plane), moving));
    // Below the last one that is needed there is nothing to load: caches have that.
    const Expr last_needed = row_of_step(&kept, end_of_tile(), -1);
    const Expr later = kernel::add(name(step()), literal(loaded()));
    for (int number = 0; number < rows_of_step; ++number) {
      const Expr at = moves_ ? literal(moving + number * in_plane) : due(image, number);
      const Expr row = kernel::min(row_of_step(&kept, later, number), last_needed);
      kernel::append(block, one_of(rows_of_step, load_lines(image, row, at)));
    }
    for (number_ = 0; number_ < rows_of_step; ++number_)
      kernel::append(block, one_of(rows_of_step, each_line(&kept, columns_beside(image))));
    number_ = 0;
    return block;
  }

  Block rows_of_pass(const Tile::Stages& pass) override {
    if (is_by_stages_) return all_rows_of_pass(pass);
    return tile_.plan().has_one_rate() ? row_of_pass(pass) : rows_of_step(pass);
  }

  Block row_of_pass(const Tile::Stages& pass) {
    Tile::PassLanes members = tile_.lanes_of(pass);
    const PlacedLanes& first = *members.front();
    const Source* kept = tile_.source(*pass.front());
    const plan::Kept* own = kept ? &kept->kept : nullptr;
    const int ahead = kept ? kept->kept.ahead : 0, per_pixel = first.per_pixel();
    const Rows of_first(first.stage().domain(), tile_.layout());

    Block work;
    const std::vector<Expr> row = coordinates_of_pass(kept, work);
    // What is computed beyond the ends reads other images at some pixel of theirs.
    const Expr left = kernel::mul(left_of(own), literal(per_pixel));
    Expr x = kernel::add(left, name(i()));
    if (tests_.columns) x = limited(x, of_first.begin(0), kernel::sub(of_first.end(0), literal(1)));
    const std::vector<kernel::Symbol> places = places_of_pass(pass, row, of_first, work);
    std::vector<Expr> coords{name(rows_.coordinate(0))};
    for (const kernel::Symbol& place : places) coords.push_back(name(place));
    ExpressionLowering expressions = tile_.expressions(first.stage(), Place::Thread, std::move(coords));
    if (pass.size() > 1) {
      Tile::Stages others;
      for (std::size_t m = 1; m < members.size(); ++m) others.push_back(&members[m]->stage());
      expressions.share_with(others);
    }
    const auto kept_rows = [&](const Source& source) -> ExpressionLowering::KeptRows {
      return {source.array,
              [this, &source, places, ahead, kept](const std::vector<Expr>& at) {
                const Expr& y = at.back();
                const kernel::Symbol& place = places.back();
                const std::optional<int> below = distance_below(y, place);
                if (is_by_stages_) {
                  const Expr further = below ? literal(*below) : kernel::sub(y, name(place));
                  const Expr number =
                      kernel::add(name(variables_.k), literal(first_of(kept) - first_of(&source)));
                  return slot(source.kept, kernel::add(number, further));
                }
                const Expr start = below ? row_start(source.kept, ahead + *below)
                                         : row_start(source.kept, ahead, kernel::sub(y, name(place)));
                if (!tile_.is_of_volume()) return start;
                return kernel::add(start, line_read(kept, source, at.front(), places.front()));
              },
              [&source](const Expr& at) { return Tile::at(source.kept, at); },
              false,
              1,
              nullptr,
              ((kept ? kept->kept.first_column : 0) - source.kept.first_column) * per_pixel};
    };
    expressions.keep_rows(tile_.rows_of(members, kept_rows), literal(0));

    const int scalars = steps_ * per_pixel;
    std::vector<Target> targets;
    kernel::Symbol stored;
    for (std::size_t m = 0; m < members.size(); ++m) {
      const Source* source = tile_.source(*pass[m]);
      const Expr at = kernel::mul(name(i()), literal(members[m]->stage().type.lanes));
      if (!source) {
        stored =
            expressions.claim(tile_.array().name.spelling() + (tile_.is_of_volume() ? "_plane" : "_pack"));
        const Expr first_of_line = tile_.is_of_volume()
                                       ? kernel::mul(name(variables_.line), literal(scalars_of_result()))
                                       : literal(0);
        if (!tile_.is_of_volume())
          work.push_back({kernel::LocalArray{stored, result_.type.scalar, scalars_of_result()}});
        targets.push_back({stored, kernel::add(first_of_line, at), cases_of(*pass[m], members[m]->stage())});
        continue;
      }
      if (is_by_stages_) {
        const kernel::Symbol& pixels = variables_of(source).own;
        work.push_back({kernel::LocalArray{pixels, source->kept.type.scalar, scalars_of(*source)}});
        targets.push_back({pixels, at, cases_of(*pass[m], members[m]->stage())});
        continue;
      }
      targets.push_back(
          {source->array, kernel::add(own_of_step(*source, 0), at), cases_of(*pass[m], members[m]->stage())});
    }
    Block loops;
    expressions.open(loops, &work);
    std::vector<ir::Expr> roots;
    for (const Target& target : targets) {
      if (target.cases.size() == 1) roots.push_back(target.cases[0].value);
    }
    for (const ir::Fold* fold : expressions.strip_folds(roots))
      expressions.fold_over_strip(*fold, loops, left, literal(scalars), scalars);
    For each = unrolled(i(), scalars, {{Let{rows_.coordinate(0), x}}});
    expressions.open(each.body);
    expressions.number_neighbours(0, kernel::div(name(i()), literal(per_pixel)));
    for (const Target& target : targets)
      store_pixel(expressions, each.body, target.cases, target.array, target.offset);
    expressions.close();
    expressions.close();
    loops.push_back({std::move(each)});
    kernel::append(work, std::move(loops));
    for (const ir::Stage* stage : pass) {
      const Source* source = tile_.source(*stage);
      if (source && is_by_stages_) {
        const kernel::Symbol& pixels = variables_of(source).own;
        kernel::append(work, kept_row(*source, pixels));
        if (source->kept.is_stored) work.push_back({store_of_member(pixels, *source, row)});
      } else if (source) {
        kernel::append(work, after_row(*source, row, expressions));
      }
    }
    if (!kept && !tile_.is_of_volume())
      work = made_and_stored(pass, row, std::move(work), {store_of_lane(stored, tile_.array(), row)});
    if (!tile_.is_of_volume()) return {{kernel::Scope{std::move(work)}}};
    if (!kept) return plane_of_result(pass, stored, std::move(work));
    Block plane = each_line(own, std::move(work));
    for (const ir::Stage* stage : pass) {
      const Source& source = *tile_.source(*stage);
      kernel::append(plane, after_plane(source, row_of_step(&source.kept, name(step()), 0)));
    }
    return plane;
  }

  /// Around the work for each of its rows, which is stored when all are there: between ways that part no compiler would
  /// mix the instructions of one row with those of the next.
  Block plane_of_result(const Tile::Stages& pass, const kernel::Symbol& plane, Block work) {
    const int scalars = scalars_of_result();
    const kernel::Symbol& pack = variables_of(nullptr).pack;
    const Expr j = name(variables_.j),
               from = kernel::add(kernel::mul(name(variables_.line), literal(scalars)), j);
    Block line;
    const std::vector<Expr> row = coordinates_of_pass(nullptr, line);
    line.push_back({kernel::LocalArray{pack, result_.type.scalar, scalars}});
    const kernel::Store own{pack, j, kernel::load(plane, result_.type.scalar, from)};
    line.push_back({unrolled(variables_.j, scalars, {{own}})});
    kernel::Stmt store = store_of_lane(pack, tile_.array(), row);
    const Expr is_needed = is_line_of_tile(row.front());
    line.push_back(is_needed ? kernel::Stmt{If{is_needed, {std::move(store)}, {}}} : std::move(store));
    if (const Expr is_own = is_line_of_tile(line_of(nullptr)); is_own && overwrites_what_it_reads(pass))
      work = Block{{If{is_own, std::move(work), {}}}};
    Block all{{kernel::LocalArray{plane, result_.type.scalar, scalars * lines_of(nullptr)}}};
    kernel::append(all, each_line(nullptr, std::move(work)));
    return {{kernel::Scope{made_and_stored(pass, row, std::move(all), each_line(nullptr, std::move(line)))}}};
  }

  /// Where the row of a pass is: appends what defines the variables.
  std::vector<Expr> coordinates_of_pass(const Source* kept, Block& work) const {
    std::vector<Expr> row;
    const auto let = [&](int d, const Expr& value) {
      const ArrayVariables& of_source = variables_of(kept);
      const kernel::Symbol& variable = !kept ? rows_.coordinate(d) : d == 1 ? of_source.y : of_source.z;
      work.push_back({Let{variable, value}});
      row.push_back(name(variable));
    };
    if (tile_.is_of_volume()) let(1, line_of(kept ? &kept->kept : nullptr));
    if (is_by_stages_)
      let(down(), kernel::add(name(tile_.from(1)), kernel::add(name(variables_.k), literal(first_of(kept)))));
    else if (kept)
      let(down(), kernel::add(name(marching()), literal(kept->kept.ahead)));
    else
      row.push_back(name(marching()));
    return row;
  }
  /// And where its pixels are taken to be: within the stage, where rows may be beyond its ends. Each is a variable.
  std::vector<kernel::Symbol> places_of_pass(const Tile::Stages& pass, const std::vector<Expr>& row,
                                             const Rows& of_stage, Block& work) const {
    const ArrayVariables& of_front = variables_of(tile_.source(*pass.front()));
    std::vector<kernel::Symbol> places;
    for (int d = 1; d <= down(); ++d) {
      const Expr& at = row[d - 1];
      places.push_back(std::get<kernel::Name>(at->op).name);
      if (!(d < down() ? tests_.lines : tests_.rows)) continue;
      places.back() = d < down() ? of_front.place_y : of_front.place;
      const Expr last = kernel::sub(of_stage.end(d), literal(1));
      work.push_back({Let{places.back(), limited(at, of_stage.begin(d), last)}});
    }
    return places;
  }
  /// From the beginning of a source's plane, the row that a pass reads for its own row, which is that variable.
  Expr line_read(const Source* own, const Source& source, const Expr& y, const kernel::Symbol& place) const {
    const std::int64_t first = own ? own->kept.window[1].min : 0;
    const std::optional<int> below = distance_below(y, place);
    const Expr further = below ? literal(*below) : kernel::sub(y, name(place));
    const Expr line = kernel::add(name(variables_.line), literal(first - source.kept.window[1].min));
    return kernel::mul(kernel::add(line, further), literal(source.kept.pitch));
  }

  Block rows_of_reduction(const TileReduction&, const PartOf&) override {
    throw InternalError("warps combine no elements");
  }

 private:
  // ---- stage by stage

  /// Rows that lie in shared memory come back one by one, as the pass gets to those that read them.
  Block all_rows_of_pass(const Tile::Stages& pass) {
    const Tile::PassLanes members = tile_.lanes_of(pass);
    const Source* kept = tile_.source(*pass.front());
    Block before, each;
    for (const Source& source : tile_.sources()) {
      const std::optional<plan::Reach> reach = rows_read(members, source.stage);
      if (!reach || *source.kept.resident == source.kept.rows) continue;
      const auto first = static_cast<int>(first_of(kept) - first_of(&source) + reach->min);
      const auto more = static_cast<int>(reach->extent()) - 1;
      const Expr number = kernel::add(name(variables_.k), literal(first));
      if (more > 0) before.push_back({unrolled(variables_.k, more, back_to_registers(source, number))});
      kernel::append(each, back_to_registers(source, kernel::add(number, literal(more))));
    }
    kernel::append(each, row_of_pass(pass));
    const int rows = tile_.rows_needed(kept ? &kept->kept : nullptr);
    before.push_back({unrolled(variables_.k, rows, std::move(each))});
    return before;
  }

  // ---- the way down

  /// With which a march begins.
  Expr first_step() const { return kernel::sub(begin_of_tile(), literal(steps_before())); }
  /// Those of the code for any row.
  Tests all_tests() const { return {.columns = true, .lines = tile_.is_of_volume(), .rows = true}; }

  // ---- rows of planes

  /// Where the latest row of a source begins, or that of a plane for which the code is.
  Expr own_of_step(const Source& source, int number) const {
    const Expr row = row_start(source.kept, source.kept.ahead + number);
    return kernel::add(kernel::add(row, in_plane(source.kept)), literal(source.kept.first));
  }
  /// From where what is loaded of a plane begins, that of the row.
  Expr next_of_line(const Source& image) const {
    return tile_.is_of_volume() ? kernel::mul(name(variables_.line), literal(next_in_row(image)))
                                : literal(0);
  }
  Block load_lines(const Source& image, const Expr& row, const Expr& at) const {
    return each_line(&image.kept, load(image, row, kernel::add(at, next_of_line(image))));
  }

  /// Loads those of images that a march begins with.
  Block first_rows(const Tests& tests) {
    tests_ = tests;
    Block loads;
    for_images([&](const Source& image) {
      Block each;
      for (int number = 0; number < image.kept.rate[1]; ++number) {
        const Expr row = row_of_step(&image.kept, kernel::add(first_step(), name(variables_.k)), number);
        const Expr place =
            kernel::add(kernel::mul(name(variables_.k), literal(image.kept.rate[1])), literal(number));
        const Expr at = kernel::mul(place, literal(next_in_plane(image)));
        kernel::append(each, one_of(image.kept.rate[1], load_lines(image, row, at)));
      }
      loads.push_back({unrolled(variables_.k, loaded(), std::move(each))});
    });
    return loads;
  }
  /// Whether the tile needs rows of all images, and not just what borders find above them. Batches load the last one that is
  /// needed wherever it is.
  Expr ends_below_beginnings() const {
    Expr all;
    for_images([&](const Source& image) {
      const Expr begin = Rows(image.stage.box, tile_.layout()).begin(down());
      all = kernel::both(all, at_most(begin, row_of_step(&image.kept, end_of_tile(), -1)));
    });
    return all;
  }
  /// What is done for a row with tests, after which the rows in registers have moved up.
  Block row_by_row(const std::function<Block()>& rows) {
    tests_ = all_tests(), moves_ = true;
    Block each = moved_up();
    kernel::append(each, rows());
    return each;
  }

  /// For how many strips the device has room at a time.
  Expr room() const { return room_ ? name(room_->field) : nullptr; }

  std::optional<kernel::Room> room_;  // once the function has begun
  bool is_by_stages_ = false;         // the code that is written now goes through a tile stage by stage
};

}  // namespace

std::unique_ptr<TileOwner> warp_of(const Tile& tile) { return std::make_unique<WarpTiles>(tile); }

}  // namespace weft::lower

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
#include <array>
#include <map>
#include <numeric>
#include <optional>

#include "ir/build.h"
#include "ir/visit.h"
#include "lower/lane_code.h"
#include "lower/lane_passes.h"
#include "lower/lower_stage.h"
#include "lower/tile_owner.h"
#include "plan/warp_strip.h"

namespace weft::lower {

using ir::BinaryOp;
using kernel::Block;
using kernel::Expr;
using kernel::For;
using kernel::If;
using kernel::Let;
using kernel::literal;
using kernel::LoopKind;
using kernel::name;
using plan::lanes_of_warp;

namespace {

class WarpTiles : public TileOwner, private LanePasses {
 public:
  explicit WarpTiles(const Tile& tile)
      : LanePasses(tile, {"next", "part", "inner", "inner_end", "is_inside", "has_result"}) {}

  std::string comment() const override {
    const std::string members = tile_.named_sources(true);
    const std::string begin = "'" + result_.name + "'" + (members.empty() ? "" : " with " + members);
    if (tile_.is_static())
      return begin + ". Each warp computes a tile of " + std::to_string(tile_.width()) + "x" +
             std::to_string(batch()) + " pixels, " + std::to_string(pixels_of(nullptr)) +
             " a lane, all of a stage\nbefore the next, and keeps " + std::to_string(tile_.plan().share) +
             " % of the rows of " + tile_.named_sources(false) +
             " in registers, the others in shared memory.";
    return begin + ". Each warp goes down a strip of " + std::to_string(tile_.width()) + " pixels, " +
           std::to_string(pixels_of(nullptr)) + " a lane, and keeps the rows of\n" +
           tile_.named_sources(false) + " in registers while they are read.";
  }

  void declare(kernel::LocalArray rows, Block& block) override {
    rows.is_zeroed = true;  // what is computed too early reads what nobody has stored
    block.push_back({std::move(rows)});
  }

  kernel::Function begin() override {
    kernel::Function function{tile_.layout().names.claim(tile_.array().name + "_kernel"), "", {}, {}};
    for_images([&](const Source& image) {
      const int rows = loaded() * image.kept.rate[1];
      function.body.push_back(
          {kernel::LocalArray{next_of(image), type_of_next(image), rows * next_in_row(image)}});
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
    const Expr rows = name("rows");
    function.body.push_back({Let{"rows", tile_.height(side_by_side(), nullptr)}});
    const Expr end = tile_.steps().whole(rows_.end(1), 1);
    Block tile;
    tile.push_back({Let{"y1", kernel::min(kernel::add(name("y0"), rows), end)}});
    if (!has_single_rows()) {
      for (const char* y : {"y0", "y1"})
        tile.push_back({Let{local(y == std::string("y0") ? "step0" : "step1"), in_steps(name(y), 1)}});
    }
    kernel::append(tile, std::move(work));
    // Loops over what there is one block of for each would take registers. A grid has a block for results without pixels, too.
    const bool has_room = tile_.plan().height().step > 0;
    const Expr has_pixels = kernel::both(less(var("next"), rows_.end(0)), less(name("y0"), rows_.end(1)));
    if (has_room) tile = {{If{has_pixels, std::move(tile), {}}}};
    For down{LoopKind::BlocksY, "y0", tile_.steps().origin(1), rows_.end(1), std::move(tile), rows, has_room};
    // Blocks start in order, and strips at the ends of rows take longest: the last one comes before the first.
    const Expr width = literal(tile_.width()), next = var("next"), begin = rows_.begin(0);
    const Expr before_end = kernel::sub(rows_.extent(0), literal(1));
    const Expr last =
        kernel::add(begin, kernel::sub(before_end, kernel::binary(BinaryOp::Rem, before_end, width)));
    Block strip;
    strip.push_back({Let{"x0", kernel::select(equal(next, begin), last, kernel::sub(next, width))}});
    strip.push_back({Let{"first", kernel::sub(step_of_tile(), literal(halo_.left * steps_))}});
    strip.push_back({Let{"left", kernel::add(name("first"), kernel::mul(var("lane"), literal(steps_)))}});
    strip.push_back({Let{local("has_result"),
                         between(literal(halo_.left), var("lane"), literal(lanes_of_warp - halo_.right))}});
    strip.push_back({std::move(down)});
    For across{LoopKind::BlocksX, local("next"), begin, rows_.end(0), std::move(strip), width, has_room};
    function.body.push_back(
        {For{LoopKind::Lanes, local("lane"), literal(0), literal(lanes_of_warp), {{std::move(across)}}}});
  }

  kernel::Launch launch_of(const kernel::Function& function, const Expr&) override {
    const Expr columns = side_by_side();
    const Expr down = tile_.height(columns, nullptr,
                                   [&](const Expr& rows) { return parts(tile_.steps().extent(1), rows); });
    kernel::Grid grid{{columns, down, literal(1)}, {1, 1, 1}, kernel::Sharing::Lanes, lanes_of_warp};
    grid.at_a_time = plan::warps_to_leave_registers_for(tile_.plan());
    return {function.name, literal(1), grid};
  }

  Block go_down(const std::function<Block()>& rows) override {
    return tile_.is_static() ? stage_by_stage(rows) : march(rows);
  }

  /// Rows with tests, batches without where all that they read and compute lies inside, and again rows with tests.
  Block march(const std::function<Block()>& rows) {
    Block block;
    const Expr end_of_steps = end_of_tile(), from = first_step();
    const auto let = [&](const std::string& wanted, const Expr& value, Scalar type = Scalar::I64) {
      block.push_back({Let{local(wanted), value}});
      return var(wanted, type);
    };
    const Inside inside = where_inside(block);
    const Expr in_lanes = let("in_lanes", inside.lanes, Scalar::Bool);
    const Expr is_inside = let("is_inside", inside.columns, Scalar::Bool);
    const Expr first_inside = kernel::min(kernel::max(inside.first_steps), end_of_steps);
    const Expr begin = let("inner", kernel::select(in_lanes, first_inside, end_of_steps));
    const Expr all = kernel::max(kernel::sub(kernel::min(inside.end_steps), begin), literal(0));
    const Expr turns = kernel::mul(kernel::div(all, literal(batch())), literal(batch()));
    const Expr end = let("inner_end", kernel::add(begin, turns));

    for_images([&](const Source& image) {
      block.push_back({Let{local(memory_of(image).name + "_column"), column_of_lane(image)}});
    });
    if (Block whole = first_rows({.columns = true}); !whole.empty()) {
      Expr begins_inside = kernel::both(equal(begin, from), less(begin, end));
      for_images([&](const Source& image) {
        const Rows of_image(image.stage.box, tile_.layout());
        const Expr first = row_of_step(&image.kept, from, 0);
        begins_inside = kernel::both(begins_inside, at_most(of_image.begin(1), first));
      });
      block.push_back({If{begins_inside, std::move(whole), first_rows({.columns = true, .rows = true})}});
    }
    Block each_row = row_by_row(rows);
    const Expr is_above = equal(var("part"), literal(0));
    Block part;
    part.push_back({For{LoopKind::Serial, step(), kernel::select(is_above, from, end),
                        kernel::select(is_above, begin, end_of_steps), std::move(each_row)}});
    const auto in_batches = [&](const Expr& is_chosen, const Tests& tests) {
      tests_ = tests;
      Block each{{Let{step(), kernel::add(name("batch"), var("k"))}}};
      kernel::append(each, rows());
      part.push_back({For{LoopKind::Serial,
                          "batch",
                          kernel::select(kernel::both(is_above, is_chosen), begin, end),
                          end,
                          {{unrolled(local("k"), batch(), std::move(each))}},
                          literal(batch())}});
    };
    in_batches(is_inside, {});
    in_batches(kernel::unary(ir::UnaryOp::Not, is_inside), {.columns = true});
    block.push_back({For{LoopKind::Serial, local("part"), literal(0), literal(2), std::move(part)}});
    return block;
  }

  /// Where all lies inside all rows of a stage and then of the next; else row by row, with tests.
  Block stage_by_stage(const std::function<Block()>& rows) {
    Block block;
    const Inside inside = where_inside(block);
    block.push_back({Let{local("in_lanes"), inside.lanes}});
    for_images([&](const Source& image) {
      block.push_back({Let{local(memory_of(image).name + "_column"), column_of_lane(image)}});
    });
    Block edges = first_rows({.columns = true, .rows = true});
    edges.push_back({For{LoopKind::Serial, "y", first_step(), name("y1"), row_by_row(rows)}});
    tests_ = {}, is_by_stages_ = true;
    Block whole = rows();
    is_by_stages_ = false, latest_ = nullptr;
    const Expr is_whole =
        kernel::both(kernel::both(var("in_lanes", Scalar::Bool), inside.columns), tile_.is_inside(1));
    block.push_back({If{is_whole, std::move(whole), std::move(edges)}});
    return block;
  }

  /// Where the pixels of a pass go, and the cases of their values that there can be.
  struct Target {
    std::string array;
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
    const int rows_of_step = kept.rate[1], in_row = next_in_row(image);
    const Expr j = var("j");
    Block block;
    for (int number = 0; number < rows_of_step; ++number) {
      const Expr own = kernel::add(row_start(kept, kept.ahead + number), literal(kept.first));
      const kernel::Store unpacked{image.array, kernel::add(own, j),
                                   loaded_scalar(image, next_of(image), due(image, number), j)};
      block.push_back({unrolled(local("j"), scalars_of(image), {{unpacked}})});
    }
    const int moving = (loaded() - 1) * rows_of_step * in_row;
    if (tests_.rows && moving > 0)
      block.push_back(
          moved(next_of(image), type_of_next(image), literal(0), literal(rows_of_step * in_row), moving));
    // Below the last one that is needed there is nothing to load: caches have that.
    const Expr last_needed = row_of_step(&kept, end_of_tile(), -1);
    const Expr later = kernel::add(name(step()), literal(loaded()));
    for (int number = 0; number < rows_of_step; ++number) {
      const Expr at = tests_.rows ? literal(moving + number * in_row) : due(image, number);
      kernel::append(
          block,
          one_of(rows_of_step, load(image, kernel::min(row_of_step(&kept, later, number), last_needed), at)));
    }
    for (number_ = 0; number_ < rows_of_step; ++number_)
      kernel::append(block, one_of(rows_of_step, columns_beside(image)));
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
    const std::string row = kept ? local(memory_of(*kept).name + "_y") : "y";
    const int ahead = kept ? kept->kept.ahead : 0, per_pixel = first.per_pixel();
    const Rows of_first(first.stage().domain(), tile_.layout());

    Block work;
    if (is_by_stages_)
      work.push_back({Let{row, kernel::add(name("y0"), kernel::add(var("k"), literal(first_of(kept))))}});
    else if (kept)
      work.push_back({Let{row, kernel::add(name("y"), literal(ahead))}});
    // What is computed beyond the ends reads other images at some pixel of theirs.
    const Expr left = kernel::mul(left_of(kept ? &kept->kept : nullptr), literal(per_pixel));
    Expr x = kernel::add(left, name("i"));
    std::string place = row;
    if (tests_.columns) x = limited(x, of_first.begin(0), kernel::sub(of_first.end(0), literal(1)));
    if (tests_.rows) {
      place = local(tile_.layout().arrays.at(pass.front()).name + "_place");
      work.push_back(
          {Let{place, limited(name(row), of_first.begin(1), kernel::sub(of_first.end(1), literal(1)))}});
    }
    ExpressionLowering expressions =
        tile_.expressions(first.stage(), Place::Thread, {name("x"), name(place)});
    reserve(expressions);
    if (pass.size() > 1) {
      Tile::Stages others;
      for (std::size_t m = 1; m < members.size(); ++m) others.push_back(&members[m]->stage());
      expressions.share_with(others);
    }
    const auto kept_rows = [&](const Source& source) -> ExpressionLowering::KeptRows {
      return {source.array,
              [this, &source, place, ahead, kept](const std::vector<Expr>& coords) {
                const Expr& y = coords.front();
                const std::optional<int> below = distance_below(y, place);
                if (is_by_stages_) {
                  const Expr further = below ? literal(*below) : kernel::sub(y, name(place));
                  const Expr number = kernel::add(var("k"), literal(first_of(kept) - first_of(&source)));
                  return slot(source.kept, kernel::add(number, further));
                }
                if (below) return row_start(source.kept, ahead + *below);
                return row_start(source.kept, ahead, kernel::sub(y, name(place)));
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
    std::string stored;
    for (std::size_t m = 0; m < members.size(); ++m) {
      const Source* source = tile_.source(*pass[m]);
      const Expr at = kernel::mul(name("i"), literal(members[m]->stage().type.lanes));
      if (!source) {
        stored = expressions.claim(tile_.array().name + "_pack");
        work.push_back({kernel::LocalArray{stored, result_.type.scalar, scalars_of_result()}});
        targets.push_back({stored, at, cases_of(*pass[m], members[m]->stage())});
        continue;
      }
      if (is_by_stages_) {
        const std::string& own = local(memory_of(*source).name + "_own");
        work.push_back({kernel::LocalArray{own, source->kept.type.scalar, scalars_of(*source)}});
        targets.push_back({own, at, cases_of(*pass[m], members[m]->stage())});
        continue;
      }
      const Expr first_own = kernel::add(row_start(source->kept, ahead), literal(source->kept.first));
      targets.push_back({source->array, kernel::add(first_own, at), cases_of(*pass[m], members[m]->stage())});
    }
    Block loops;
    expressions.open(loops, &work);
    std::vector<ir::Expr> roots;
    for (const Target& target : targets) {
      if (target.cases.size() == 1) roots.push_back(target.cases[0].value);
    }
    for (const ir::Fold* fold : expressions.strip_folds(roots))
      expressions.fold_over_strip(*fold, loops, left, literal(scalars), scalars);
    For each = unrolled("i", scalars, {{Let{"x", x}}});
    expressions.open(each.body);
    for (const Target& target : targets)
      store_pixel(expressions, each.body, target.cases, target.array, target.offset);
    expressions.close();
    expressions.close();
    loops.push_back({std::move(each)});
    kernel::append(work, std::move(loops));
    for (const ir::Stage* stage : pass) {
      const Source* source = tile_.source(*stage);
      if (source && is_by_stages_) {
        const std::string& own = local(memory_of(*source).name + "_own");
        kernel::append(work, kept_row(*source, own));
        if (source->kept.is_stored)
          work.push_back({store(own, memory_of(*source), name(row), source->kept.ahead)});
      } else if (source) {
        kernel::append(work, after_row(*source, name(row), expressions));
      }
    }
    if (!kept) work.push_back({store(stored, tile_.array(), name("y"))});
    return {{kernel::Scope{std::move(work)}}};
  }

  Block rows_of_reduction(const TileReduction&, const PartOf&) override {
    throw InternalError("warps combine no elements");
  }

 private:
  // ---- stage by stage

  const std::string& rest_of(const Source& source) const { return local(memory_of(source).name + "_rest"); }
  /// The first row of a source that a tile needs, from y0 on; of the result, if null.
  static int first_of(const Source* source) { return source ? static_cast<int>(source->kept.down().min) : 0; }
  /// Where a row, by its number, begins in registers: if it stays there at its place, else where it comes back to.
  Expr slot(const plan::Kept& kept, const Expr& number) const {
    const int resident = *kept.resident;
    const Expr back = slot_of_guest(kept, number);
    const Expr slot = resident == kept.rows ? number
                      : resident == 0       ? back
                                            : kernel::select(less(number, literal(resident)), number, back);
    return kernel::mul(slot, literal(kept.pitch));
  }
  static Expr slot_of_guest(const plan::Kept& kept, const Expr& number) {
    const Expr resident = literal(*kept.resident);
    const Expr turn = kernel::binary(BinaryOp::Rem, kernel::sub(number, resident), literal(kept.least_rows));
    return kernel::add(resident, turn);
  }
  /// A lane's pixels of a row in shared memory, which no other lane reads.
  Expr place_of_rest(const Source& source, const Expr& number) const {
    const Expr row = kernel::mul(kernel::sub(number, literal(*source.kept.resident)),
                                 literal(tile_.plan().row_of_lanes(source.kept)));
    return kernel::add(row, kernel::mul(var("lane"), literal(scalars_of(source))));
  }
  /// From an array to a row in registers, with the columns beside them.
  Block to_registers(const Source& source, const Expr& slot, const std::string& own) {
    latest_ = kernel::mul(slot, literal(source.kept.pitch));
    const Expr j = var("j");
    const kernel::Store store{source.array, kernel::add(own_at(source, literal(0), 0), j),
                              kernel::load(own, source.kept.type.scalar, j)};
    Block block{{unrolled(local("j"), scalars_of(source), {{store}})}};
    kernel::append(block, columns_beside(source));
    return block;
  }
  /// The row with the number k, where it lies until it is read.
  Block kept_row(const Source& source, const std::string& own) {
    const Expr k = var("k");
    const kernel::StorePack away{own, rest_of(source), place_of_rest(source, k), literal(scalars_of(source)),
                                 true};
    const int resident = *source.kept.resident;
    if (resident == 0) return {{away}};
    Block stays = to_registers(source, k, own);
    if (resident == source.kept.rows) return stays;
    return {{If{less(k, literal(resident)), std::move(stays), {{away}}}}};
  }
  Block back_to_registers(const Source& source, const Expr& number) {
    const std::string& own = local(memory_of(source).name + "_next_row");
    Block back{{kernel::LoadPack{own, rest_of(source), source.kept.type.scalar, scalars_of(source),
                                 place_of_rest(source, number), literal(scalars_of(source)), true}}};
    kernel::append(back, to_registers(source, slot_of_guest(source.kept, number), own));
    if (*source.kept.resident == 0) return back;
    return {{If{at_most(literal(*source.kept.resident), number), std::move(back), {}}}};
  }

  Block all_rows_of_image(const Source& image) {
    const Rows rows(image.stage.box, tile_.layout());
    const Expr row = kernel::add(name("y0"), kernel::add(var("k"), literal(first_of(&image)))), j = var("j");
    const Expr above = kernel::mul(kernel::sub(row, rows.begin(1)), name(memory_of(image).strides[0]));
    const Expr column = kernel::mul(kernel::sub(left_of(&image.kept), rows.begin(0)), literal(image.lanes()));
    const std::string& own = local(memory_of(image).name + "_own");
    const kernel::LoadPack pack = pack_of_lane(image, kernel::add(above, column));
    Block each{{pack}};
    if (has_words(image)) {
      each.push_back({kernel::LocalArray{own, image.kept.type.scalar, scalars_of(image)}});
      const kernel::Store unpacked{own, j, loaded_scalar(image, pack.name, literal(0), j)};
      each.push_back({unrolled(local("j"), scalars_of(image), {{unpacked}})});
    }
    kernel::append(each, kept_row(image, has_words(image) ? own : pack.name));
    return {{unrolled(local("k"), tile_.rows_needed(&image.kept), std::move(each))}};
  }

  /// Rows below its own pixel that a pass reads of a source; nothing if it does not read it.
  static std::optional<plan::Reach> rows_read(const Tile::PassLanes& pass, const ir::Stage& source) {
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
      const Expr number = kernel::add(var("k"), literal(first));
      if (more > 0) before.push_back({unrolled(local("k"), more, back_to_registers(source, number))});
      kernel::append(each, back_to_registers(source, kernel::add(number, literal(more))));
    }
    kernel::append(each, row_of_pass(pass));
    const int rows = tile_.rows_needed(kept ? &kept->kept : nullptr);
    before.push_back({unrolled(local("k"), rows, std::move(each))});
    return before;
  }

  // ---- the way down

  /// With which a march begins.
  Expr first_step() const { return kernel::sub(begin_of_tile(), literal(steps_before())); }
  /// Strips beside each other, the first of which begins with the result.
  Expr side_by_side() const { return parts(rows_.extent(0), literal(tile_.width())); }

  /// Loads those of images that a march begins with.
  Block first_rows(const Tests& tests) {
    tests_ = tests;
    Block loads;
    for_images([&](const Source& image) {
      Block each;
      for (int number = 0; number < image.kept.rate[1]; ++number) {
        const Expr row = row_of_step(&image.kept, kernel::add(first_step(), var("k")), number);
        const Expr place = kernel::add(kernel::mul(var("k"), literal(image.kept.rate[1])), literal(number));
        const Expr at = kernel::mul(place, literal(next_in_row(image)));
        kernel::append(each, one_of(image.kept.rate[1], load(image, row, at)));
      }
      loads.push_back({unrolled(local("k"), loaded(), std::move(each))});
    });
    return loads;
  }
  /// What is done for a row with tests, after which the rows in registers have moved up.
  Block row_by_row(const std::function<Block()>& rows) {
    tests_ = {.columns = true, .rows = true};
    Block each;
    for (const Source& source : tile_.sources()) {
      const plan::Kept& kept = source.kept;
      const int rows_of_step = kept.rate[1];
      if (const int moving = (rows_in_turn(kept) - rows_of_step) * kept.pitch; moving > 0)
        each.push_back(
            moved(source.array, kept.type.scalar, literal(0), literal(rows_of_step * kept.pitch), moving));
    }
    kernel::append(each, rows());
    return each;
  }

  bool is_by_stages_ = false;  // the code that is written now goes through a tile stage by stage
};

}  // namespace

std::unique_ptr<TileOwner> warp_of(const Tile& tile) { return std::make_unique<WarpTiles>(tile); }

}  // namespace weft::lower

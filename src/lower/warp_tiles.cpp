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
#include "lower/lower_stage.h"
#include "lower/shared_images.h"
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

using Source = Tile::Source;

Expr less(const Expr& a, const Expr& b) { return kernel::binary(BinaryOp::Lt, a, b); }
Expr at_most(const Expr& a, const Expr& b) { return kernel::binary(BinaryOp::Le, a, b); }
Expr equal(const Expr& a, const Expr& b) { return kernel::binary(BinaryOp::Eq, a, b); }
Expr between(const Expr& least, const Expr& value, const Expr& end) {
  return kernel::both(at_most(least, value), less(value, end));
}
Expr either(const Expr& a, const Expr& b) { return kernel::binary(BinaryOp::Or, a, b); }
Expr limited(const Expr& value, const Expr& least, const Expr& most) {
  return kernel::min(kernel::max(value, least), most);
}

Expr converted(Scalar to, const Expr& value) { return kernel::cast(ir::CastMode::Convert, to, value); }
For unrolled(const std::string& variable, int count, Block body) {
  return {LoopKind::Unrolled, variable, literal(0), literal(count), std::move(body)};
}

/// How far a row is below the one of that name, if that is a number.
std::optional<int> distance(const Expr& row, const std::string& from) {
  const auto is_from = [&](const Expr& e) {
    const auto* n = std::get_if<kernel::Name>(&e->op);
    return n && n->name == from;
  };
  if (is_from(row)) return 0;
  const auto* sum = std::get_if<kernel::Binary>(&row->op);
  const auto more = sum && is_from(sum->a) ? kernel::literal_value(sum->b) : std::nullopt;
  if (more && sum->op == BinaryOp::Add) return static_cast<int>(*more);
  if (more && sum->op == BinaryOp::Sub) return static_cast<int>(-*more);
  return std::nullopt;
}

constexpr int furthest_turns = 64;  // of rows: what is needed is not further away

/// The widest access that so many scalars can be divided into, in bytes: as the emitted Pack has it.
int access_bytes(Scalar type, int scalars) {
  const int bytes = scalars * size_of(type);
  return bytes % 16 == 0 ? 16 : bytes % 8 == 0 ? 8 : bytes % 4 == 0 ? 4 : size_of(type);
}

class WarpTiles : public TileOwner {
 public:
  explicit WarpTiles(const Tile& tile)
      : tile_(tile),
        result_(tile.result()),
        rows_(tile.rows()),
        pixels_(tile.plan().level(plan::LevelKind::Lane)->extent[0].fixed()),
        halo_(plan::halo_lanes(tile.plan())) {
    const auto claim = [&](const std::string& wanted) {
      locals_[wanted] = tile.layout().names.claim(wanted);
    };
    for (const char* wanted : {"lane", "k", "j", "next", "part", "inner", "inner_end", "in_lanes",
                               "is_inside", "has_result", "across", "found", "is_there", "b"})
      claim(wanted);
    claim(tile.array().name + "_place");
    for (const Source& source : tile.sources()) {
      for (const char* what : {"_y", "_place", "_next", "_next_row", "_above", "_column", "_own", "_rest"})
        claim(memory_of(source).name + what);
    }
  }

  std::string comment() const override {
    const std::string members = tile_.named_sources(true);
    return "'" + result_.name + "'" + (members.empty() ? "" : " with " + members) +
           ". Each warp goes down a strip of " + std::to_string(tile_.width()) + " pixels, " +
           std::to_string(pixels_) + " a lane, and keeps the rows of\n" + tile_.named_sources(false) +
           " in registers while they are read.";
  }

  void declare(kernel::LocalArray rows, Block& block) override {
    rows.is_zeroed = true;  // what is computed too early reads what nobody has stored
    block.push_back({std::move(rows)});
  }

  kernel::Function begin() override {
    kernel::Function function{tile_.layout().names.claim(tile_.array().name + "_kernel"), "", {}, {}};
    for_images([&](const Source& image) {
      function.body.push_back(
          {kernel::LocalArray{next_of(image), type_of_next(image), loaded() * next_in_row(image)}});
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
    function.body.push_back({Let{"rows", tile_.height(tile_.columns_of_tiles(), nullptr)}});
    Block tile;
    tile.push_back({Let{"y1", kernel::min(kernel::add(name("y0"), rows), rows_.end(1))}});
    kernel::append(tile, std::move(work));
    // Loops over what there is one block of for each would take registers. A grid has a block for results without pixels, too.
    const bool has_room = tile_.plan().height().step > 0;
    const Expr has_pixels = kernel::both(less(var("next"), rows_.end(0)), less(name("y0"), rows_.end(1)));
    if (has_room) tile = {{If{has_pixels, std::move(tile), {}}}};
    For down{LoopKind::BlocksY, "y0", rows_.begin(1), rows_.end(1), std::move(tile), rows, has_room};
    // Blocks start in order, and strips at the ends of rows take longest: the last one comes before the first.
    const Expr width = literal(tile_.width()), next = var("next"), begin = rows_.begin(0);
    const Expr before_end = kernel::sub(rows_.extent(0), literal(1));
    const Expr last =
        kernel::add(begin, kernel::sub(before_end, kernel::binary(BinaryOp::Rem, before_end, width)));
    Block strip;
    strip.push_back({Let{"x0", kernel::select(equal(next, begin), last, kernel::sub(next, width))}});
    strip.push_back({Let{"first", kernel::sub(name("x0"), literal(halo_.left * pixels_))}});
    strip.push_back({Let{"left", kernel::add(name("first"), kernel::mul(var("lane"), literal(pixels_)))}});
    strip.push_back({Let{local("has_result"),
                         between(literal(halo_.left), var("lane"), literal(lanes_of_warp - halo_.right))}});
    strip.push_back({std::move(down)});
    For across{LoopKind::BlocksX, local("next"), begin, rows_.end(0), std::move(strip), width, has_room};
    function.body.push_back(
        {For{LoopKind::Lanes, local("lane"), literal(0), literal(lanes_of_warp), {{std::move(across)}}}});
  }

  kernel::Launch launch_of(const kernel::Function& function, const Expr&) override {
    const Expr columns = tile_.columns_of_tiles();
    const Expr down =
        tile_.height(columns, nullptr, [&](const Expr& rows) { return parts(rows_.extent(1), rows); });
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
    const Expr y1 = name("y1"), from = first_row();
    const auto let = [&](const std::string& wanted, const Expr& value, Scalar type = Scalar::I64) {
      block.push_back({Let{local(wanted), value}});
      return var(wanted, type);
    };
    const Inside inside = where_inside(block);
    const Expr in_lanes = let("in_lanes", inside.lanes, Scalar::Bool);
    const Expr is_inside = let("is_inside", inside.columns, Scalar::Bool);
    const Expr first_inside = kernel::min(kernel::max(inside.first_rows), y1);
    const Expr begin = let("inner", kernel::select(in_lanes, first_inside, y1));
    const Expr all = kernel::max(kernel::sub(kernel::min(inside.end_rows), begin), literal(0));
    const Expr turns = kernel::mul(kernel::div(all, literal(batch())), literal(batch()));
    const Expr end = let("inner_end", kernel::add(begin, turns));

    for_images([&](const Source& image) {
      block.push_back({Let{local(memory_of(image).name + "_column"), column_of_lane(image)}});
    });
    if (Block whole = first_rows({.columns = true}); !whole.empty()) {
      Expr begins_inside = kernel::both(equal(begin, from), less(begin, end));
      for_images([&](const Source& image) {
        const Rows of_image(image.stage.box, tile_.layout());
        const Expr first = kernel::add(from, literal(image.kept.ahead));
        begins_inside = kernel::both(begins_inside, at_most(of_image.begin(1), first));
      });
      block.push_back({If{begins_inside, std::move(whole), first_rows({.columns = true, .rows = true})}});
    }
    Block each_row = row_by_row(rows);
    const Expr is_above = equal(var("part"), literal(0));
    Block part;
    part.push_back({For{LoopKind::Serial, "y", kernel::select(is_above, from, end),
                        kernel::select(is_above, begin, y1), std::move(each_row)}});
    const auto in_batches = [&](const Expr& is_chosen, const Tests& tests) {
      tests_ = tests;
      Block each{{Let{"y", kernel::add(name("batch"), var("k"))}}};
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
    edges.push_back({For{LoopKind::Serial, "y", first_row(), name("y1"), row_by_row(rows)}});
    tests_ = {}, is_by_stages_ = true;
    Block whole = rows();
    is_by_stages_ = false;
    const Expr is_whole =
        kernel::both(kernel::both(var("in_lanes", Scalar::Bool), inside.columns), tile_.is_inside());
    block.push_back({If{is_whole, std::move(whole), std::move(edges)}});
    return block;
  }

  /// Which ends the code looks for: those of rows, and the first and last rows of an image.
  struct Tests {
    bool columns = false, rows = false;
  };

  /// Where the pixels of a pass go, and the cases of their values that there can be.
  struct Target {
    std::string array;
    Expr offset;
    std::vector<ir::Case> cases;
  };

  /// The row that was loaded some rows ago takes its place, and another is loaded. Of a tile stage by stage all rows.
  Block rows_of_image(const Source& image) override {
    if (is_by_stages_) return all_rows_of_image(image);
    const plan::Kept& kept = image.kept;
    const Expr own = kernel::add(row_start(kept, kept.ahead), literal(kept.first)), j = var("j");
    const kernel::Store unpacked{image.array, kernel::add(own, j),
                                 loaded_scalar(image, next_of(image), due(image), j)};
    Block block{{unrolled(local("j"), scalars_of(image), {{unpacked}})}};
    Expr last = due(image);
    if (tests_.rows && loaded() > 1) {
      const int in_row = next_in_row(image), moving = (loaded() - 1) * in_row;
      block.push_back(moved(next_of(image), type_of_next(image), literal(0), literal(in_row), moving));
      last = literal(moving);
    }
    // Below the last one that is needed there is nothing to load: caches have that.
    const Expr ahead = kernel::add(name("y"), literal(kept.ahead + loaded()));
    kernel::append(block,
                   load(image, kernel::min(ahead, kernel::add(name("y1"), literal(kept.ahead - 1))), last));
    kernel::append(block, columns_beside(image));
    return block;
  }

  Block rows_of_pass(const Tile::Stages& pass) override {
    return is_by_stages_ ? all_rows_of_pass(pass) : row_of_pass(pass);
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
    const Expr left = kernel::mul(name("left"), literal(per_pixel));
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
                const std::optional<int> below = distance(y, place);
                if (is_by_stages_) {
                  const Expr further = below ? literal(*below) : kernel::sub(y, name(place));
                  const Expr number = kernel::add(var("k"), literal(first_of(kept) - first_of(&source)));
                  return slot(source.kept, kernel::add(number, further));
                }
                if (below) return row_start(source.kept, ahead + *below);
                return row_start(source.kept, ahead, kernel::sub(y, name(place)));
              },
              [&source](const Expr& at) { return Tile::at(source.kept, at); }, false};
    };
    expressions.keep_rows(tile_.rows_of(members, kept_rows), literal(0));

    const int scalars = pixels_ * per_pixel;
    std::vector<Target> targets;
    std::string stored;
    for (std::size_t m = 0; m < members.size(); ++m) {
      const Source* source = tile_.source(*pass[m]);
      const Expr at = kernel::mul(name("i"), literal(members[m]->stage().type.lanes));
      if (!source) {
        stored = expressions.claim(tile_.array().name + "_pack");
        work.push_back({kernel::LocalArray{stored, result_.type.scalar, scalars_of(result_.type)}});
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
        kernel::append(work, what_borders_find_in_row(*source, name(row), expressions));
        kernel::append(work, columns_beside(*source));
        kernel::append(work, what_borders_find_in_rows(*source, name(row)));
        if (source->kept.is_stored) kernel::append(work, store_row(*source, name(row)));
      }
    }
    if (!kept) work.push_back({store(stored, tile_.array(), name("y"))});
    return {{kernel::Scope{std::move(work)}}};
  }

  Block rows_of_reduction(const TileReduction&, const PartOf&) override {
    throw InternalError("warps combine no elements");
  }

 private:
  // ---- sizes

  /// After the last column of all lanes.
  Expr end_of_strip() const { return kernel::add(name("first"), literal(lanes_of_warp * pixels_)); }
  int batch() const { return tile_.batch(); }
  int loaded() const { return tile_.plan().prefetch; }
  int scalars_of(Type type) const { return pixels_ * type.lanes; }
  int scalars_of(const Source& source) const { return scalars_of(source.kept.type); }
  const ArrayLayout& memory_of(const Source& source) const { return tile_.layout().arrays.at(&source.stage); }

  template <class F>
  void for_images(const F& f) const {
    for (const Source& source : tile_.sources()) {
      if (!source.kept.is_member) f(source);
    }
  }
  /// The array of the rows of an image that are loaded.
  const std::string& next_of(const Source& image) const { return local(memory_of(image).name + "_next"); }

  /// Small scalars wait together in words: taken apart when they come, a row would be waited for at once.
  static int scalars_in_word(const Source& image) {
    const Scalar type = image.kept.type.scalar;
    return is_float(type) || type == Scalar::Bool ? 1 : 4 / std::min(4, size_of(type));
  }
  bool has_words(const Source& image) const {
    return scalars_in_word(image) > 1 && scalars_of(image) % scalars_in_word(image) == 0;
  }
  Scalar type_of_next(const Source& image) const {
    return has_words(image) ? Scalar::U32 : image.kept.type.scalar;
  }
  int next_in_row(const Source& image) const {
    return scalars_of(image) / (has_words(image) ? scalars_in_word(image) : 1);
  }
  Expr loaded_scalar(const Source& image, const std::string& next, const Expr& from, const Expr& j) const {
    const Scalar type = image.kept.type.scalar;
    if (!has_words(image)) return kernel::load(next, type, kernel::add(from, j));
    const Expr in_word = literal(scalars_in_word(image));
    const Expr word = kernel::load(next, Scalar::U32, kernel::add(from, kernel::div(j, in_word)));
    const Expr bits = kernel::mul(kernel::binary(BinaryOp::Rem, j, in_word), literal(8 * size_of(type)));
    return kernel::cast(ir::CastMode::Convert, type,
                        kernel::binary(BinaryOp::Shr, word, converted(Scalar::U32, bits)));
  }

  /// The function's own names, which are not those of a lowering's locals.
  void reserve(ExpressionLowering& expressions) const {
    for (const auto& [wanted, claimed] : locals_) expressions.claim(claimed);
  }
  const std::string& local(const std::string& wanted) const { return locals_.at(wanted); }
  Expr var(const std::string& wanted, Scalar type = Scalar::I64) const { return name(local(wanted), type); }

  // ---- rows in registers

  /// Rows that take each other's place in registers.
  static int rows_in_turn(const plan::Kept& kept) { return kept.resident ? kept.least_rows : kept.rows; }
  /// Where the row begins that is so many below the current one. In batches rows stay where they are and
  /// loops are unrolled, so that this is a number; else they move up by one with each row, in less code. Before a batch
  /// and after it the latest row is the last, as it is between such rows.
  Expr row_start(const plan::Kept& kept, int below) const {
    const int from_last = below - kept.ahead;
    if (tests_.rows) return literal((from_last + rows_in_turn(kept) - 1) * kept.pitch);
    return kernel::mul(turn(kept.rows, from_last), literal(kept.pitch));
  }
  /// And as many further below as a loop over the taps of a window says.
  Expr row_start(const plan::Kept& kept, int below, const Expr& further) const {
    const Expr pitch = literal(kept.pitch);
    if (tests_.rows) return kernel::add(row_start(kept, below), kernel::mul(further, pitch));
    const int bias = below - kept.ahead + kept.rows * furthest_turns;
    const Expr k = kernel::add(var("k"), kernel::add(further, literal(bias)));
    return kernel::mul(kernel::binary(BinaryOp::Rem, k, literal(kept.rows)), pitch);
  }
  /// Likewise of what is loaded: of the row that is due.
  Expr due(const Source& image) const {
    return tests_.rows ? literal(0) : kernel::mul(turn(loaded(), 0), literal(next_in_row(image)));
  }
  Expr turn(int rows, int below) const {
    if (rows == 1) return literal(0);
    const Expr k = kernel::add(var("k"), literal((below % rows + rows) % rows));
    return kernel::binary(BinaryOp::Rem, k, literal(rows));
  }
  /// One scalar of a pixel of the latest row, by its number in the lane; those before and after are other lanes'.
  Expr own_at(const Source& source, const Expr& pixel, int l) const {
    const Expr row = is_by_stages_ ? latest_ : row_start(source.kept, source.kept.ahead);
    const Expr own = kernel::add(row, literal(source.kept.first));
    return kernel::add(kernel::add(own, kernel::mul(pixel, literal(source.lanes()))), literal(l));
  }
  Expr own(const Source& source, const Expr& pixel, int l) const {
    return kernel::load(source.array, source.kept.type.scalar, own_at(source, pixel, l));
  }
  /// array[to] and on = array[from] and on, so many.
  kernel::Stmt moved(const std::string& array, Scalar type, const Expr& to, const Expr& from,
                     int count) const {
    const Expr j = var("j");
    return {unrolled(
        local("j"), count,
        {{kernel::Store{array, kernel::add(to, j), kernel::load(array, type, kernel::add(from, j))}}})};
  }

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
    const Expr column = kernel::mul(kernel::sub(name("left"), rows.begin(0)), literal(image.lanes()));
    const std::string& pack = local(memory_of(image).name + "_next_row");
    const std::string& own = local(memory_of(image).name + "_own");
    const int count = next_in_row(image);
    Block each{{kernel::LoadPack{pack, memory_of(image).name, type_of_next(image), count,
                                 kernel::add(above, column), literal(count), true, has_words(image)}}};
    if (has_words(image)) {
      each.push_back({kernel::LocalArray{own, image.kept.type.scalar, scalars_of(image)}});
      const kernel::Store unpacked{own, j, loaded_scalar(image, pack, literal(0), j)};
      each.push_back({unrolled(local("j"), scalars_of(image), {{unpacked}})});
    }
    kernel::append(each, kept_row(image, has_words(image) ? own : pack));
    return {{unrolled(local("k"), image.kept.rows, std::move(each))}};
  }

  /// Rows below its own pixel that a pass reads of a source.
  static plan::Reach rows_read(const Tile::PassLanes& pass, const ir::Stage& source) {
    plan::Reach reach;
    for (const auto& lanes : pass) {
      for (const ir::Expr& e : ir::reads(lanes->stage())) {
        const auto& read = std::get<ir::Read>(e->op);
        if (read.source->name != source.name) continue;
        const auto footprint = plan::footprint_in_image(read);
        reach = {std::min(reach.min, (*footprint)[1].min), std::max(reach.max, (*footprint)[1].max)};
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
      const bool is_read = std::any_of(members.begin(), members.end(), [&](const auto& lanes) {
        const std::vector<ir::Expr> reads = ir::reads(lanes->stage());
        return std::any_of(reads.begin(), reads.end(), [&](const ir::Expr& e) {
          return std::get<ir::Read>(e->op).source->name == source.stage.name;
        });
      });
      if (!is_read || *source.kept.resident == source.kept.rows) continue;
      const plan::Reach reach = rows_read(members, source.stage);
      const auto first = static_cast<int>(first_of(kept) - first_of(&source) + reach.min);
      const auto more = static_cast<int>(reach.extent()) - 1;
      const Expr number = kernel::add(var("k"), literal(first));
      if (more > 0) before.push_back({unrolled(local("k"), more, back_to_registers(source, number))});
      kernel::append(each, back_to_registers(source, kernel::add(number, literal(more))));
    }
    kernel::append(each, row_of_pass(pass));
    const int rows = batch() + (kept ? static_cast<int>(kept->kept.down().extent()) - 1 : 0);
    before.push_back({unrolled(local("k"), rows, std::move(each))});
    return before;
  }

  // ---- the way down

  /// With which a march begins.
  Expr first_row() const { return kernel::sub(name("y0"), literal(tile_.plan().before)); }

  /// Loads those of images that a march begins with.
  Block first_rows(const Tests& tests) {
    tests_ = tests;
    Block loads;
    for_images([&](const Source& image) {
      const Expr row = kernel::add(kernel::add(first_row(), literal(image.kept.ahead)), var("k"));
      const Expr at = kernel::mul(var("k"), literal(next_in_row(image)));
      loads.push_back({unrolled(local("k"), loaded(), load(image, row, at))});
    });
    return loads;
  }
  /// What is done for a row with tests, after which the rows in registers have moved up.
  Block row_by_row(const std::function<Block()>& rows) {
    tests_ = {.columns = true, .rows = true};
    Block each;
    for (const Source& source : tile_.sources()) {
      const plan::Kept& kept = source.kept;
      if (const int moving = (rows_in_turn(kept) - 1) * kept.pitch; moving > 0)
        each.push_back(moved(source.array, kept.type.scalar, literal(0), literal(kept.pitch), moving));
    }
    kernel::append(each, rows());
    return each;
  }

  /// Where nothing has to be tested.
  struct Inside {
    Expr columns;  ///< Whether those of the strip are.
    Expr lanes;    ///< Whether ends of rows lie between lanes, and what those load is aligned.
    std::vector<Expr> first_rows, end_rows;  ///< Of the result: from the largest to before the least.
  };
  /// Of the tile: all that lanes load lies inside of images, and all that they compute inside of what has a border, and
  /// in the first of two cases.
  Inside where_inside(Block& block) const {
    // What is made of nothing and has no borders lies inside everywhere.
    Inside inside{nullptr, nullptr, {kernel::sub(name("y0"), literal(tile_.plan().before))}, {name("y1")}};
    std::vector<Expr> tests, whole;
    const auto add_to = [](std::vector<Expr>& list, const Expr& e) {
      const bool is_known =
          std::any_of(list.begin(), list.end(), [&](const Expr& o) { return kernel::same(o, e); });
      if (!is_known) list.push_back(e);
    };
    const Expr x0 = name("x0"), first = name("first");
    const auto columns_of = [&](const ir::Box& box) {
      const Rows rows(box, tile_.layout());
      add_to(tests, at_most(rows.begin(0), first));
      add_to(tests, at_most(end_of_strip(), rows.end(0)));
      return rows;
    };
    const auto rows_between = [&](const Expr& begin, const Expr& end, int ahead) {
      add_to(inside.first_rows, kernel::sub(begin, literal(ahead)));
      add_to(inside.end_rows, kernel::sub(end, literal(ahead)));
    };
    const auto ends_between_lanes = [&](const Rows& rows, bool is_round = false) {
      const auto is_between = [&](const Expr& end) {
        const Expr distance = kernel::sub(end, name("first"));
        return equal(kernel::binary(BinaryOp::Rem, distance, literal(pixels_)), literal(0));
      };
      const Expr begins = at_most(rows.begin(0), first), ends = at_most(end_of_strip(), rows.end(0));
      // A strip's first lane with a result begins where the result does, or some lanes further.
      const bool is_known = kernel::same(rows.begin(0), rows_.begin(0));
      if (is_round) {
        add_to(whole, either(kernel::both(begins, ends),
                             kernel::both(is_between(rows.end(0)), is_between(rows.begin(0)))));
      } else {
        if (!is_known) add_to(whole, either(begins, is_between(rows.begin(0))));
        add_to(whole, either(ends, is_between(rows.end(0))));
      }
    };
    const auto border_in_lanes = [&](const Source& source, const Rows& rows) {
      const std::optional<int> needed = pixels_for_border(source);
      if (!needed) {
        add_to(whole, at_most(rows.begin(0), first));
        add_to(whole, at_most(end_of_strip(), rows.end(0)));
      } else if (*needed > pixels_) {
        add_to(whole, at_most(literal(*needed), rows.extent(0)));
      }
    };
    const auto case_of = [&](const ir::Stage& stage, const plan::Reach& x, int ahead) {
      const auto box = tile_.box_of_first_case(stage);
      if (!box) return;
      const Expr end = kernel::add(x0, literal(tile_.width() + x.max));
      for (const ir::Affine& bound : (*box)[0].lower)
        add_to(tests, at_most(rows_.lower(bound), kernel::add(x0, literal(x.min))));
      for (const ir::Affine& bound : (*box)[0].upper) add_to(tests, at_most(end, rows_.lower(bound)));
      for (const ir::Affine& bound : (*box)[1].lower)
        add_to(inside.first_rows, kernel::sub(rows_.lower(bound), literal(ahead)));
      for (const ir::Affine& bound : (*box)[1].upper)
        add_to(inside.end_rows, kernel::sub(rows_.lower(bound), literal(ahead)));
    };
    add_to(tests, at_most(kernel::add(x0, literal(tile_.width())), rows_.end(0)));
    for (const Source& source : tile_.sources()) {
      const plan::Kept& kept = source.kept;
      if (!kept.is_member) {
        const Rows rows = columns_of(kept.box);
        rows_between(rows.begin(1), rows.end(1), kept.ahead + loaded());
        add_to(whole, is_aligned(source.stage, block));
        ends_between_lanes(rows, kept.border_mode() == ir::BorderMode::Repeat);
        border_in_lanes(source, rows);
        continue;
      }
      // What a member reads of images at its own pixel is there for its own pixels alone; and its first rows have to
      // be copied to those above.
      const Rows rows = columns_of(kept.box);
      const bool has_copies = kept.border_mode() && kept.outside != plan::Window(2);
      rows_between(kernel::add(rows.begin(1), literal(has_copies ? kept.least_rows - 1 : 0)), rows.end(1),
                   kept.ahead);
      if (has_copies) {
        ends_between_lanes(rows);
        border_in_lanes(source, rows);
      }
      case_of(source.stage, kept.x(), kept.ahead);
      if (kept.is_stored) add_to(whole, is_aligned(source.stage, block));
    }
    columns_of(result_.domain());
    rows_between(rows_.begin(1), rows_.end(1), 0);
    case_of(result_, {}, 0);
    add_to(whole, is_aligned(result_, block));
    ends_between_lanes(rows_);
    inside.lanes = std::accumulate(whole.begin(), whole.end(), Expr(), kernel::both);
    inside.columns = std::accumulate(tests.begin(), tests.end(), Expr(), kernel::both);
    return inside;
  }

  Expr is_aligned(const ir::Stage& stage, Block& block) const {
    const ArrayLayout& array = tile_.layout().arrays.at(&stage);
    const int bytes = access_bytes(array.type.scalar, scalars_of(array.type));
    const Rows rows(stage.box, tile_.layout());
    const Expr column =
        kernel::mul(kernel::sub(name("first"), rows.lower(array.box[0].min)), literal(array.type.lanes));
    const std::string aligned = array.name + "_aligned";
    block.push_back({kernel::IsAligned{aligned, array.name, column, bytes}});
    const Expr stride = kernel::mul(name(array.strides.at(0)), literal(size_of(array.type.scalar)));
    const Expr apart = kernel::binary(BinaryOp::And, stride, literal(bytes - 1));
    return kernel::both(name(aligned, Scalar::Bool), equal(apart, literal(0)));
  }

  std::vector<ir::Case> cases_of(const ir::Stage& original, const ir::Stage& placed) const {
    std::vector<ir::Case> cases = std::get<ir::Pure>(placed.definition).cases;
    if (tests_.rows || !tile_.box_of_first_case(original)) return cases;
    // No ways that part for each pixel.
    if (!tests_.columns) return {{nullptr, cases[0].value}};
    return {{nullptr, ir::select(cases[0].when, cases[0].value, cases[1].value)}};
  }

  // ---- images

  /// Where a lane loads a row, by whole lanes: as the border says, or at the end that it is beyond.
  Expr column_of_lane(const Source& image) const {
    const Rows rows(image.stage.box, tile_.layout());
    const Expr column = kernel::sub(name("left"), rows.begin(0)), extent = rows.extent(0);
    if (image.kept.border_mode() == ir::BorderMode::Repeat)
      return kernel::index_call(kernel::IndexOp::Repeat, column, extent);
    return limited(column, literal(0), kernel::sub(extent, literal(pixels_)));
  }

  /// A lane's columns of a row of an image, to its array of what is loaded, from a place on.
  Block load(const Source& image, const Expr& row, const Expr& at) const {
    const ArrayLayout& memory = memory_of(image);
    const int lanes = image.lanes(), in_row = next_in_row(image);
    const Scalar type = type_of_next(image);
    const std::string& next = next_of(image);
    const Expr stride = name(memory.strides[0]), j = var("j");
    const Rows rows(image.stage.box, tile_.layout());
    const auto whole_lane = [&](const Expr& above) -> Block {
      const std::string pack = local(memory.name + "_next_row");
      const Expr column =
          tests_.columns ? var(memory.name + "_column") : kernel::sub(name("left"), rows.begin(0));
      const Expr offset = kernel::add(above, kernel::mul(column, literal(lanes)));
      const kernel::Store store{next, kernel::add(at, j), kernel::load(pack, type, j)};
      return {{kernel::LoadPack{pack, memory.name, type, in_row, offset, literal(in_row), true,
                                has_words(image)}},
              {unrolled(local("j"), in_row, {{store}})}};
    };
    if (!tests_.rows) return whole_lane(kernel::mul(kernel::sub(row, rows.begin(1)), stride));
    Block block;
    ExpressionLowering expressions = tile_.expressions(result_, Place::Thread, rows_.coords());
    reserve(expressions);
    const FoundPixel y = find_pixel(image, 1, row, rows);
    const std::string above = memory.name + "_above";
    block.push_back({Let{local(above), kernel::mul(y.index, stride)}});
    const auto pixel = [&](Block& each, const Expr& scalar) {
      const Expr lane = lanes > 1 ? kernel::binary(BinaryOp::Rem, scalar, literal(lanes)) : literal(0);
      const FoundPixel x =
          find_pixel(image, 0, kernel::add(name("left"), kernel::div(scalar, literal(lanes))), rows);
      each.push_back({Let{local("across"), kernel::add(kernel::mul(x.index, literal(lanes)), lane)}});
      const Expr found =
          kernel::load(memory.name, memory.type.scalar, kernel::add(var(above), var("across")));
      const Expr is_there = kernel::both(x.inside, y.inside);
      if (!is_there) return found;
      return kernel::select(is_there, found, border_lane(image.kept.border->constant, lane, expressions));
    };
    Block each, part;
    expressions.open(each);
    const Expr to = kernel::add(at, j);
    if (has_words(image)) {
      const int several = scalars_in_word(image), bits = 32 / several;
      const Expr number = var("b"), so_far = kernel::load(next, type, to);
      each.push_back({kernel::Store{next, to, kernel::constant(type, {.i = 0})}});
      expressions.open(part);
      const Expr scalar = pixel(part, kernel::add(kernel::mul(j, literal(several)), number));
      const Expr as_bits = converted(type, converted(bits == 8 ? Scalar::U8 : Scalar::U16, scalar));
      const Expr shifted =
          kernel::binary(BinaryOp::Shl, as_bits, converted(type, kernel::mul(number, literal(bits))));
      part.push_back({kernel::Store{next, to, kernel::binary(BinaryOp::Or, so_far, shifted)}});
      expressions.close();
      each.push_back({unrolled(local("b"), several, std::move(part))});
    } else {
      const Expr scalar = pixel(each, j);
      each.push_back({kernel::Store{next, to, scalar}});
    }
    expressions.close();
    block.push_back({If{kernel::both(var("in_lanes", Scalar::Bool), y.inside),
                        whole_lane(var(above)),
                        {{unrolled(local("j"), in_row, std::move(each))}}}});
    return block;
  }

  // ---- between lanes

  /// The columns beside those of a lane, which others have.
  Block columns_beside(const Source& source) const {
    const plan::Kept& kept = source.kept;
    const int lanes = source.lanes(), left = kept.first / lanes, all = kept.pitch / lanes;
    Block block;
    const auto take = [&](int column) {  // from the lane's first
      const int away = column < 0 ? -((-column + pixels_ - 1) / pixels_) : column / pixels_;
      const int there = column - away * pixels_;
      for (int l = 0; l < lanes; ++l) {
        const std::string taken = source.array + "_beside_" + std::to_string(block.size() / 2);
        block.push_back({kernel::Shuffle{taken, own(source, literal(there), l), away}});
        block.push_back(
            {kernel::Store{source.array, own_at(source, literal(column), l), name(taken, kept.type.scalar)}});
      }
    };
    for (int column = -left; column < 0; ++column) take(column);
    for (int column = pixels_; column < all - left; ++column) take(column);
    if (!tests_.columns) return block;
    Block beyond = columns_beyond_ends(source);
    if (!tests_.rows) {
      kernel::append(block, std::move(beyond));
    } else if (!source.kept.is_member &&
               !beyond.empty()) {  // the last rows of a batch have been loaded by whole lanes
      block.push_back({If{var("in_lanes", Scalar::Bool), std::move(beyond), {}}});
    }
    return block;
  }

  /// A column beside those of the lanes at an end of a row, or near it, that is beyond: which lanes, by how many there
  /// are between them and the end, and which of their columns the border finds; none if they do not have it.
  struct Beyond {
    int column = 0, lane = 0;
    std::optional<int> found;
    int from_end = 0;  ///< How many pixels from the end what is found is.
  };
  std::vector<Beyond> beyond_ends(const Source& source) const {
    const plan::Kept& kept = source.kept;
    const auto mode = kept.border_mode();
    const int left = kept.first / source.lanes(), right = kept.pitch / source.lanes() - left - pixels_;
    std::vector<Beyond> all;
    // Of an image, lanes beyond its end have loaded what Repeat finds.
    if (!mode || (!kept.is_member && mode == ir::BorderMode::Repeat)) return all;
    const auto add = [&](int distance, bool is_left) {
      for (int lane = 0; lane * pixels_ < distance; ++lane) {
        const int beyond = distance - lane * pixels_;
        const int from_end = mode == ir::BorderMode::Mirror      ? beyond - 1
                             : mode == ir::BorderMode::Mirror101 ? beyond
                                                                 : 0;
        const int inwards = from_end - lane * pixels_;
        const int found = is_left ? inwards : pixels_ - 1 - inwards;
        const bool is_there = mode != ir::BorderMode::Repeat && -left <= found && found < pixels_ + right;
        all.push_back({is_left ? -distance : pixels_ - 1 + distance, lane,
                       is_there ? std::optional(found) : std::nullopt, from_end});
      }
    };
    for (int distance = 1; distance <= left; ++distance) add(distance, true);
    for (int distance = 1; distance <= right; ++distance) add(distance, false);
    return all;
  }
  /// How many pixels a row needs so that lanes have all that the border finds; nothing if no number is enough.
  std::optional<int> pixels_for_border(const Source& source) const {
    int pixels = 0;
    for (const Beyond& each : beyond_ends(source)) {
      if (!each.found) return std::nullopt;
      pixels = std::max(pixels, each.from_end + 1);
    }
    return pixels;
  }
  Block columns_beyond_ends(const Source& source) const {
    const Rows rows(source.kept.box, tile_.layout());
    Block block;
    ExpressionLowering expressions = tile_.expressions(result_, Place::Thread, rows_.coords());
    reserve(expressions);
    expressions.open(block);
    for (const Beyond& each : beyond_ends(source)) {
      if (!each.found) continue;
      const Expr left = kernel::sub(name("left"), literal(each.lane * pixels_));
      const Expr right = kernel::add(name("left"), literal((each.lane + 1) * pixels_));
      const Expr is_at_end = each.column < 0 ? equal(left, rows.begin(0)) : equal(right, rows.end(0));
      for (int l = 0; l < source.lanes(); ++l) {
        const Expr found = source.kept.border_mode() == ir::BorderMode::Constant
                               ? border_lane(source.kept.border->constant, literal(l), expressions)
                               : own(source, literal(*each.found), l);
        const Expr value = kernel::select(is_at_end, found, own(source, literal(each.column), l));
        block.push_back({kernel::Store{source.array, own_at(source, literal(each.column), l), value}});
      }
    }
    expressions.close();
    return block;
  }

  /// Whether some of what a source has there is another pixel's or a constant.
  bool has_border(const plan::Kept& kept, int d) const {
    return tests_.rows && kept.border_mode() && (kept.outside[d].min > 0 || kept.outside[d].max > 0);
  }

  /// Columns of a lane beyond the ends of a row: those that the border finds, which other lanes have, or a constant,
  /// in rows beyond the ends, too.
  Block what_borders_find_in_row(const Source& source, const Expr& row,
                                 ExpressionLowering& expressions) const {
    const plan::Kept& kept = source.kept;
    const bool is_constant = kept.border_mode() == ir::BorderMode::Constant;
    const bool has_rows = is_constant && has_border(kept, 1);
    if (!has_border(kept, 0) && !has_rows) return {};
    const Rows rows(kept.box, tile_.layout());
    if (kept.border_mode() == ir::BorderMode::Clamp) return from_ends(source, rows);
    // Most tiles at the ends of an image are at its top and bottom, where no column is missing.
    Expr is_missing = either(is_left_missing(rows), is_right_missing(rows));
    if (has_rows)
      is_missing = either(is_missing, either(less(row, rows.begin(1)), at_most(rows.end(1), row)));
    return {{If{is_missing,
                is_constant ? constants(source, row, rows, expressions) : from_anywhere(source, rows),
                {}}}};
  }
  Expr is_left_missing(const Rows& rows) const { return less(name("first"), rows.begin(0)); }
  Expr is_right_missing(const Rows& rows) const { return less(rows.end(0), end_of_strip()); }

  Expr column_of_pixel() const { return kernel::add(name("left"), name("i")); }
  /// How far a column is from the strip's first; if it is not in the strip, nobody needs it.
  Expr within_strip(const Expr& column) const {
    return limited(kernel::sub(column, name("first")), literal(0), literal(lanes_of_warp * pixels_ - 1));
  }

  Block constants(const Source& source, const Expr& row, const Rows& rows,
                  ExpressionLowering& expressions) const {
    Block each;
    expressions.open(each);
    const Expr in_row = between(rows.begin(0), column_of_pixel(), rows.end(0));
    each.push_back({Let{local("is_there"), kernel::both(in_row, between(rows.begin(1), row, rows.end(1)))}});
    for (int l = 0; l < source.lanes(); ++l) {
      const Expr constant = border_lane(source.kept.border->constant, literal(l), expressions);
      const Expr value = kernel::select(var("is_there", Scalar::Bool), own(source, name("i"), l), constant);
      each.push_back({kernel::Store{source.array, own_at(source, name("i"), l), value}});
    }
    expressions.close();
    return {{unrolled("i", pixels_, std::move(each))}};
  }

  /// With Clamp all find one of two columns, and most tiles miss what is before one of them at most.
  Block from_ends(const Source& source, const Rows& rows) const {
    const auto from = [&](const std::string& end, const Expr& column, const auto& is_beyond) {
      const Expr at = within_strip(column), in_lane = kernel::binary(BinaryOp::Rem, at, literal(pixels_));
      Block block, each;
      for (int l = 0; l < source.lanes(); ++l) {
        Expr found = own(source, literal(0), l);
        for (int p = 1; p < pixels_; ++p)
          found = kernel::select(equal(in_lane, literal(p)), own(source, literal(p), l), found);
        const std::string taken = source.array + end + std::to_string(l);
        block.push_back({kernel::Shuffle{taken, found, 0, kernel::div(at, literal(pixels_))}});
        const Expr value = kernel::select(is_beyond(column_of_pixel()), name(taken, source.kept.type.scalar),
                                          own(source, name("i"), l));
        each.push_back({kernel::Store{source.array, own_at(source, name("i"), l), value}});
      }
      block.push_back({unrolled("i", pixels_, std::move(each))});
      return block;
    };
    const Expr begin = rows.begin(0), end = rows.end(0);
    Block left = from("_left_", begin, [&](const Expr& column) { return less(column, begin); });
    Block right = from("_right_", kernel::sub(end, literal(1)),
                       [&](const Expr& column) { return at_most(end, column); });
    return {{If{is_left_missing(rows), std::move(left), {}}},
            {If{is_right_missing(rows), std::move(right), {}}}};
  }

  Block from_anywhere(const Source& source, const Rows& rows) const {
    const kernel::IndexOp op = index_op(*source.kept.border_mode());
    const Scalar type = source.kept.type.scalar;
    Block each;
    each.push_back({Let{local("across"), column_of_pixel()}});
    const Expr index = kernel::index_call(op, kernel::sub(var("across"), rows.begin(0)), rows.extent(0));
    each.push_back({Let{local("found"), within_strip(kernel::add(index, rows.begin(0)))}});
    const Expr lane = kernel::div(var("found"), literal(pixels_));
    const Expr in_lane = kernel::binary(BinaryOp::Rem, var("found"), literal(pixels_));
    for (int l = 0; l < source.lanes(); ++l) {
      Expr found;
      for (int p = 0; p < pixels_; ++p) {
        const std::string taken = source.array + "_found_" + std::to_string(l * pixels_ + p);
        each.push_back({kernel::Shuffle{taken, own(source, literal(p), l), 0, lane}});
        const Expr value = name(taken, type);
        found = found ? kernel::select(equal(in_lane, literal(p)), value, found) : value;
      }
      const Expr is_there = between(rows.begin(0), var("across"), rows.end(0));
      const Expr value = kernel::select(is_there, own(source, name("i"), l), found);
      each.push_back({kernel::Store{source.array, own_at(source, name("i"), l), value}});
    }
    return {{unrolled("i", pixels_, std::move(each))}};
  }

  /// Rows beyond the ends of a stage are copies of those that the border finds, as soon as both are there.
  Block what_borders_find_in_rows(const Source& source, const Expr& row) const {
    const plan::Kept& kept = source.kept;
    if (!has_border(kept, 1) || kept.border_mode() == ir::BorderMode::Constant) return {};
    const Rows rows(kept.box, tile_.layout());
    const auto found = [&](const Expr& y) {
      const Expr index =
          kernel::index_call(index_op(*kept.border_mode()), kernel::sub(y, rows.begin(1)), rows.extent(1));
      return kernel::add(index, rows.begin(1));
    };
    const auto copy = [&](int to, int from) -> Block {
      return {moved(source.array, kept.type.scalar, row_start(kept, to), row_start(kept, from), kept.pitch)};
    };
    Block block;
    for (int above = 1; above < kept.least_rows; ++above) {
      const Expr other = kernel::sub(row, literal(above));
      const Expr is_below = kernel::both(at_most(rows.end(1), row), equal(found(row), other));
      const Expr is_above = kernel::both(less(other, rows.begin(1)), equal(found(other), row));
      block.push_back({If{is_below, copy(kept.ahead, kept.ahead - above), {}}});
      block.push_back({If{is_above, copy(kept.ahead - above, kept.ahead), {}}});
    }
    if (block.empty()) return block;
    const Expr is_near_begin = less(kernel::sub(row, literal(kept.least_rows - 1)), rows.begin(1));
    return {{If{either(is_near_begin, at_most(rows.end(1), row)), std::move(block), {}}}};
  }

  // ---- what is stored

  /// A lane's pixels of a row of the result, or of a member over the same box, which may be rows ahead.
  If store(const std::string& pack, const ArrayLayout& array, const Expr& row, int ahead = 0) const {
    Expr is_needed = kernel::both(var("has_result", Scalar::Bool), at_most(name("y0"), row));
    if (tests_.rows || ahead > 0) is_needed = kernel::both(is_needed, less(row, name("y1")));
    if (!tests_.rows && tests_.columns) is_needed = kernel::both(is_needed, less(name("left"), rows_.end(0)));
    const Expr offset = kernel::add(rows_.row_offset(array, {row}), rows_.x_offset(name("left"), array));
    const Expr valid = tests_.rows
                           ? kernel::mul(kernel::sub(rows_.end(0), name("left")), literal(array.type.lanes))
                           : literal(scalars_of(array.type));
    return {is_needed, {{kernel::StorePack{pack, array.name, offset, valid, !tests_.rows}}}, {}};
  }
  /// The latest row of a member.
  Block store_row(const Source& source, const Expr& row) const {
    const std::string& pack = local(memory_of(source).name + "_own");
    const Expr first = own_at(source, literal(0), 0), j = var("j");
    const Expr kept = kernel::load(source.array, source.kept.type.scalar, kernel::add(first, j));
    return {{kernel::LocalArray{pack, source.kept.type.scalar, scalars_of(source)}},
            {unrolled(local("j"), scalars_of(source), {{kernel::Store{pack, j, kept}}})},
            {store(pack, memory_of(source), row, source.kept.ahead)}};
  }

  const Tile& tile_;
  const ir::Stage& result_;
  const Rows& rows_;
  const int pixels_;
  const plan::HaloLanes halo_;
  std::map<std::string, std::string> locals_;  // names, by those that they would have had
  Tests tests_;                                // of the code that is written now
  bool is_by_stages_ = false;                  // it goes through a tile stage by stage
  Expr latest_;                                // and there, where its latest row begins
};

}  // namespace

std::unique_ptr<TileOwner> warp_of(const Tile& tile) { return std::make_unique<WarpTiles>(tile); }

}  // namespace weft::lower

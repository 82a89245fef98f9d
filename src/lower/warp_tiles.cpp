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
// Rows whose sources all lie inside of an image do just that. Those near its top and bottom, all of strips at the ends
// of rows, and all if rows are not aligned, go the same way with tests, one by one: they load by the border, and
// replace what was computed beyond the ends of a stage by what its border finds, in other lanes or other rows.
#include <weft/error.h>

#include <algorithm>
#include <array>
#include <map>
#include <numeric>
#include <optional>

#include "analysis/case_box.h"
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
    for (const char* wanted : {"lane", "k", "j", "next", "part", "inner", "inner_end", "has_result", "across",
                               "found", "is_there"})
      claim(wanted);
    claim(tile.array().name + "_place");
    for (const Source& source : tile.sources()) {
      for (const char* what : {"_y", "_place", "_next", "_next_row", "_above"})
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

  kernel::Storage storage() const override { return kernel::Storage::Local; }

  kernel::Function begin() override {
    kernel::Function function{tile_.layout().names.claim(tile_.array().name + "_kernel"), "", {}, {}};
    for_images([&](const Source& image) {
      function.body.push_back(
          {kernel::LocalArray{next_of(image), image.kept.type.scalar, loaded() * scalars_of(image)}});
    });
    return function;
  }

  void go_through(kernel::Function& function, const Expr&, Block work) override {
    const Expr rows = name("rows");
    function.body.push_back({Let{"rows", tile_.height(tile_.columns_of_tiles(), nullptr)}});
    Block tile;
    tile.push_back({Let{"y1", kernel::min(kernel::add(name("y0"), rows), rows_.end(1))}});
    kernel::append(tile, std::move(work));
    For down{LoopKind::BlocksX, "y0", rows_.begin(1), rows_.end(1), std::move(tile), rows};
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
    For across{LoopKind::BlocksY, local("next"), begin, rows_.end(0), std::move(strip), width};
    function.body.push_back(
        {For{LoopKind::Lanes, local("lane"), literal(0), literal(lanes_of_warp), {{std::move(across)}}}});
  }

  kernel::Launch launch_of(const kernel::Function& function, const Expr&) override {
    const Expr columns = tile_.columns_of_tiles();
    const Expr down =
        tile_.height(columns, nullptr, [&](const Expr& rows) { return parts(rows_.extent(1), rows); });
    const kernel::Grid grid{{down, columns, literal(1)}, {1, 1, 1}, kernel::Sharing::Lanes, lanes_of_warp};
    return {function.name, literal(1), grid};
  }

  /// Rows with tests, batches without where all that they read and compute lies inside, and again rows with tests.
  Block go_down(const std::function<Block()>& rows) override {
    Block block;
    const Expr y1 = name("y1"), from = kernel::sub(name("y0"), literal(tile_.plan().before));
    const auto let = [&](const std::string& wanted, const Expr& value) {
      block.push_back({Let{local(wanted), value}});
      return var(wanted);
    };
    const Inside inside = where_inside(block);
    const Expr first_inside = kernel::min(kernel::max(inside.first_rows), y1);
    const Expr begin = let("inner", kernel::select(inside.columns, first_inside, y1));
    const Expr all = kernel::max(kernel::sub(kernel::min(inside.end_rows), begin), literal(0));
    const Expr turns = kernel::mul(kernel::div(all, literal(batch())), literal(batch()));
    const Expr end = let("inner_end", kernel::add(begin, turns));

    is_at_end_ = true;
    for_images([&](const Source& image) {
      const Expr row = kernel::add(kernel::add(from, literal(image.kept.ahead)), var("k"));
      const Expr at = kernel::mul(var("k"), literal(scalars_of(image)));
      block.push_back({unrolled(local("k"), loaded(), load(image, row, at))});
    });
    Block row_by_row;
    for (const Source& source : tile_.sources()) {
      const plan::Kept& kept = source.kept;
      if (const int moving = (kept.rows - 1) * kept.pitch; moving > 0)
        row_by_row.push_back(moved(source.array, kept.type.scalar, literal(0), literal(kept.pitch), moving));
    }
    kernel::append(row_by_row, rows());
    is_at_end_ = false;
    Block in_batches{{Let{"y", kernel::add(name("batch"), var("k"))}}};
    kernel::append(in_batches, rows());

    const Expr is_above = equal(var("part"), literal(0));
    Block part;
    part.push_back({For{LoopKind::Serial, "y", kernel::select(is_above, from, end),
                        kernel::select(is_above, begin, y1), std::move(row_by_row)}});
    part.push_back({For{LoopKind::Serial,
                        "batch",
                        kernel::select(is_above, begin, end),
                        end,
                        {{unrolled(local("k"), batch(), std::move(in_batches))}},
                        literal(batch())}});
    block.push_back({For{LoopKind::Serial, local("part"), literal(0), literal(2), std::move(part)}});
    return block;
  }

  /// Where the pixels of a pass go, and the cases of their values that there can be.
  struct Target {
    std::string array;
    Expr offset;
    std::vector<ir::Case> cases;
  };

  /// The row that was loaded some rows ago takes its place, and another is loaded.
  Block rows_of_image(const Source& image) override {
    const plan::Kept& kept = image.kept;
    const int scalars = scalars_of(image);
    const std::string& next = next_of(image);
    const Expr own = kernel::add(row_start(kept, kept.ahead), literal(kept.first)), j = var("j");
    const Expr value = kernel::load(next, kept.type.scalar, kernel::add(due(image), j));
    Block block{{unrolled(local("j"), scalars, {{kernel::Store{image.array, kernel::add(own, j), value}}})}};
    Expr last = due(image);
    if (is_at_end_ && loaded() > 1) {
      const int moving = (loaded() - 1) * scalars;
      block.push_back(moved(next, kept.type.scalar, literal(0), literal(scalars), moving));
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
    Tile::PassLanes members = tile_.lanes_of(pass);
    const PlacedLanes& first = *members.front();
    const Source* kept = tile_.source(*pass.front());
    const std::string row = kept ? local(memory_of(*kept).name + "_y") : "y";
    const int ahead = kept ? kept->kept.ahead : 0, per_pixel = first.per_pixel();
    const Rows of_first(first.stage().domain(), tile_.layout());

    Block work;
    if (kept) work.push_back({Let{row, kernel::add(name("y"), literal(ahead))}});
    // What is computed beyond the ends reads other images at some pixel of theirs.
    const Expr left = kernel::mul(name("left"), literal(per_pixel));
    Expr x = kernel::add(left, name("i"));
    std::string place = row;
    if (is_at_end_) {
      x = limited(x, of_first.begin(0), kernel::sub(of_first.end(0), literal(1)));
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
              [this, &source, place, ahead](const Expr& y) {
                const std::optional<int> below = distance(y, place);
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
      if (const Source* source = tile_.source(*stage)) {
        kernel::append(work, what_borders_find_in_row(*source, name(row), expressions));
        kernel::append(work, columns_beside(*source));
        kernel::append(work, what_borders_find_in_rows(*source, name(row)));
      }
    }
    if (!kept) kernel::append(work, store(stored));
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

  /// The function's own names, which are not those of a lowering's locals.
  void reserve(ExpressionLowering& expressions) const {
    for (const auto& [wanted, claimed] : locals_) expressions.claim(claimed);
  }
  const std::string& local(const std::string& wanted) const { return locals_.at(wanted); }
  Expr var(const std::string& wanted, Scalar type = Scalar::I64) const { return name(local(wanted), type); }

  // ---- rows in registers

  /// Where the row begins that is so many below the current one. Inside, rows stay where they are and loops are
  /// unrolled, so that this is a number; at ends they move up by one with each row, in less code. Before a batch and
  /// after it the latest row is the last, as it is between such rows.
  Expr row_start(const plan::Kept& kept, int below) const {
    const int from_last = below - kept.ahead;
    if (is_at_end_) return literal((from_last + kept.rows - 1) * kept.pitch);
    return kernel::mul(turn(kept.rows, from_last), literal(kept.pitch));
  }
  /// And as many further below as a loop over the taps of a window says.
  Expr row_start(const plan::Kept& kept, int below, const Expr& further) const {
    const Expr pitch = literal(kept.pitch);
    if (is_at_end_) return kernel::add(row_start(kept, below), kernel::mul(further, pitch));
    const int bias = below - kept.ahead + kept.rows * furthest_turns;
    const Expr k = kernel::add(var("k"), kernel::add(further, literal(bias)));
    return kernel::mul(kernel::binary(BinaryOp::Rem, k, literal(kept.rows)), pitch);
  }
  /// Likewise of what is loaded: of the row that is due.
  Expr due(const Source& image) const {
    return is_at_end_ ? literal(0) : kernel::mul(turn(loaded(), 0), literal(scalars_of(image)));
  }
  Expr turn(int rows, int below) const {
    if (rows == 1) return literal(0);
    const Expr k = kernel::add(var("k"), literal((below % rows + rows) % rows));
    return kernel::binary(BinaryOp::Rem, k, literal(rows));
  }
  /// One scalar of a pixel of the latest row, by its number in the lane; those before and after are other lanes'.
  Expr own_at(const Source& source, const Expr& pixel, int l) const {
    const Expr own = kernel::add(row_start(source.kept, source.kept.ahead), literal(source.kept.first));
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

  // ---- the way down

  /// Where nothing has to be tested.
  struct Inside {
    Expr columns;                            ///< Whether there are rows at all.
    std::vector<Expr> first_rows, end_rows;  ///< Of the result: from the largest to before the least.
  };
  /// Of the tile: all that lanes load lies inside of images, and aligned, and all that they compute inside of what has
  /// a border, and in the first of two cases.
  Inside where_inside(Block& block) const {
    // What is made of nothing and has no borders lies inside everywhere.
    Inside inside{nullptr, {kernel::sub(name("y0"), literal(tile_.plan().before))}, {name("y1")}};
    std::vector<Expr> tests;
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
    const auto case_of = [&](const ir::Stage& stage, const plan::Reach& x, int ahead) {
      const auto box = box_of_first_case(stage);
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
        add_to(tests, is_aligned(source.stage, block));
        continue;
      }
      // What a member reads of images at its own pixel is there for its own pixels alone; and its first rows have to
      // be copied to those above.
      const Rows rows = columns_of(kept.box);
      const bool has_copies = kept.border_mode() && kept.outside != plan::Window(2);
      rows_between(kernel::add(rows.begin(1), literal(has_copies ? kept.least_rows - 1 : 0)), rows.end(1),
                   kept.ahead);
      case_of(source.stage, kept.x(), kept.ahead);
    }
    columns_of(result_.domain());
    rows_between(rows_.begin(1), rows_.end(1), 0);
    case_of(result_, {}, 0);
    add_to(tests, is_aligned(result_, block));
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

  /// Of a stage with a value inside a box and another outside, that of all its pixels that a tile computes there.
  std::optional<std::vector<analysis::Bounds>> box_of_first_case(const ir::Stage& stage) const {
    const auto& cases = std::get<ir::Pure>(stage.definition).cases;
    return cases.size() == 2 ? analysis::box_where(cases[0].when, 2) : std::nullopt;
  }
  std::vector<ir::Case> cases_of(const ir::Stage& original, const ir::Stage& placed) const {
    std::vector<ir::Case> cases = std::get<ir::Pure>(placed.definition).cases;
    if (!is_at_end_ && box_of_first_case(original)) cases = {{nullptr, cases[0].value}};
    return cases;
  }

  // ---- images

  /// A lane's columns of a row of an image, to its array of what is loaded, from a place on.
  Block load(const Source& image, const Expr& row, const Expr& at) const {
    const ArrayLayout& memory = memory_of(image);
    const Scalar type = image.kept.type.scalar;
    const int lanes = image.lanes(), scalars = scalars_of(image);
    const std::string& next = next_of(image);
    const Expr stride = name(memory.strides[0]), j = var("j");
    const Rows rows(image.stage.box, tile_.layout());
    const auto at_once = [&](const Expr& above) -> Block {
      const std::string pack = local(memory.name + "_next_row");
      const Expr first_column = kernel::mul(kernel::sub(name("left"), rows.begin(0)), literal(lanes));
      const Expr value = kernel::load(pack, type, j);
      return {{kernel::LoadPack{pack, memory.name, type, scalars, kernel::add(above, first_column),
                                literal(scalars), !is_at_end_}},
              {unrolled(local("j"), scalars, {{kernel::Store{next, kernel::add(at, j), value}}})}};
    };
    if (!is_at_end_) return at_once(kernel::mul(kernel::sub(row, rows.begin(1)), stride));
    Block block;
    ExpressionLowering expressions = tile_.expressions(result_, Place::Thread, rows_.coords());
    reserve(expressions);
    const FoundPixel y = find_pixel(image, 1, row, rows);
    block.push_back({Let{local(memory.name + "_above"), kernel::mul(y.index, stride)}});
    Block each;
    expressions.open(each);
    const FoundPixel x = find_pixel(image, 0, kernel::add(name("left"), j), rows);
    each.push_back({Let{local("across"), kernel::mul(x.index, literal(lanes))}});
    Expr is_there = kernel::both(x.inside, y.inside);
    for (int l = 0; l < lanes; ++l) {
      const Expr lane = literal(l);
      Expr value = kernel::load(memory.name, type,
                                kernel::add(kernel::add(var(memory.name + "_above"), var("across")), lane));
      if (is_there)
        value = kernel::select(is_there, value, border_lane(image.kept.border->constant, lane, expressions));
      each.push_back(
          {kernel::Store{next, kernel::add(at, kernel::add(kernel::mul(j, literal(lanes)), lane)), value}});
    }
    expressions.close();
    const Expr end = kernel::add(name("left"), literal(pixels_));
    Expr all_there = kernel::both(at_most(rows.begin(0), name("left")), at_most(end, rows.end(0)));
    all_there = kernel::both(all_there, y.inside);
    block.push_back({If{all_there,
                        at_once(var(memory.name + "_above")),
                        {{unrolled(local("j"), pixels_, std::move(each))}}}});
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
    return block;
  }

  bool has_border(const plan::Kept& kept, int d) const {
    const plan::Reach& outside = kept.outside[d];
    return is_at_end_ && kept.border_mode() && (outside.min > 0 || outside.max > 0);
  }

  /// Columns of a lane beyond the ends of a row: those that the border finds, which other lanes have, or a constant,
  /// in rows beyond the ends, too.
  Block what_borders_find_in_row(const Source& source, const Expr& row,
                                 ExpressionLowering& expressions) const {
    const plan::Kept& kept = source.kept;
    const bool is_constant = kept.border_mode() == ir::BorderMode::Constant;
    if (!has_border(kept, 0) && !(is_constant && has_border(kept, 1))) return {};
    const Rows rows(kept.box, tile_.layout());
    // Most tiles at the ends of an image are at its top and bottom, where no column is missing.
    Expr is_missing = either(less(name("first"), rows.begin(0)), less(rows.end(0), end_of_strip()));
    if (is_constant)
      is_missing = either(is_missing, either(less(row, rows.begin(1)), at_most(rows.end(1), row)));
    Block found = is_constant                                   ? constants(source, row, rows, expressions)
                  : kept.border_mode() == ir::BorderMode::Clamp ? from_ends(source, rows)
                                                                : from_anywhere(source, rows);
    return {{If{is_missing, std::move(found), {}}}};
  }

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

  /// With Clamp all find one of two columns.
  Block from_ends(const Source& source, const Rows& rows) const {
    const Scalar type = source.kept.type.scalar;
    Block block, each;
    each.push_back({Let{local("across"), column_of_pixel()}});
    const auto end_of_row = [&](const std::string& end, const Expr& column, int l) {
      const Expr at = within_strip(column), in_lane = kernel::binary(BinaryOp::Rem, at, literal(pixels_));
      Expr value = own(source, literal(0), l);
      for (int p = 1; p < pixels_; ++p)
        value = kernel::select(equal(in_lane, literal(p)), own(source, literal(p), l), value);
      const std::string taken = source.array + end + std::to_string(l);
      block.push_back({kernel::Shuffle{taken, value, 0, kernel::div(at, literal(pixels_))}});
      return name(taken, type);
    };
    for (int l = 0; l < source.lanes(); ++l) {
      const Expr left = end_of_row("_left_", rows.begin(0), l);
      const Expr right = end_of_row("_right_", kernel::sub(rows.end(0), literal(1)), l);
      const Expr from_right =
          kernel::select(at_most(rows.end(0), var("across")), right, own(source, name("i"), l));
      const Expr value = kernel::select(less(var("across"), rows.begin(0)), left, from_right);
      each.push_back({kernel::Store{source.array, own_at(source, name("i"), l), value}});
    }
    block.push_back({unrolled("i", pixels_, std::move(each))});
    return block;
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

  // ---- the result

  Block store(const std::string& pack) const {
    const ArrayLayout& array = tile_.array();
    Expr is_needed = kernel::both(var("has_result", Scalar::Bool), at_most(name("y0"), name("y")));
    if (is_at_end_) is_needed = kernel::both(is_needed, less(name("y"), name("y1")));
    const Expr offset = kernel::add(rows_.row_offset(array), rows_.x_offset(name("left"), array));
    const Expr valid = is_at_end_
                           ? kernel::mul(kernel::sub(rows_.end(0), name("left")), literal(array.type.lanes))
                           : literal(scalars_of(array.type));
    return {{If{is_needed, {{kernel::StorePack{pack, array.name, offset, valid, !is_at_end_}}}, {}}}};
  }

  const Tile& tile_;
  const ir::Stage& result_;
  const Rows& rows_;
  const int pixels_;
  const plan::HaloLanes halo_;
  std::map<std::string, std::string> locals_;  // names, by those that they would have had
  bool is_at_end_ = false;                     // of an image: the code that is written now
};

}  // namespace

std::unique_ptr<TileOwner> warp_of(const Tile& tile) { return std::make_unique<WarpTiles>(tile); }

}  // namespace weft::lower

#include "lower/lower_strips.h"

#include <algorithm>
#include <bit>
#include <functional>

#include "analysis/footprint.h"
#include "ir/visit.h"
#include "lower/lower_grid.h"
#include "lower/rows.h"

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

namespace {

constexpr int sector = 32;          // bytes that memory moves at once
constexpr int strip_bytes = 1024;   // of the widest source
constexpr int most_batch_rows = 8;  // loads that each thread has in flight
constexpr int least_batch_rows = 2;
constexpr StripHeights heights{{64, 32, 8}, 128};  // about one for each multiprocessor of a large GPU
constexpr int most_shared_bytes = 40960;           // of the 48 KB that need no asking
constexpr int least_window_pixels = 3;

int round_up(int n, int multiple) { return (n + multiple - 1) / multiple * multiple; }

/// A source, and how far its windows reach from the current pixel.
struct Window {
  const ir::Read* read;  ///< One of its reads; all have the same border.
  analysis::Along x, y;

  const ir::Stage& source() const { return *read->source; }
  std::int64_t pixels() const { return (x.max - x.min + 1) * (y.max - y.min + 1); }
  int span() const { return static_cast<int>(y.max - y.min); }
};

/// How the rows of a source lie in shared memory.
struct Ring {
  Window window;
  std::string array;
  int rows;   ///< A power of two: those of a batch and of the windows around it.
  int first;  ///< Scalars of the halo on the left, in whole sectors.
  int pitch;

  Ring(const Window& w, int width, int batch)
      : window(w),
        rows(static_cast<int>(std::bit_ceil(static_cast<unsigned>(batch + w.span())))),
        first(halo(-w.x.min)),
        pitch(first + width * lanes() + halo(w.x.max)) {}
  int lanes() const { return window.source().type.lanes; }
  int halo(std::int64_t pixels) const {
    const int scalars = static_cast<int>(std::max<std::int64_t>(pixels, 0)) * lanes();
    return round_up(scalars, sector / size_of(window.source().type.scalar));
  }
  int scalars() const { return rows * pitch; }
  int bytes() const { return scalars() * size_of(window.source().type.scalar); }
};

/// Whether what a read finds outside its region is a pixel of the source or the same everywhere.
bool has_simple_border(const ir::Read& read) {
  if (!read.border) return true;
  if (read.border->mode == ir::BorderMode::Constant) {
    const auto& op = read.border->constant->op;
    return std::holds_alternative<ir::Const>(op) || std::holds_alternative<ir::ParamRef>(op);
  }
  return read.region == read.source->box;  // a crop may be empty while its source is not
}

constexpr std::int64_t furthest = 64;  // pixels; a batch is of no use to windows that reach further

bool reaches_far(const Window& w) { return w.x.min < -furthest || w.x.max > furthest || w.span() > furthest; }

/// The sources that are read in windows and in no other way, those of the largest windows first.
std::vector<Window> windows_of(const ir::Stage& stage) {
  std::vector<Window> windows;
  std::vector<const ir::Stage*> read_otherwise;
  for (const ir::Expr& e : ir::reads(stage)) {
    const auto& read = std::get<ir::Read>(e->op);
    const analysis::Footprint reach = analysis::footprint(read);
    const auto known = std::find_if(windows.begin(), windows.end(),
                                    [&](const Window& w) { return &w.source() == read.source.get(); });
    const bool is_window = reach.size() == 2 && reach[0].is_unit(0) && reach[1].is_unit(1) &&
                           has_simple_border(read) &&
                           (known == windows.end() || ir::read_alike(*known->read, read));
    if (!is_window) {
      read_otherwise.push_back(read.source.get());
    } else if (known == windows.end()) {
      windows.push_back({&read, reach[0], reach[1]});
    } else {
      const analysis::Footprint both = analysis::merged({known->x, known->y}, reach);
      known->x = both[0], known->y = both[1];
    }
  }
  std::erase_if(windows, [&](const Window& w) {
    return w.pixels() < least_window_pixels || reaches_far(w) ||
           std::count(read_otherwise.begin(), read_otherwise.end(), &w.source()) > 0;
  });
  std::stable_sort(windows.begin(), windows.end(),
                   [](const Window& a, const Window& b) { return a.pixels() > b.pixels(); });
  return windows;
}

class StripLowering {
 public:
  explicit StripLowering(const StageContext& context)
      : context_(context),
        stage_(context.stage),
        layout_(context.layout),
        array_(layout_.arrays.at(&stage_)),
        rows_(stage_.box, layout_),
        expressions_(layout_, context.module.tables, context.names, stage_, Place::Thread, rows_.coords(),
                     context.module.strict) {
    const std::vector<Window> windows = windows_of(stage_);
    int pixel = 1;
    for (const Window& w : windows) pixel = std::max(pixel, size_of(w.source().type));
    width_ = std::max(strip_bytes / pixel / sector * sector, sector);
    // Several sources are loaded in smaller batches, if only so they fit together.
    for (batch_ = most_batch_rows; batch_ >= least_batch_rows; batch_ /= 2) {
      rings_ = fitting(windows);
      if (rings_.size() == windows.size()) return;
    }
    batch_ = most_batch_rows;
    rings_ = fitting(windows);
  }

  bool pays() const { return !rings_.empty(); }

  kernel::Launch run() {
    kernel::Function function{layout_.names.claim(array_.name + "_kernel"), comment(), {}, {}};
    std::unordered_map<const ir::Stage*, ExpressionLowering::KeptRows> kept;
    for (Ring& ring : rings_) {
      const ir::Stage& source = ring.window.source();
      ring.array = expressions_.claim(layout_.arrays.at(&source).name + "_rows");
      kept[&source] = {ring.array, ring.rows, ring.pitch, literal(ring.first), false};
      function.body.push_back(
          {kernel::LocalArray{ring.array, source.type.scalar, ring.scalars(), kernel::Storage::Shared}});
    }
    expressions_.keep_rows(std::move(kept));
    function.body.push_back({Let{"rows", of_strips([](int rows) { return literal(rows); })}});
    function.body.push_back({loops()});
    kernel::Launch launch{function.name, literal(1), arrays_read(stage_, layout_), {array_.name}, grid()};
    context_.module.functions.push_back(std::move(function));
    return launch;
  }

 private:
  /// The rings that fit shared memory, those of the first windows first.
  std::vector<Ring> fitting(const std::vector<Window>& windows) const {
    std::vector<Ring> rings;
    int bytes = 0;
    for (const Window& w : windows) {
      const Ring ring(w, width_, batch_);
      if (bytes + ring.bytes() > most_shared_bytes) continue;
      bytes += ring.bytes();
      rings.push_back(ring);
    }
    return rings;
  }

  std::string comment() const {
    std::string sources;
    for (const Ring& ring : rings_)
      sources += (sources.empty() ? "'" : ", '") + ring.window.source().name + "'";
    return comment_on(stage_, "'" + stage_.name + "'") + " Each block of threads goes down a strip of " +
           std::to_string(width_) + " pixels,\nand keeps the rows of " + sources +
           " that the windows reach in shared memory.";
  }

  Expr columns() const { return parts(rows_.extent(0), literal(width_)); }
  Expr of_strips(const std::function<Expr(int)>& given_rows) const {
    return rows_.of_tallest_strips(heights, columns(), given_rows);
  }

  kernel::Grid grid() const {
    kernel::Grid grid = grid_of_blocks(columns(), width_);
    grid.threads[1] = of_strips([&](int rows) { return parts(rows_.extent(1), literal(rows)); });
    return grid;
  }

  For loops() {
    int span = 0;
    for (const Ring& ring : rings_) span = std::max(span, ring.window.span());
    const Expr first = kernel::sub(name("y0"), literal(round_up(span, batch_)));
    For batches{LoopKind::Serial, "batch", first, name("y1"), {}, literal(batch_)};
    for (const Ring& ring : rings_) batches.body.push_back({load_rows(ring)});
    batches.body.push_back({kernel::Barrier{}});
    batches.body.push_back({compute_rows()});
    batches.body.push_back({kernel::Barrier{}});
    For down{LoopKind::BlocksY, "y0", rows_.begin(1), rows_.end(1), {}, name("rows")};
    down.body.push_back({Let{"y1", kernel::min(kernel::add(name("y0"), name("rows")), rows_.end(1))}});
    down.body.push_back({std::move(batches)});
    return {LoopKind::BlocksX, "x0", rows_.begin(0), rows_.end(0), {{std::move(down)}}, literal(width_)};
  }

  /// The rows that the windows of a batch reach and those of the batch before did not. A thread takes some
  /// columns, and loads from each several rows one after the other.
  For load_rows(const Ring& ring) {
    const std::string number = expressions_.claim("r");
    const ir::Read& read = *ring.window.read;
    const ArrayLayout& source = layout_.arrays.at(read.source.get());
    const analysis::Along& reach = ring.window.y;
    const int lanes = ring.lanes(), first_pixel = round_up(ring.first, lanes) / lanes;
    // Scalars are counted from the first lane of a pixel.
    const Expr scalar = kernel::add(name("i"), literal(first_pixel * lanes - ring.first));
    const Expr pixel = kernel::add(kernel::sub(name("x0"), literal(first_pixel)),
                                   lanes > 1 ? kernel::div(scalar, literal(lanes)) : scalar);
    For columns{LoopKind::Threads, "i", literal(0), literal(ring.pitch), {}};
    expressions_.open(columns.body);
    const auto named = [&](Block& block, const std::string& wanted, const Expr& value) {
      const std::string local = expressions_.claim(wanted);
      block.push_back({Let{local, value}});
      return name(local, value->type);
    };
    const Place2D x = place(read, 0, pixel);
    Expr column = kernel::mul(x.index, literal(lanes));
    Expr lane = literal(0);
    if (lanes > 1) {
      lane = kernel::binary(BinaryOp::Rem, scalar, literal(lanes));
      column = kernel::add(column, lane);
    }
    column = named(columns.body, "column", column);
    const Expr outside = x.inside ? border_value(read, lane) : nullptr;
    const Expr in_columns = x.inside ? named(columns.body, "inside", x.inside) : nullptr;
    expressions_.close();

    For rows{LoopKind::Serial, number, literal(0), literal(batch_), {}};
    rows.body.push_back(
        {Let{"row", kernel::add(kernel::add(name("batch"), literal(reach.max)), name(number))}});
    const Place2D y = place(read, 1, name("row"));
    const Expr at = kernel::add(kernel::mul(y.index, name(source.strides[0])), column);
    Expr value = kernel::load(source.name, source.type.scalar, at);
    if (outside) value = kernel::select(kernel::both(in_columns, y.inside), value, outside);
    const Expr is_reached =
        kernel::both(kernel::binary(BinaryOp::Le, kernel::add(name("y0"), literal(reach.min)), name("row")),
                     kernel::binary(BinaryOp::Lt, name("row"), kernel::add(name("y1"), literal(reach.max))));
    const Expr slot = kernel::binary(BinaryOp::And, name("row"), literal(ring.rows - 1));
    rows.body.push_back({If{
        is_reached,
        {{kernel::Store{ring.array, kernel::add(kernel::mul(slot, literal(ring.pitch)), name("i")), value}}},
        {}}});
    columns.body.push_back({std::move(rows)});
    return columns;
  }

  /// Where an index finds its pixel in the array, and whether it does; null: it always does.
  struct Place2D {
    Expr index, inside;
  };
  Place2D place(const ir::Read& read, int d, const Expr& index) const {
    const ir::Range& region = read.border ? read.region[d] : read.source->box[d];
    const Expr min = rows_.lower(region.min), extent = rows_.lower(region.extent);
    const Expr origin = rows_.lower(read.source->box[d].min);
    const Expr local = kernel::sub(index, min);
    if (read.border && read.border->mode == ir::BorderMode::Constant) {
      return {kernel::sub(index, origin), kernel::both(kernel::binary(BinaryOp::Le, literal(0), local),
                                                       kernel::binary(BinaryOp::Lt, local, extent))};
    }
    // Of reads without a border, the halo of whole sectors alone may be outside; nothing reads it.
    const kernel::IndexOp op = index_op(read.border ? read.border->mode : ir::BorderMode::Clamp);
    return {kernel::sub(kernel::add(kernel::index_call(op, local, extent), min), origin), nullptr};
  }

  Expr border_value(const ir::Read& read, const Expr& lane) {
    const Lanes values = expressions_.lower(read.border->constant);
    Expr value = values.back();
    for (std::size_t l = values.size() - 1; l-- > 0;) {
      if (!kernel::same(values[l], value))
        value = kernel::select(kernel::binary(BinaryOp::Eq, lane, literal(static_cast<std::int64_t>(l))),
                               values[l], value);
    }
    return value;
  }

  For compute_rows() {
    For rows{LoopKind::Serial,
             "y",
             kernel::max(name("batch"), name("y0")),
             kernel::min(kernel::add(name("batch"), literal(batch_)), name("y1")),
             {}};
    Block pixel;
    pixel.push_back({Let{"x", kernel::add(name("x0"), name("i"))}});
    expressions_.open(pixel, &rows.body);
    const Expr offset = kernel::add(rows_.row_offset(array_), rows_.x_offset(name("x"), array_));
    store_pixel(expressions_, pixel, std::get<ir::Pure>(stage_.definition).cases, array_.name, offset);
    expressions_.close();
    const Expr count = kernel::min(literal(width_), kernel::sub(rows_.end(0), name("x0")));
    rows.body.push_back({For{LoopKind::Threads, "i", literal(0), count, std::move(pixel)}});
    return rows;
  }

  const StageContext& context_;
  const ir::Stage& stage_;
  Layout& layout_;
  const ArrayLayout& array_;
  const Rows rows_;
  ExpressionLowering expressions_;
  int width_ = 0;  // of a strip, in pixels
  int batch_ = 0;  // rows
  std::vector<Ring> rings_;
};

}  // namespace

std::optional<kernel::Launch> lower_strips(const StageContext& context) {
  if (context.stage.domain().size() != 2) return std::nullopt;
  StripLowering strips(context);
  if (!strips.pays()) return std::nullopt;
  return strips.run();
}

}  // namespace weft::lower

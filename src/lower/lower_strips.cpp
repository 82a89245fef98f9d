#include "lower/lower_strips.h"

#include <algorithm>
#include <functional>

#include "analysis/footprint.h"
#include "base/round_up.h"
#include "ir/visit.h"
#include "lower/lower_grid.h"
#include "lower/rows.h"
#include "lower/shared_rows.h"

namespace weft::lower {

using kernel::Block;
using kernel::Expr;
using kernel::For;
using kernel::Let;
using kernel::literal;
using kernel::LoopKind;
using kernel::name;

namespace {

constexpr int most_batch_rows = 8;  // loads that each thread has in flight
constexpr int least_batch_rows = 2;
constexpr int least_window_pixels = 3;

/// A source, and how far its windows reach from the current pixel.
struct Window {
  const ir::Read* read;  ///< One of its reads; all have the same border.
  analysis::Along x, y;

  const ir::Stage& source() const { return *read->source; }
  std::int64_t pixels() const { return (x.max - x.min + 1) * (y.max - y.min + 1); }
  int span() const { return static_cast<int>(y.max - y.min); }
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
    width_ = std::max(schedule::strip_bytes / pixel / schedule::sector * schedule::sector, schedule::sector);
    // Several sources are loaded in smaller batches, if only so they fit together.
    for (batch_ = most_batch_rows; batch_ >= least_batch_rows; batch_ /= 2) {
      images_ = fitting(windows);
      if (images_.size() == windows.size()) return;
    }
    batch_ = most_batch_rows;
    images_ = fitting(windows);
  }

  bool pays() const { return !images_.empty(); }

  kernel::Launch run() {
    kernel::Function function{layout_.names.claim(array_.name + "_kernel"), comment(), {}, {}};
    std::unordered_map<const ir::Stage*, ExpressionLowering::KeptRows> kept;
    for (SharedImage& image : images_) {
      const ir::Stage& source = image.source();
      const schedule::RowRing& ring = image.ring;
      image.array = expressions_.claim(layout_.arrays.at(&source).name + "_rows");
      kept[&source] = {image.array, [&ring](const Expr& y) { return row_in(ring, y); },
                       [&ring](const Expr& x) { return at_kept(ring, x); }, false};
      function.body.push_back(
          {kernel::LocalArray{image.array, source.type.scalar, ring.scalars(), kernel::Storage::Shared}});
    }
    expressions_.keep_rows(std::move(kept), literal(0));
    function.body.push_back({Let{"rows", of_strips([](int rows) { return literal(rows); })}});
    function.body.push_back({loops()});
    kernel::Launch launch{function.name, literal(1), grid()};
    context_.module.functions.push_back(std::move(function));
    return launch;
  }

 private:
  /// The sources whose rows fit shared memory, those of the first windows first.
  std::vector<SharedImage> fitting(const std::vector<Window>& windows) const {
    std::vector<SharedImage> images;
    int bytes = 0;
    for (const Window& w : windows) {
      const schedule::Reach x{w.x.min, w.x.max}, y{w.y.min, w.y.max};
      const SharedImage image{w.read, x, y,
                              schedule::ring_of_image(w.source().type, x, width_, batch_ + w.span())};
      if (bytes + image.ring.bytes() > schedule::most_shared_bytes) continue;
      bytes += image.ring.bytes();
      images.push_back(image);
    }
    return images;
  }

  std::string comment() const {
    std::string sources;
    for (const SharedImage& image : images_)
      sources += (sources.empty() ? "'" : ", '") + image.source().name + "'";
    return comment_on(stage_, "'" + stage_.name + "'") + " Each block of threads goes down a strip of " +
           std::to_string(width_) + " pixels,\nand keeps the rows of " + sources +
           " that the windows reach in shared memory.";
  }

  Expr columns() const { return parts(rows_.extent(0), literal(width_)); }
  Expr of_strips(const std::function<Expr(int)>& given_rows) const {
    return rows_.of_tallest_strips(schedule::strip_heights, columns(), given_rows);
  }

  kernel::Grid grid() const {
    kernel::Grid grid = grid_of_blocks(columns(), width_);
    grid.threads[1] = of_strips([&](int rows) { return parts(rows_.extent(1), literal(rows)); });
    return grid;
  }

  For loops() {
    int span = 0;
    for (const SharedImage& image : images_) span = std::max(span, static_cast<int>(image.y.extent()) - 1);
    const Expr first = kernel::sub(name("y0"), literal(round_up(span, batch_)));
    For batches{LoopKind::Serial, "batch", first, name("y1"), {}, literal(batch_)};
    const Batch batch{name("x0"), name("y0"), name("y1"), name("batch"), batch_};
    for (const SharedImage& image : images_)
      batches.body.push_back({load_rows(image, batch, rows_, layout_, expressions_)});
    batches.body.push_back({kernel::Barrier{}});
    batches.body.push_back({compute_rows()});
    batches.body.push_back({kernel::Barrier{}});
    For down{LoopKind::BlocksY, "y0", rows_.begin(1), rows_.end(1), {}, name("rows")};
    down.body.push_back({Let{"y1", kernel::min(kernel::add(name("y0"), name("rows")), rows_.end(1))}});
    down.body.push_back({std::move(batches)});
    return {LoopKind::BlocksX, "x0", rows_.begin(0), rows_.end(0), {{std::move(down)}}, literal(width_)};
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
  std::vector<SharedImage> images_;
};

}  // namespace

std::optional<kernel::Launch> lower_strips(const StageContext& context) {
  if (context.stage.domain().size() != 2) return std::nullopt;
  StripLowering strips(context);
  if (!strips.pays()) return std::nullopt;
  return strips.run();
}

}  // namespace weft::lower

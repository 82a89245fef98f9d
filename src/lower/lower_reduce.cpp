#include "lower/lower_reduce.h"

#include "ir/visit.h"
#include "lower/expressions.h"
#include "lower/interior.h"
#include "lower/lower_grid.h"
#include "lower/rows.h"

namespace weft::lower {

using ir::BinaryOp;
using kernel::Block;
using kernel::Expr;
using kernel::For;
using kernel::literal;
using kernel::LoopKind;

namespace {

constexpr std::int64_t part_pixels = 4096;  // enough to pay for handing out a part
constexpr int most_accumulators = 64;       // as many as hide the latency of an addition on wide registers
constexpr int shared_accumulators = 256;    // the same on every GPU, so that sums are: any block divides them

class ReduceLowering {
 public:
  explicit ReduceLowering(const StageContext& context)
      : stage_(context.stage),
        reduce_(std::get<ir::Reduce>(stage_.definition)),
        context_(context),
        layout_(context.layout),
        module_(context.module),
        array_(layout_.arrays.at(&stage_)),
        rows_(reduce_.over, layout_),
        on_gpu_(context.processor == Processor::Gpu),
        accumulators_(!reduce_.op.commutative || rows_.rank() == 0 ? 1
                      : on_gpu_                                    ? shared_accumulators
                                                                   : most_accumulators) {}

  void run() {
    std::vector<std::string> parts_names;
    for (std::size_t c = 0; c < components(); ++c) {
      auto& names = parts_.emplace_back();
      for (int l = 0; l < lanes(c); ++l) {
        names.push_back(layout_.names.claim(array_.name + "_parts"));
        parts_names.push_back(names.back());
        module_.arrays.push_back({names.back(),
                                  reduce_.element[c]->type.lane(),
                                  kernel::Array::Role::Intermediate,
                                  {},
                                  {part_count()}});
      }
    }
    kernel::Function parts = parts_function(), total = total_function();
    launch(parts.name, part_count(), arrays_read(stage_, layout_), parts_names, accumulators_);
    std::vector<std::string> written = parts_names;
    written.push_back(array_.name);
    launch(total.name, literal(1), parts_names, written, 0);
    module_.functions.push_back(std::move(parts));
    module_.functions.push_back(std::move(total));
  }

 private:
  /// `items` are what a block's threads share at a time.
  void launch(const std::string& function, const Expr& count, std::vector<std::string> reads,
              std::vector<std::string> writes, int items) {
    kernel::Launch launch{function, count, std::move(reads), std::move(writes)};
    if (on_gpu_) launch.grid = grid_of_blocks(count, items);
    module_.steps.push_back(std::move(launch));
  }

  // ---- who does it: a core with vectors, or a block of threads ----

  kernel::Function function(const std::string& name, const std::string& comment) const {
    kernel::Function function{layout_.names.claim(array_.name + name), comment, {}, {}};
    if (!on_gpu_) function.parameters = {"first", "last"};
    return function;
  }
  /// A loop over lanes: accumulators or pairs that do not depend on one another.
  For lanes_loop(const std::string& variable, const Expr& count, Block body) const {
    return {on_gpu_ ? LoopKind::Threads : LoopKind::Vector, variable, literal(0), count, std::move(body)};
  }
  /// Appends what a single thread does.
  void alone(Block& block, Block body) const {
    if (on_gpu_)
      block.push_back({lanes_loop("l", literal(1), std::move(body))});
    else
      kernel::append(block, std::move(body));
  }
  void meet(Block& block) const {
    if (on_gpu_) block.push_back({kernel::Barrier{}});
  }

  std::size_t components() const { return reduce_.element.size(); }
  int lanes(std::size_t component) const { return reduce_.element[component]->type.lanes; }

  // ---- parts: strips of one row, or several whole rows ----

  Expr strips_per_row() const {
    return kernel::div(kernel::add(rows_.width(), literal(part_pixels - 1)), literal(part_pixels));
  }
  Expr rows_per_part() const {
    const Expr width = kernel::max(rows_.width(), literal(1));
    return kernel::max(kernel::div(literal(part_pixels), width), literal(1));
  }
  Expr part_count() const {
    if (rows_.rank() < 2) return strips_per_row();
    const Expr per_part = rows_per_part();
    const Expr blocks = kernel::div(kernel::sub(kernel::add(rows_.count(), per_part), literal(1)), per_part);
    return kernel::mul(blocks, strips_per_row());
  }

  // ---- states ----

  /// A state in memory: element `index` of each array, which are by component and lane.
  using Arrays = std::vector<std::vector<std::string>>;

  std::vector<Lanes> loaded(const Arrays& arrays, const Expr& index) const {
    std::vector<Lanes> state;
    for (std::size_t c = 0; c < arrays.size(); ++c) {
      Lanes& lanes = state.emplace_back();
      for (const std::string& array : arrays[c])
        lanes.push_back(kernel::load(array, reduce_.element[c]->type.scalar, index));
    }
    return state;
  }
  static void store(const Arrays& arrays, const Expr& index, const std::vector<Lanes>& state, Block& block) {
    for (std::size_t c = 0; c < arrays.size(); ++c) {
      for (std::size_t l = 0; l < arrays[c].size(); ++l)
        block.push_back({kernel::Store{arrays[c][l], index, state[c][l]}});
    }
  }

  /// arrays[into] = combined(left, right). A state of several values is read whole before it is replaced.
  void combine(ExpressionLowering& expressions, Block& block, const Arrays& arrays, const Expr& into,
               std::vector<Lanes> left, std::vector<Lanes> right) const {
    expressions.open(block);
    std::size_t values = 0;
    for (const auto& lanes : arrays) values += lanes.size();
    if (values > 1) {
      hold(expressions, block, left, "a");
      hold(expressions, block, right, "b");
    }
    expressions.bind_operands({std::move(left), std::move(right)});
    std::vector<Lanes> result;
    for (const ir::Expr& e : reduce_.op.combined) result.push_back(expressions.lower(e));
    if (values > 1) hold(expressions, block, result, "next");
    store(arrays, into, result, block);
    expressions.close();
  }
  static void hold(ExpressionLowering& expressions, Block& block, std::vector<Lanes>& state,
                   const std::string& name) {
    for (Lanes& lanes : state) {
      for (Expr& value : lanes) {
        if (std::holds_alternative<kernel::Name>(value->op)) continue;
        const std::string held = expressions.claim(name);
        block.push_back({kernel::Let{held, value}});
        value = kernel::name(held, value->type);
      }
    }
  }

  std::vector<Lanes> lowered(ExpressionLowering& expressions, const std::vector<ir::Expr>& state) const {
    std::vector<Lanes> result;
    for (const ir::Expr& e : state) result.push_back(expressions.lower(e));
    return result;
  }

  // ---- the parts ----

  kernel::Function parts_function() {
    kernel::Function function = this->function(
        "_part", on_gpu_ ? "Parts of the elements of '" + stage_.name + "', each combined by a block."
                         : "Parts [first, last) of the elements of '" + stage_.name + "', each combined.");
    For loop{LoopKind::Serial, "part", kernel::name("first"), kernel::name("last"), {}};
    if (on_gpu_) {
      function.body.push_back({kernel::Let{"parts", part_count()}});
      loop = {LoopKind::BlocksX, "part", literal(0), kernel::name("parts"), {}};
    }
    // Reads whose border matters are resolved at every element.
    const bool needs_borders = !interior_of(stage_).is_everything();
    std::vector<Expr> coords = rows_.coords();
    if (accumulators_ > 1) coords[0] = kernel::add(kernel::name("x"), kernel::name("l"));
    ExpressionLowering expressions(layout_, module_.tables, context_.names, stage_,
                                   on_gpu_         ? Place::Thread
                                   : needs_borders ? Place::Anywhere
                                                   : Place::Interior,
                                   coords, module_.strict);
    Arrays accumulators;
    for (std::size_t c = 0; c < components(); ++c) {
      auto& names = accumulators.emplace_back();
      for (int l = 0; l < lanes(c); ++l) {
        names.push_back(expressions.claim("acc"));
        function.body.push_back(
            {kernel::LocalArray{names.back(), reduce_.element[c]->type.scalar, accumulators_,
                                on_gpu_ ? kernel::Storage::Shared : kernel::Storage::Local}});
      }
    }
    start(expressions, accumulators, loop.body);
    rows(expressions, accumulators, loop.body);
    if (accumulators_ > 1) {
      meet(loop.body);
      combine_pairs(expressions, accumulators, loop.body);
    }
    Block part;
    store(parts_, kernel::name("part"), loaded(accumulators, literal(0)), part);
    alone(loop.body, std::move(part));
    function.body.push_back({std::move(loop)});
    return function;
  }

  void start(ExpressionLowering& expressions, const Arrays& accumulators, Block& block) const {
    Block body;
    expressions.open(body);
    store(accumulators, kernel::name("l"), lowered(expressions, reduce_.op.identity), body);
    expressions.close();
    block.push_back({lanes_loop("l", literal(accumulators_), std::move(body))});
  }

  void rows(ExpressionLowering& expressions, const Arrays& accumulators, Block& block) const {
    if (rows_.rank() == 0) {
      Block body;
      combine_element(expressions, accumulators, body, literal(0));
      alone(block, std::move(body));
      return;
    }
    const Expr part = kernel::name("part");
    if (rows_.rank() == 1) {
      strip(expressions, accumulators, block, part);
      return;
    }
    block.push_back({kernel::Let{"strips", strips_per_row()}});
    block.push_back({kernel::Let{"rows", rows_per_part()}});
    const Expr strips = kernel::name("strips"), rows = kernel::name("rows");
    block.push_back({kernel::Let{"row0", kernel::mul(kernel::div(part, strips), rows)}});
    const Expr row0 = kernel::name("row0");
    For loop{LoopKind::Serial, "row", row0, kernel::min(kernel::add(row0, rows), rows_.count()),
             rows_.coordinates_of(kernel::name("row"))};
    strip(expressions, accumulators, loop.body, kernel::binary(BinaryOp::Rem, part, strips));
    block.push_back({std::move(loop)});
  }

  /// The elements of one strip of the current row: blocks of as many as there are accumulators, and the rest.
  void strip(ExpressionLowering& expressions, const Arrays& accumulators, Block& block,
             const Expr& number) const {
    const Expr x0 = kernel::name("x0"), x1 = kernel::name("x1");
    block.push_back(
        {kernel::Let{"x0", kernel::add(rows_.begin(0), kernel::mul(number, literal(part_pixels)))}});
    block.push_back({kernel::Let{"x1", kernel::min(kernel::add(x0, literal(part_pixels)), rows_.end(0))}});
    Block pointers, loops;
    expressions.open(loops, &pointers);
    const bool one = accumulators_ == 1;
    const auto elements = [&](const Expr& from, const Expr& to, int step, const Expr& count) {
      For blocks{LoopKind::Serial, "x", from, to, {}, literal(step)};
      Block body;
      combine_element(expressions, accumulators, body, one ? literal(0) : kernel::name("l"));
      if (one)
        alone(blocks.body, std::move(body));
      else
        blocks.body.push_back({lanes_loop("l", count, std::move(body))});
      loops.push_back({std::move(blocks)});
    };
    if (one) {
      elements(x0, x1, 1, literal(1));
    } else {
      const Expr blocks = kernel::div(kernel::sub(x1, x0), literal(accumulators_));
      loops.push_back({kernel::Let{"rest", kernel::add(x0, kernel::mul(blocks, literal(accumulators_)))}});
      elements(x0, kernel::name("rest"), accumulators_, literal(accumulators_));
      elements(kernel::name("rest"), x1, accumulators_, kernel::sub(x1, kernel::name("x")));
    }
    expressions.close();
    kernel::append(block, std::move(pointers));
    kernel::append(block, std::move(loops));
  }

  /// accumulators[into] = combined(accumulators[into], element at the current coordinates).
  void combine_element(ExpressionLowering& expressions, const Arrays& accumulators, Block& block,
                       const Expr& into) const {
    expressions.open(block);
    std::vector<Lanes> element = lowered(expressions, reduce_.element);
    combine(expressions, block, accumulators, into, loaded(accumulators, into), std::move(element));
    expressions.close();
  }

  /// Halves the accumulators until one is left.
  void combine_pairs(ExpressionLowering& expressions, const Arrays& accumulators, Block& block) const {
    const Expr l = kernel::name("l"), half = kernel::name("half");
    int levels = 0;
    while (1 << levels < accumulators_) ++levels;
    For loop{LoopKind::Serial, "level", literal(1), literal(levels + 1), {}};
    loop.body.push_back(
        {kernel::Let{"half", kernel::binary(BinaryOp::Shr, literal(accumulators_), kernel::name("level"))}});
    Block body;
    combine(expressions, body, accumulators, l, loaded(accumulators, l),
            loaded(accumulators, kernel::add(l, half)));
    loop.body.push_back({lanes_loop("l", half, std::move(body))});
    meet(loop.body);
    block.push_back({std::move(loop)});
  }

  // ---- the total ----

  kernel::Function total_function() {
    kernel::Function function =
        this->function("_total", "The parts of '" + stage_.name + "', combined in pairs of neighbours.");
    ExpressionLowering expressions(layout_, module_.tables, context_.names, stage_,
                                   on_gpu_ ? Place::Thread : Place::Anywhere, rows_.coords(), module_.strict);
    Block& block = function.body;
    const Expr count = kernel::name("parts"), stride = kernel::name("stride"), i = kernel::name("i");
    block.push_back({kernel::Let{"parts", part_count()}});

    Block empty, start;
    expressions.open(empty);
    store(parts_, literal(0), lowered(expressions, reduce_.op.identity), empty);
    expressions.close();
    start.push_back({kernel::If{kernel::binary(BinaryOp::Le, count, literal(0)), std::move(empty), {}}});
    alone(block, std::move(start));

    // Pairs 1, 2, 4, … apart: the sum of the first takes the place of the first.
    For levels{LoopKind::Serial, "level", literal(0), literal(62), {}};
    levels.body.push_back(
        {kernel::Let{"stride", kernel::binary(BinaryOp::Shl, literal(1), kernel::name("level"))}});
    Block level, pair;
    const Expr first = kernel::mul(kernel::mul(i, literal(2)), stride);
    combine(expressions, pair, parts_, first, loaded(parts_, first),
            loaded(parts_, kernel::add(first, stride)));
    const Expr pairs =
        kernel::div(kernel::sub(kernel::add(count, stride), literal(1)), kernel::mul(stride, literal(2)));
    For loop = lanes_loop("i", pairs, std::move(pair));
    if (!on_gpu_) loop.kind = LoopKind::Serial;  // few, and apart
    level.push_back({std::move(loop)});
    meet(level);
    levels.body.push_back({kernel::If{kernel::binary(BinaryOp::Lt, stride, count), std::move(level), {}}});
    block.push_back({std::move(levels)});
    Block result;
    store_result(expressions, result);
    alone(block, std::move(result));
    return function;
  }

  void store_result(ExpressionLowering& expressions, Block& block) const {
    expressions.open(block);
    std::vector<Lanes> total = loaded(parts_, literal(0));
    hold(expressions, block, total, "total");
    expressions.bind_operands({total, {}});
    const Lanes result = expressions.lower(reduce_.result);
    for (std::size_t l = 0; l < result.size(); ++l)
      block.push_back({kernel::Store{array_.name, literal(static_cast<std::int64_t>(l)), result[l]}});
    expressions.close();
  }

  const ir::Stage& stage_;
  const ir::Reduce& reduce_;
  const StageContext& context_;
  Layout& layout_;
  kernel::Module& module_;
  const ArrayLayout& array_;
  const Rows rows_;
  const bool on_gpu_;
  const int accumulators_;
  Arrays parts_;
};

}  // namespace

void lower_reduce(const StageContext& context) { ReduceLowering(context).run(); }

}  // namespace weft::lower

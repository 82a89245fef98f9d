#include "lower/reduction_parts.h"

#include "lower/lower_grid.h"

namespace weft::lower {

namespace {

// Of a tree over parts: 16 at a time, of 2^52 at most.
constexpr int bits_of_level = 4, most_levels = 13;

void store(const ReductionParts::Arrays& arrays, const Expr& index, const std::vector<Lanes>& state,
           Block& block) {
  for (std::size_t c = 0; c < arrays.size(); ++c) {
    for (std::size_t l = 0; l < arrays[c].size(); ++l)
      block.push_back({kernel::Store{arrays[c][l], index, state[c][l]}});
  }
}

void hold(ExpressionLowering& expressions, Block& block, std::vector<Lanes>& state, const std::string& name) {
  for (Lanes& lanes : state) {
    for (Expr& value : lanes) {
      if (std::holds_alternative<kernel::Name>(value->op)) continue;
      const kernel::Symbol held = expressions.claim(name);
      block.push_back({kernel::Let{held, value}});
      value = kernel::name(held, value->type);
    }
  }
}

std::vector<Lanes> lowered(ExpressionLowering& expressions, const std::vector<ir::Expr>& state) {
  std::vector<Lanes> result;
  for (const ir::Expr& e : state) result.push_back(expressions.lower(e));
  return result;
}

}  // namespace

ReductionParts::ReductionParts(const KernelContext& context)
    : context_(context),
      stage_(context.stage()),
      reduce_(std::get<ir::Reduce>(stage_.definition)),
      array_(context.layout.arrays.at(&stage_)),
      rows_(reduce_.over, context.layout),
      division_(context.plan.parts.value()),
      on_gpu_(context.plan.is_of_blocks()),
      x_(rows_.layout().variables.coords[0]),
      x0_(context.layout.names.local("x0")),
      l_(context.layout.names.local("l")) {
  for (std::size_t c = 0; c < components(); ++c) {
    auto& names = parts_.emplace_back();
    for (int l = 0; l < lanes(c); ++l) {
      names.push_back(context.layout.names.claim(array_.name.spelling() + "_parts"));
      context.module.arrays.push_back(
          {names.back(), reduce_.element[c]->type.lane(), kernel::Array::Role::Intermediate, {}, {count()}});
    }
  }
}

// ---- how the elements are divided

Expr ReductionParts::strips_per_row() const { return parts(rows_.width(), literal(columns_per_part())); }

Expr ReductionParts::rows_per_part() const { return plan::rows_of_part(division_, rows_.width()); }

Expr ReductionParts::count() const {
  return rows_.rank() < 2 ? strips_per_row() : kernel::mul(strips_below(), strips_per_row());
}

Expr ReductionParts::strips_below() const { return parts(rows_.count(), rows_per_part()); }

Expr ReductionParts::number(const Expr& row, const Expr& rows_per_part, const Expr& strip,
                            const Expr& strips_per_row) {
  return kernel::add(kernel::mul(kernel::div(row, rows_per_part), strips_per_row), strip);
}

// ---- who does it: a core with vectors, or a block of threads

kernel::Function ReductionParts::function(const std::string& name, const std::string& comment) const {
  kernel::Function function{context_.layout.names.claim(array_.name.spelling() + name), comment, {}, {}};
  if (!on_gpu_) function.parameters = {context_.layout.variables.first, context_.layout.variables.last};
  return function;
}

/// `items` are what a block's threads share at a time.
void ReductionParts::launch(kernel::Function function, const Expr& count, int items, const Expr& below) {
  kernel::Launch launch{function.name, count};
  if (on_gpu_) launch.grid = grid_of_blocks(count, items);
  if (below) launch.grid->threads[1] = below;
  context_.module.steps.push_back(std::move(launch));
  context_.module.functions.push_back(std::move(function));
}

/// A loop over lanes: accumulators or pairs that do not depend on one another.
For ReductionParts::lanes_loop(const kernel::Symbol& variable, const Expr& count, Block body) const {
  return {on_gpu_ ? LoopKind::Threads : LoopKind::Vector, variable, literal(0), count, std::move(body)};
}

/// Appends what a single thread does.
void ReductionParts::alone(Block& block, Block body) const {
  if (on_gpu_)
    block.push_back({lanes_loop(l_, literal(1), std::move(body))});
  else
    kernel::append(block, std::move(body));
}

// ---- states

std::vector<Lanes> ReductionParts::loaded(const Arrays& arrays, const Expr& index) const {
  std::vector<Lanes> state;
  for (std::size_t c = 0; c < arrays.size(); ++c) {
    Lanes& lanes = state.emplace_back();
    for (const kernel::Symbol& array : arrays[c])
      lanes.push_back(kernel::load(array, reduce_.element[c]->type.scalar, index));
  }
  return state;
}

/// arrays[into] = combined(left, right). A state of several values is read whole before it is replaced.
void ReductionParts::combine(ExpressionLowering& expressions, Block& block, const Arrays& arrays,
                             const Expr& into, std::vector<Lanes> left, std::vector<Lanes> right) const {
  expressions.open(block);
  std::size_t values = 0;
  for (const auto& lanes : arrays) values += lanes.size();
  if (values > 1) {
    hold(expressions, block, left, "a");
    hold(expressions, block, right, "b");
  }
  expressions.bind_operands({std::move(left), std::move(right)});
  std::vector<Lanes> result = lowered(expressions, reduce_.op.combined);
  if (values > 1) hold(expressions, block, result, "next");
  store(arrays, into, result, block);
  expressions.close();
}

// ---- the parts

ReductionParts::Arrays ReductionParts::accumulators(
    const std::function<kernel::Symbol(const std::string&)>& claim, Block& block) const {
  const kernel::LocalArray each{
      {}, {}, division_.accumulators, on_gpu_ ? kernel::Storage::Shared : kernel::Storage::Local};
  return arrays_like(
      each, [&] { return claim("acc"); }, block);
}

/// Appends an array for each lane of a state.
ReductionParts::Arrays ReductionParts::arrays_like(const kernel::LocalArray& each,
                                                   const std::function<kernel::Symbol()>& claim,
                                                   Block& block) const {
  Arrays arrays;
  for (std::size_t c = 0; c < components(); ++c) {
    auto& names = arrays.emplace_back();
    for (int l = 0; l < lanes(c); ++l) {
      kernel::LocalArray array = each;
      array.name = names.emplace_back(claim()), array.type = reduce_.element[c]->type.scalar;
      block.push_back({std::move(array)});
    }
  }
  return arrays;
}

void ReductionParts::start(ExpressionLowering& expressions, const Arrays& accumulators, Block& block) const {
  Block body;
  expressions.open(body);
  store(accumulators, kernel::name(l_), lowered(expressions, reduce_.op.identity), body);
  expressions.close();
  block.push_back({lanes_loop(l_, literal(division_.accumulators), std::move(body))});
}

Expr ReductionParts::column() const {
  if (division_.accumulators == 1) return kernel::name(x_);
  return kernel::add(kernel::name(division_.by_column ? x0_ : x_), kernel::name(l_));
}

/// Blocks of as many elements as there are accumulators, and the rest.
void ReductionParts::row(ExpressionLowering& expressions, const Arrays& accumulators, const Expr& from,
                         const Expr& until, Block& block) const {
  Block pointers, loops;
  expressions.open(loops, &pointers);
  const bool one = division_.accumulators == 1;
  const auto elements = [&](const Expr& begin, const Expr& end, int step, const Expr& count) {
    For blocks{LoopKind::Serial, x_, begin, end, {}, literal(step)};
    Block body;
    element(expressions, accumulators, one ? literal(0) : kernel::name(l_), body);
    if (one)
      alone(blocks.body, std::move(body));
    else
      blocks.body.push_back({lanes_loop(l_, count, std::move(body))});
    loops.push_back({std::move(blocks)});
  };
  if (one) {
    elements(from, until, 1, literal(1));
  } else {
    const Expr blocks = kernel::div(kernel::sub(until, from), literal(division_.accumulators));
    const kernel::Symbol rest = context_.layout.names.local("rest");
    loops.push_back(
        {kernel::Let{rest, kernel::add(from, kernel::mul(blocks, literal(division_.accumulators)))}});
    elements(from, kernel::name(rest), division_.accumulators, literal(division_.accumulators));
    elements(kernel::name(rest), until, division_.accumulators, kernel::sub(until, kernel::name(x_)));
  }
  expressions.close();
  kernel::append(block, std::move(pointers));
  kernel::append(block, std::move(loops));
}

void ReductionParts::single(ExpressionLowering& expressions, const Arrays& accumulators, Block& block) const {
  Block body;
  element(expressions, accumulators, literal(0), body);
  alone(block, std::move(body));
}

/// accumulators[into] = combined(accumulators[into], element).
void ReductionParts::element(ExpressionLowering& expressions, const Arrays& accumulators, const Expr& into,
                             Block& block) const {
  expressions.open(block);
  std::vector<Lanes> element = lowered(expressions, reduce_.element);
  combine(expressions, block, accumulators, into, loaded(accumulators, into), std::move(element));
  expressions.close();
}

void ReductionParts::own_column(ExpressionLowering& expressions, const Arrays& accumulators,
                                const std::function<Block(const std::function<Block()>& element)>& rows,
                                Block& block) const {
  Block body;
  expressions.open(body);
  const Arrays own = arrays_like(
      {{}, {}, 1}, [&] { return expressions.claim("own"); }, body);
  store(own, literal(0), lowered(expressions, reduce_.op.identity), body);
  kernel::append(body, rows([&] {
                   Block each;
                   element(expressions, own, literal(0), each);
                   return each;
                 }));
  store(accumulators, kernel::name(l_), loaded(own, literal(0)), body);
  expressions.close();
  block.push_back({lanes_loop(l_, literal(division_.accumulators), std::move(body))});
}

void ReductionParts::finish(ExpressionLowering& expressions, const Arrays& accumulators, const Expr& part,
                            Block& block) const {
  if (division_.accumulators > 1) combine_pairs(expressions, accumulators, block);
  Block body;
  store(parts_, part, loaded(accumulators, literal(0)), body);
  alone(block, std::move(body));
}

/// Halves the accumulators until one is left.
void ReductionParts::combine_pairs(ExpressionLowering& expressions, const Arrays& accumulators,
                                   Block& block) const {
  const kernel::Symbol level = context_.layout.names.local("level"),
                       half_of = context_.layout.names.local("half");
  const Expr l = kernel::name(l_), half = kernel::name(half_of);
  int levels = 0;
  while (1 << levels < division_.accumulators) ++levels;
  For loop{LoopKind::Serial, level, literal(1), literal(levels + 1), {}};
  loop.body.push_back({kernel::Let{
      half_of, kernel::binary(BinaryOp::Shr, literal(division_.accumulators), kernel::name(level))}});
  Block body;
  combine(expressions, body, accumulators, l, loaded(accumulators, l),
          loaded(accumulators, kernel::add(l, half)));
  loop.body.push_back({lanes_loop(l_, half, std::move(body))});
  block.push_back({std::move(loop)});
}

void ReductionParts::launch_parts(kernel::Function function, const Expr& launches, const Expr& below) {
  launch(std::move(function), launches, division_.accumulators, below);
}

// ---- the total

/// Sixteen parts from the first on, so far apart, or as many as there are: pairs of neighbours, then pairs of these. They are
/// loaded at once, as a level of pairs would wait for memory each time.
Block ReductionParts::several(ExpressionLowering& expressions, const Expr& parts, const Expr& first,
                              const Expr& stride) const {
  constexpr int all = 1 << bits_of_level;
  const kernel::Names& names = context_.layout.names;
  const kernel::Symbol from = names.local("begin"), k_of = names.local("k");
  const Expr k = kernel::name(k_of);
  const auto at = [&](const Expr& number) {
    return kernel::add(kernel::name(from), kernel::mul(number, stride));
  };
  Block block{{kernel::Let{from, first}}};
  kernel::LocalArray each{{}, {}, all};
  each.is_zeroed = true;  // compilers do not see that what is not loaded is not read
  const Arrays near = arrays_like(
      each, [&] { return expressions.claim("near"); }, block);
  Block load;
  store(near, k, loaded(parts_, at(k)), load);
  const auto for_those = [&](const Expr& last, int count, Block work) {
    work = {{kernel::If{kernel::binary(BinaryOp::Lt, at(last), parts), std::move(work), {}}}};
    block.push_back({For{LoopKind::Unrolled, k_of, literal(0), literal(count), std::move(work)}});
  };
  for_those(k, all, std::move(load));
  for (int apart = 1; apart < all; apart *= 2) {
    const Expr left = kernel::mul(k, literal(2 * apart)), right = kernel::add(left, literal(apart));
    Block pair;
    combine(expressions, pair, near, left, loaded(near, left), loaded(near, right));
    for_those(right, all / (2 * apart), std::move(pair));
  }
  store(parts_, kernel::name(from), loaded(near, literal(0)), block);
  return block;
}

void ReductionParts::launch_total() {
  kernel::Function function =
      this->function("_total", "The parts of '" + stage_.name + "', combined in pairs of neighbours.");
  ExpressionLowering expressions(context_, stage_, on_gpu_ ? Place::Thread : Place::Anywhere, rows_.coords());
  Block& block = function.body;
  const kernel::Names& names = context_.layout.names;
  const kernel::Symbol all = names.local("parts"), apart = names.local("stride"),
                       number = names.local("level");
  const kernel::Symbol& of_parts = context_.layout.variables.i;
  const Expr parts = kernel::name(all);
  block.push_back({kernel::Let{all, count()}});

  Block empty, start;
  expressions.open(empty);
  store(parts_, literal(0), lowered(expressions, reduce_.op.identity), empty);
  expressions.close();
  start.push_back({kernel::If{kernel::binary(BinaryOp::Le, parts, literal(0)), std::move(empty), {}}});
  alone(block, std::move(start));

  // Sixteen parts 1, 16, 256 … apart, each thread at a time: their sum takes the place of the first.
  const Expr stride = kernel::name(apart), i = kernel::name(of_parts);
  For levels{LoopKind::Serial, number, literal(0), literal(most_levels), {}};
  levels.body.push_back(
      {kernel::Let{apart, kernel::binary(BinaryOp::Shl, literal(1),
                                         kernel::mul(literal(bits_of_level), kernel::name(number)))}});
  const Expr of_each = kernel::mul(stride, literal(1 << bits_of_level));
  For loop = lanes_loop(of_parts, kernel::parts(parts, of_each),
                        several(expressions, parts, kernel::mul(i, of_each), stride));
  if (!on_gpu_) loop.kind = LoopKind::Serial;  // few, and apart
  levels.body.push_back({kernel::If{kernel::binary(BinaryOp::Lt, stride, parts), {{std::move(loop)}}, {}}});
  block.push_back({std::move(levels)});
  Block result;
  store_result(expressions, result);
  alone(block, std::move(result));
  launch(std::move(function), literal(1), 0);
}

void ReductionParts::store_result(ExpressionLowering& expressions, Block& block) const {
  expressions.open(block);
  std::vector<Lanes> total = loaded(parts_, literal(0));
  hold(expressions, block, total, "total");
  expressions.bind_operands({total, {}});
  const Lanes result = expressions.lower(reduce_.result);
  for (std::size_t l = 0; l < result.size(); ++l)
    block.push_back({kernel::Store{array_.name, literal(static_cast<std::int64_t>(l)), result[l]}});
  expressions.close();
}

}  // namespace weft::lower

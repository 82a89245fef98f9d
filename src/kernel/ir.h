// The kernel IR: how a pipeline runs, after every decision about it. It is what the emitters print: functions
// of statements over scalar variables and flat arrays. Types are scalar; pixels of several lanes have been
// split.
//
// Expressions are those of C: Select evaluates only the side it chooses, so it may guard a Load. Arithmetic
// is the stage IR's (value.h): emitters print whatever their language needs to keep integers free of
// undefined behaviour.
#pragma once

#include <array>
#include <memory>
#include <optional>
#include <string>
#include <utility>
#include <variant>
#include <vector>

#include "ir/value.h"
#include "kernel/symbol.h"

namespace weft::kernel {

struct Node;
using Expr = std::shared_ptr<const Node>;

/// Index arithmetic that every target's prelude provides, on i64; for GPUs on i32, too.
enum class IndexOp {
  Clamp,
  Mirror,
  Mirror101,
  Repeat,    // (index, extent) -> an index inside [0, extent), by border mode
  FloorDiv,  // (a, b), b > 0
};

struct Const {
  ir::Value value;
};
struct Name {
  Symbol name;
};
struct Unary {
  ir::UnaryOp op;
  Expr a;
};
struct Binary {
  ir::BinaryOp op;
  Expr a, b;
};
struct Select {
  Expr condition, a, b;
};
struct Cast {
  ir::CastMode mode;
  Expr a;
  bool fits =
      false;  ///< A float to an integer that surely holds it, unless it is NaN: nothing has to be checked.
};
struct IndexCall {
  IndexOp op;
  Expr a, b;
};
struct Load {
  Symbol array;
  Expr index;
};
/// The middle element, by rank n/2, of a local array of n values; reorders the array.
struct MedianOf {
  Symbol array;
  int count;
};

/// (a + b) / 2 rounded to 0, of 16 bits and in them: the sum itself may not fit.
struct HalfOfSum {
  Expr a, b;
};

struct Node {
  Scalar type;
  std::variant<Const, Name, Unary, Binary, Select, Cast, IndexCall, Load, MedianOf, HalfOfSum> op;
};

// ---- statements ------------------------------------------------------------------------------------------

struct Stmt;
using Block = std::vector<Stmt>;

enum class LoopKind {
  Serial,
  Vector,    ///< Iterations are independent and contiguous: meant for SIMD lanes.
  Unrolled,  ///< A few iterations, each as code of its own: what they index stays in registers.
  Scalar,    ///< Not to be vectorised by a compiler that would get it wrong.
  Rolled,  ///< Not to be unrolled by a compiler: as straight-line code it would leave a GPU's cache of instructions.
  // On GPUs, independent iterations are divided among
  GridX,    ///< all threads of the grid along x, neighbours taking neighbours;
  GridY,    ///< along y;
  GridZ,    ///< along z;
  BlocksX,  ///< the blocks of a grid along x; all threads of a block go along;
  BlocksY,  ///< along y;
  BlocksZ,  ///< along z;
  Threads,  ///< the threads of a block along x, or of each of its warps;
  Warps,    ///< the warps of a block, which lie along y: each takes one iteration;
  Lanes,    ///< the lanes of a block's only warp: each takes one iteration, and all go along.
};

/// A new variable; `is_mutable` if Assign may follow.
struct Let {
  Symbol name;
  Expr value;
  bool is_mutable = false;
  bool is_opaque = false;  ///< Compilers do not see what it is.
};
struct Assign {
  Symbol name;
  Expr value;
};
/// A pointer into an array: name[i] is array[offset + i].
struct Pointer {
  Symbol name, array;
  Scalar type;
  Expr offset;
  bool is_const = true;
  Expr unless = nullptr;   ///< Where it holds, name[i] is instead[i].
  Symbol instead = {};     ///< Another array.
  bool is_opaque = false;  ///< Compilers do not see what it points into.
};
enum class Storage {
  Local,   ///< In registers or on the stack; of each thread.
  Shared,  ///< Of all threads of a block.
};
/// An uninitialised array.
struct LocalArray {
  Symbol name;
  Scalar type;
  int count;
  Storage storage = Storage::Local;
  bool is_zeroed = false;   ///< Begins as zeros. Local only.
  bool is_aligned = false;  ///< At a multiple of the widest access. Shared only.
};
struct Store {
  Symbol array;
  Expr index, value;
};
/// A new local array of neighbouring scalars, array[offset] and on. The first `valid` are there, the others
/// are zeros.
struct LoadPack {
  Symbol name, array;
  Scalar type;
  int count;
  Expr offset, valid;
  bool is_whole = false;  ///< All are there, at a multiple of the widest access: nothing is to be tested.
  /// Of an array of smaller scalars, which come several to a scalar of this type, the first in its lowest bits.
  bool has_several = false;
  /// Further scalars of the local array, around those, that are stored later. Of a whole one only.
  int before = 0, after = 0;
  int scalars() const { return before + count + after; }
};
/// The first `valid` of them, at most, to array[offset] and on.
struct StorePack {
  Symbol name, array;
  Expr offset, valid;
  bool is_whole = false;
};
/// Asks memory for array[offset] and on, `count` of them, which are read soon.
struct Prefetch {
  Symbol array;
  Scalar type;
  Expr offset, count;
};
/// to[i] = table[places[i]] for the first `count` numbers: bytes of a table that has `size` of them, all at places inside.
struct LookUp {
  Symbol to, table, places;
  std::int64_t size;
  Expr count;
};
/// For the first `count` numbers, of each pick, and k from 0 on:
///
///     to[k][i] = table[places[i] * pitch + ((start + i) >> shift) * lanes + lane + k]
///
/// The table has floats in planes of `scalars` each, with one column for 2^shift pixels, and room for 16 scalars beyond its
/// end. `upright`, where the planes of a scalar come to lie side by side, has 16 * (pitch + 16).
struct PickPlanes {
  static constexpr int most_planes = 16,
                       least_shift = 3;  ///< What vectors of 8 and 16 floats can be permuted by.
  struct Pick {
    Symbol places;
    std::int64_t lane;  ///< Those of further columns count on.
    std::vector<Symbol> to;
  };
  Symbol table, upright;
  std::int64_t planes, pitch;
  Expr scalars, start;
  int shift;
  std::int64_t lanes;
  std::vector<Pick> picks;
  Expr count;
};
/// A new bool: whether `bytes` are too many for the caches, which only the machine that it runs on knows.
struct ExceedsCaches {
  Symbol name;
  Expr bytes;
};
/// array[offset] and on = from[0] and on, `count` of them, in memory itself: no cache keeps them.
struct StorePastCaches {
  Symbol array;
  Scalar type;
  Expr offset;
  Symbol from;
  Expr count;
};
/// A new variable: what `value` is in another lane of the warp. All lanes get here together.
struct Shuffle {
  Symbol name;
  Expr value;
  int distance = 0;     ///< Of the lane, to the right; where there is none, the value is any.
  Expr lane = nullptr;  ///< Its number instead.
};
/// A new bool: whether array[offset] lies at a multiple of `bytes` bytes.
struct IsAligned {
  Symbol name, array;
  Expr offset;
  int bytes;
};
/// array[index] = array[index] op value, indivisibly.
struct Atomic {
  ir::BinaryOp op;
  Symbol array;
  Expr index, value;
};
/// All threads of a block, or of a warp, get here, and see what the others have written, before any goes on.
struct Barrier {
  bool is_of_warp = false;
};
/// A row that a loop reads at neighbouring places, array[index - left] and on. `left` is at most the scalars of a vector of 64
/// bytes. Emitted code calls the vector that ends before array[index] `before`, and the one that begins there `here`.
struct Neighbours {
  Symbol array;
  Expr index;
  int left;
  Symbol before, here;
  /// Of a loop over whole rows (RowEnds): what is read left of the row, from the farthest on, and right of it, from the next on.
  std::vector<Expr> left_of_row = {}, right_of_row = {};
  Symbol beyond = {};  ///< The vector that begins with the latter.
};
/// A row that nobody keeps: array[index], which the loop reads at neighbouring places, is `value` at the loop's variable, and `lets`
/// are for what that names. Emitted code has a function `from` that computes a vector of them, each once: `after`, one vector before
/// it is needed `here`.
struct Columns {
  Symbol array;
  Expr index;
  Block lets;
  Expr value;
  std::vector<Expr> left_of_row, right_of_row;  ///< As of neighbours.
  Symbol from = {}, before = {}, here = {}, after = {}, beyond = {};
  Symbol last = {};  ///< The last one of the row, which overlaps the one before.
};
/// How emitted C++ spells a loop out in vectors, on processors that have them.
struct InVectors {
  int scalars;  ///< Of a vector: the widest of them fill 64 bytes.
  std::vector<Neighbours> neighbours;
  bool may_repeat = false;  ///< Iterations may run twice, since none reads what it stores.
  /// Of a row with its ends. Too short rows are left to the function that names this loop's (Function::in_vectors).
  bool is_whole_row = false;
  std::vector<Columns> columns = {};  ///< Of loops that are long enough (least_vectors_of_columns).
  /// Of all that is stored, in lines of the cache: if they are too many for the caches, they go past those. Null: never.
  Expr bytes = {};
};
/// The ends of a row. The loop has the pixels between, which read nothing beyond them.
struct RowEnds {
  Expr pixels;  ///< Of the whole row, which begins at 0.
  int lanes;    ///< Scalars of each, which is what the loop counts.
  /// What is beyond: a pixel of the row itself, or a constant.
  std::optional<IndexOp> border;
  Expr constant;
  Expr bytes;  ///< Of all that is stored.
};
struct For {
  LoopKind kind;
  Symbol variable;
  Expr from, to;  // i64, or i32 both
  Block body;
  Expr step = {};               ///< Of their type; null: 1.
  bool has_block_each = false;  ///< Of blocks: the grid has one for each iteration, so that this is no loop.
  /// What lowering knows of the row, until find_neighbours() decides how it is computed.
  std::optional<RowEnds> ends = {};
  std::optional<InVectors> vectors = {};
};
struct If {
  Expr condition;
  Block then, otherwise;
};
/// Where the condition holds, and the processor has vectors of 64 bytes: `then`, whose columns stay in registers.
struct IfVectors {
  Symbol name;     ///< Of the condition.
  Expr condition;  ///< Null: that of the statement before it with the same name.
  Block then, otherwise;
};
/// Several steps of a line at a time, on processors with vectors of 64 bytes: each lane of a vector goes along `columns` columns
/// of its own, and computes itself what they need beside them, so that all steps of a column are in registers. `update` ends with
/// the loop over all columns of the lanes that one step alone would be: from one row to another, of one float to a column.
struct StepsInLanes {
  Block update;
  std::int64_t columns;
  int steps;
  Symbol taps;  ///< What an update reads: a column and those beside it.
  Expr bytes;   ///< Of all that is stored: if they are too many for the caches, they go past those.
};
/// Names that are declared inside end with it.
struct Scope {
  Block body;
};
struct Continue {};
/// Calls another function of the module with the frame and these arguments.
struct CallFunction {
  Symbol function;
  std::vector<Expr> arguments;
};
/// The exchanges of a network of the module, of values of the array.
struct Order {
  Symbol array, network;
};
struct Comment {
  std::string text;
};

struct Stmt {
  std::variant<Let, Assign, Pointer, LocalArray, Store, LoadPack, StorePack, Prefetch, LookUp, PickPlanes,
               ExceedsCaches, StorePastCaches, Shuffle, IsAligned, Atomic, Barrier, For, If, IfVectors,
               StepsInLanes, Scope, Continue, CallFunction, Order, Comment>
      op;
};

// ---- functions and modules -------------------------------------------------------------------------------

struct Function {
  Symbol name;
  std::string comment;
  std::vector<Symbol> parameters;  ///< i64, besides the frame
  Block body;
  std::vector<Symbol> narrow = {};  ///< Sizes that the body takes as i32.
  /// The function that does the same where rows are long enough for vectors (InVectors::is_whole_row).
  Symbol in_vectors = {};
};

/// A scalar of the frame that every function can read: a size, a stride, a parameter.
struct Field {
  Symbol name;
  Scalar type;
  std::int64_t most = 0;  ///< The largest value that kernels are made for; 0: any.
};
struct Array {
  enum class Role { Input, Output, Intermediate };
  Symbol name;
  Type type;
  Role role;
  std::vector<Symbol> strides;  ///< Fields: scalars between neighbours in y, z, …
  std::vector<Expr> extents;    ///< In pixels.
};
/// The least that an extent has to be: smaller images are refused, as kernels would read pixels that are not there.
struct Needed {
  Expr extent;  ///< Made of sizes.
  std::int64_t least;
};
/// A constant table.
struct Table {
  Symbol name;
  Scalar type;
  std::vector<ir::Value> values;
};
/// Exchanges of values, one after another: of {i, j} the lesser goes to i, the greater to j.
struct Network {
  Symbol name;
  std::vector<std::pair<int, int>> exchanges;
};
/// What the threads of a block have in common, which is what the size of a block matters to.
enum class Sharing {
  Nothing,  ///< Each has pixels of its own.
  Rows,     ///< So it has, but neighbours read the same rows, which caches keep for a block.
  Work,     ///< The work is the block's, and there are as many blocks as there is work.
  Lanes,    ///< Likewise, and its threads are the lanes of one warp.
};
/// How many blocks of a function the device has room for at a time. The grid and the function's code are told when they run: that
/// depends on the device, and on the registers that a compiler gives the function.
struct Room {
  Symbol field;               ///< An i64 among the function's arguments.
  int registers = 0;          ///< Of a thread, as a plan expects: where there is no compiled code to ask.
  std::int64_t expected = 0;  ///< Blocks; likewise.
  static constexpr int most = 1 << 20;  ///< Blocks; no device has room for more.
};
/// How a GPU runs a function: blocks of threads, enough for `threads` in each dimension.
struct Grid {
  std::array<Expr, 3> threads;
  std::array<int, 3> block = {1, 1, 1};  ///< Until it is chosen; some are given.
  Sharing sharing = Sharing::Nothing;
  /// Of shared work: items that are divided among the threads at a time; 0: numbers that differ.
  int items = 0;
  int at_a_time = 1;  ///< Blocks that a multiprocessor has room for: compilers leave them the registers.
  int warps = 1;      ///< Of a block, if its threads are lanes; they lie one below the other.
  /// Of blocks, along the third dimension, which do the same with arrays of their own (kernel/join_alike.h).
  int layers = 1;
  std::optional<Room> room = {};  ///< If the grid depends on it.
  std::string why = {};           ///< Why blocks have that number of threads: a sentence, once it is decided.
};
/// On a CPU function(frame, first, last) for parts of [0, count), in parallel; on a GPU function() on a grid.
struct Launch {
  Symbol function;
  Expr count;
  std::optional<Grid> grid = {};
  /// About how many picoseconds a core takes for an iteration, where that may be so few that iterations are
  /// handed out in portions. Null: each is worth a thread.
  Expr picoseconds = nullptr;
};

/// Arrays that take each other's place: the first becomes the second, the second the third, the last the
/// first.
using Rotation = std::vector<Symbol>;
/// Some of the times of a repeat, with launches of their own.
///
///     for (step = from; step < to; step += by)
struct Turns {
  Expr from, to;  ///< `by` divides what lies between.
  std::int64_t by = 1;
  std::vector<Launch> launches;
  int places = 1;  ///< By which the arrays rotate before each time.
};
/// An array that another one stands in for, of the same shape.
struct StandIn {
  Symbol array, other;
  bool operator==(const StandIn&) const = default;
};
/// Its parts, one after the other; before each time the arrays rotate. The last time of all leaves every array
/// where it was before the first.
struct Repeat {
  Symbol counter;  ///< A field of the module, which begins at 0.
  std::vector<Turns> parts;
  std::vector<Rotation> rotations;
  std::vector<StandIn> first =
      {};  ///< The first time, once arrays have rotated: what is read instead of them.
};
using Step = std::variant<Launch, Repeat>;

struct Module {
  std::string name, comment;
  std::vector<Field> sizes, strides, params;
  std::vector<Field> counters;  ///< Of repeats.
  std::vector<Needed> needed;
  std::vector<Array> arrays;
  std::vector<Table> tables;
  std::vector<Network> networks;
  std::vector<Function> functions;
  std::vector<Step> steps;  ///< One after another.
  bool strict = false;
};

}  // namespace weft::kernel

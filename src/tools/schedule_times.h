// Several schedules of one application, side by side: what the model expects of each, and what they take.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "compile/scheduling.h"
#include "plan/core_costs.h"
#include "schedule/groups.h"
#include "tools/subject.h"
#include "tools/terminal.h"

namespace weft::tools {

/// A schedule on the CPU.
struct Contender {
  std::vector<std::string> names;  ///< Of the ways that lead to it: "auto", "dp".
  /// All stages, by their last ones, and tiles other than those that the compiler chooses.
  schedule::Grouping grouping;
  std::string schedule;  ///< Whole, with all of its plans: JSON (schedule/groups.h).
  std::vector<plan::KernelCost> kernels;
  std::optional<Program> program;  ///< When it has been compiled.
  std::vector<double> seconds;     ///< Of each round.
  std::vector<double> busy;  ///< Seconds in which all threads worked, likewise: what others do counts less.

  double expected() const { return plan::total_of(kernels); }  ///< Seconds.
  double measured() const { return median(seconds); }
};

/// Different ways to run one application.
class Contenders {
 public:
  /// For images of the subject's sizes. The subject has to outlive it.
  explicit Contenders(const Subject& subject);

  /// The schedule that a way to fuse and tile leads to, with its name.
  void add(const std::string& name, Fuse fuse, Tile tile = Tile::Auto);
  /// What is legal of the prepared pipeline; false if that schedule is there already, under another name.
  bool add(const std::string& name, schedule::Grouping grouping);
  /// So many that the model expects to take least, called "expected 2nd" if they are new.
  void add_cheapest(int count);

  /// The fastest of all(), which has been timed, in strips of other widths, called "auto in 256x64"; where a
  /// group cannot have them, its own stay.
  void add_in_strips();

  const ir::Pipeline& prepared() const { return prepared_; }
  const std::vector<Contender>& all() const { return all_; }
  /// The least median; of all(), which has been timed.
  const Contender& fastest() const;

  /// Compiles those that are new on all cores, and compares what each computes with what the first one does.
  /// Throws weft::Error if some differ by more than rounding. `threads`: of their runs; 0: all cores.
  void compile(int threads, Progress& progress);
  /// In each round every schedule runs once; they take turns in being first. Where some
  /// were timed before, the new ones run beside the fastest of them alone.
  void time(std::int64_t rounds, Progress& progress);

 private:
  /// Null if it is new.
  Contender* find(const schedule::Schedule& schedule);
  /// False if it is not new.
  bool add_if_new(const std::string& name, const schedule::Schedule& schedule);

  const Subject& subject_;
  rewrite::Preparation preparation_;
  ir::Pipeline prepared_;
  ir::Sizes sizes_;
  int threads_ = 0;
  Arguments arguments_;  ///< With memory for the outputs, into which all write.
  std::vector<Contender> all_;
};

}  // namespace weft::tools

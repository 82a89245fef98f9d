// The definition of the language: evaluates a pipeline pixel by pixel, stage by stage, exactly as stage_ir.h
// reads. When two parts of Weft disagree about a meaning, this file and value.cpp are right.
#pragma once

#include <functional>
#include <map>
#include <string>
#include <vector>

#include "base/run_progress.h"
#include "ir/bindings.h"

namespace weft::ir {

/// The outputs by name, dense and interleaved. Throws weft::Error for bindings that do not fit the pipeline.
/// Tells `progress` how far it is, if there is one.
std::map<std::string, Buffer> interpret(const Pipeline& pipeline, const Bindings& bindings,
                                        RunProgress* progress = nullptr);

/// The outputs where roundings are a little off at random (see shake.h).
std::map<std::string, Buffer> interpret_shaken(const Pipeline& pipeline, const Bindings& bindings,
                                               std::uint64_t seed);

/// The points of domains that it visits for that, those of evolutions at each step.
double work_of(const Pipeline& pipeline, const Bindings& bindings);

/// The pixel of a stage or input at a point of its box.
using PixelOf = std::function<Value(const Stage& stage, const std::vector<std::int64_t>& at)>;

/// Single pixels of one pure stage, each from what `source` says of the pixels that it reads.
class PixelInterpreter {
 public:
  /// All of these outlive it.
  PixelInterpreter(const Pipeline& pipeline, const Bindings& bindings, const Stage& stage, PixelOf source);

  Value operator()(const std::vector<std::int64_t>& at) const { return pixel_(at); }

 private:
  std::function<Value(const std::vector<std::int64_t>& at)> pixel_;
};

/// The index inside [0, extent) that a border mode reads for `index`, for any overshoot; -1 means the
/// constant, and so does every index of an empty region.
std::int64_t border_index(BorderMode mode, std::int64_t index, std::int64_t extent);

}  // namespace weft::ir

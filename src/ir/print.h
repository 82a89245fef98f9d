// The text form of pipelines: what `explain` shows and golden files hold. It depends on names and structure
// only, never on addresses.
//
//     pipeline blur(in: f32 [in.w, in.h]) -> blur
//     m0 = 1 2 1
//          2 4 2
//     blur: f32 [in.w, in.h] = sum(t in 3x2: m0(t) * in[clamp](x + t.x, y + t.y))
//
// An expression used more than once is named v0, v1, … where it is computed first; taps are t, t1, … and
// accumulators acc0, acc1, …, numbered per stage; masks m0, m1, … per pipeline.
#pragma once

#include <string>

#include "ir/stage_ir.h"

namespace weft::ir {

std::string to_string(const Pipeline& pipeline);
/// The stage alone: its line, or several if it has cases, folds or shared expressions; masks come first.
std::string to_string(const Stage& stage);
/// One line; folds and shared expressions are written out where they stand.
std::string to_string(const Expr& e);
std::string to_string(const Box& box);        ///< "[in.w, in.h]", "[1 .. in.w - 2, in.h]", "[]"
std::string to_string(const Domain& domain);  ///< "3x3", "{(0, -1), (-1, 0)}"
std::string name_of(BorderMode mode);

}  // namespace weft::ir

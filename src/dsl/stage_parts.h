// What the kinds of stages have in common when they are defined.
#pragma once

#include <weft/stage.h>

#include <functional>
#include <memory>
#include <string>
#include <vector>

#include "ir/stage_ir.h"

namespace weft::dsl {

ir::Affine coordinate(int dim);
std::vector<Var> coordinates(int rank);

/// Throws weft::Error for sizes that depend on a coordinate; `what` names the box in errors.
ir::Box box_of(const std::string& what, const BoxAt& box, const Where& where);
/// The box of a source for use outside of it: an image's own sizes get a pointer to the image, so that a
/// pipeline that only uses its size finds it.
ir::Box visible_box(const std::shared_ptr<const ir::Stage>& source);
/// The common box of everything that `value` reads at the current pixel; none if that is scalars alone. If it
/// reads nothing at all, the error recommends the general form, in which the user says the size.
ir::Box common_box(const std::string& name, const ir::Expr& value, const std::string& general_form,
                   const Where& where);

/// The value with the type's scalar, and repeated for all its lanes if it has one; of another type than the
/// one wanted if it has lanes that do not fit.
ir::Expr converted(Type type, const ir::Expr& value);
/// Whether a conversion to the scalar changes no value that there can be: u8 to i32 or f32; also 1.0 to u8.
bool keeps_values(const ir::Expr& value, Scalar to);
bool keeps_values(Scalar from, Scalar to);
/// What to write where it may.
std::string how_to_fit(Scalar from, Scalar to);
/// The stage itself. Throws weft::Error if it has no name, or uses what belongs elsewhere (check_scopes.h).
std::shared_ptr<const ir::Stage> checked(ir::Stage stage);
/// A pure stage of the cases' common type.
std::shared_ptr<const ir::Stage> define_stage(const std::string& name, const ir::Box& box, const Cases& cases,
                                              const Where& where);
/// The stage, which now may not be empty when the pipeline runs.
Stage with_need(const Stage& stage, const ir::Need& need);
/// Gives the mistakes that are made while `define` runs a place.
Stage placed(const std::string& name, const Where& where, const std::function<Stage()>& define);

}  // namespace weft::dsl

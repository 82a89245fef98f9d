#include "analysis/integer_set.h"

#include <isl/aff.h>
#include <isl/ctx.h>
#include <isl/options.h>
#include <isl/point.h>
#include <isl/set.h>
#include <isl/val.h>
#include <weft/error.h>

namespace weft::analysis {
namespace {

template <auto Free>
struct Freed {
  template <class T>
  void operator()(T* object) const {
    Free(object);
  }
};
using SetPtr = std::unique_ptr<isl_set, Freed<isl_set_free>>;
using PointPtr = std::unique_ptr<isl_point, Freed<isl_point_free>>;
using PwAffPtr = std::unique_ptr<isl_pw_aff, Freed<isl_pw_aff_free>>;
using ValPtr = std::unique_ptr<isl_val, Freed<isl_val_free>>;

/// The value if it is an integer; isl's forms have rational coefficients where floors occur.
std::optional<std::int64_t> integer(isl_val* owned) {
  const ValPtr value(owned);
  if (!value || isl_val_is_int(value.get()) != isl_bool_true) return std::nullopt;
  return isl_val_get_num_si(value.get());
}

std::optional<IntegerSets::Linear> linear(isl_aff* form, int parameters) {
  if (isl_aff_dim(form, isl_dim_div) != 0) return std::nullopt;
  IntegerSets::Linear result;
  for (int i = 0; i < parameters; ++i) {
    const auto factor = integer(isl_aff_get_coefficient_val(form, isl_dim_param, i));
    if (!factor) return std::nullopt;
    result.factors.push_back(*factor);
  }
  const auto constant = integer(isl_aff_get_constant_val(form));
  if (!constant) return std::nullopt;
  result.constant = *constant;
  return result;
}

/// The form of a piecewise form of one piece.
std::optional<IntegerSets::Linear> only_piece(const PwAffPtr& pieces, int parameters) {
  if (!pieces || isl_pw_aff_n_piece(pieces.get()) != 1) return std::nullopt;
  struct Found {
    int parameters;
    std::optional<IntegerSets::Linear> form;
  } found{parameters, std::nullopt};
  isl_pw_aff_foreach_piece(
      pieces.get(),
      [](isl_set* domain, isl_aff* form, void* user) {
        auto* f = static_cast<Found*>(user);
        f->form = linear(form, f->parameters);
        isl_set_free(domain);
        isl_aff_free(form);
        return isl_stat_ok;
      },
      &found);
  return found.form;
}

}  // namespace

struct IntegerSets::Context {
  isl_ctx* ctx = isl_ctx_alloc();
  Context() { isl_options_set_on_error(ctx, ISL_ON_ERROR_CONTINUE); }
  ~Context() { isl_ctx_free(ctx); }

  [[noreturn]] void fail(const std::string& set) const {
    const char* reason = isl_ctx_last_error_msg(ctx);
    throw InternalError("isl: " + std::string(reason ? reason : "no reason given") + ": " + set);
  }
  SetPtr read(const std::string& text) const {
    SetPtr set(isl_set_read_from_str(ctx, text.c_str()));
    if (!set) fail(text);
    return set;
  }
};

IntegerSets::IntegerSets() : context_(std::make_unique<Context>()) {}
IntegerSets::~IntegerSets() = default;

bool IntegerSets::is_empty(const std::string& text) {
  const isl_bool empty = isl_set_is_empty(context_->read(text).get());
  if (empty == isl_bool_error) context_->fail(text);
  return empty == isl_bool_true;
}

std::optional<std::vector<std::int64_t>> IntegerSets::least_point(const std::string& text, int rank) {
  if (is_empty(text)) return std::nullopt;
  const SetPtr least(isl_set_lexmin(context_->read(text).release()));
  if (!least) context_->fail(text);
  const PointPtr point(isl_set_sample_point(isl_set_copy(least.get())));
  if (!point) context_->fail(text);
  std::vector<std::int64_t> coordinates;
  for (int d = 0; d < rank; ++d) {
    const auto at = integer(isl_point_get_coordinate_val(point.get(), isl_dim_set, d));
    if (!at) context_->fail(text);
    coordinates.push_back(*at);
  }
  return coordinates;
}

std::optional<IntegerSets::Bounds> IntegerSets::bounds(const std::string& text, int parameters) {
  const auto side = [&](isl_pw_aff* (*bound)(isl_set*, int)) {
    const PwAffPtr pieces(isl_pw_aff_coalesce(bound(context_->read(text).release(), 0)));
    return only_piece(pieces, parameters);
  };
  const auto min = side(isl_set_dim_min), max = side(isl_set_dim_max);
  if (!min || !max) return std::nullopt;
  return Bounds{*min, *max};
}

}  // namespace weft::analysis

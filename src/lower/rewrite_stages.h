// Rewriting the expressions of every stage of a pipeline, reads following the stages that they read.
#pragma once

#include <functional>

#include "ir/stage_ir.h"
#include "ir/visit.h"

namespace weft::lower {

using Rule = std::function<ir::Expr(const ir::Expr&)>;

/// `rule_for` makes the rule for one stage; it sees expressions whose operands and sources are rewritten
/// already.
ir::Pipeline rewrite_stages(const ir::Pipeline& pipeline,
                            const std::function<Rule(const ir::Stage&)>& rule_for);

/// `read` of another source of the same rank.
ir::Expr with_source(const ir::Expr& read, ir::StagePtr source);

}  // namespace weft::lower

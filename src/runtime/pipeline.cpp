// The user's pipelines, checked as they are built.
#include <weft/pipeline.h>

#include "analysis/check.h"
#include "dsl/assemble.h"
#include "ir/verify.h"

namespace weft {

Pipeline::Pipeline(std::string name, const Outputs& outputs)
    : ir_(std::make_shared<const ir::Pipeline>(dsl::assemble(std::move(name), outputs))) {
  ir::verify(*ir_, "the definition");
  analysis::check(*ir_);
}
Pipeline::Pipeline(std::shared_ptr<const ir::Pipeline> ir) : ir_(std::move(ir)) {}

}  // namespace weft

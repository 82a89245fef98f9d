#include "analysis/check.h"

namespace weft::analysis {

void check(const ir::Pipeline&) {}

}  // namespace weft::analysis

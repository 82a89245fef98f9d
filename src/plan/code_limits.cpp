#include "plan/code_limits.h"

#include <algorithm>

namespace weft::plan {

CodeLimits usual_limits(bool is_of_blocks) {
  CodeLimits limits;
  if (is_of_blocks) limits.window = 600;
  return limits;
}

const CodeLimit* code_limit_named(const std::string& name) {
  const auto* const found = std::find_if(code_limits.begin(), code_limits.end(),
                                         [&](const CodeLimit& l) { return l.name == name; });
  return found == code_limits.end() ? nullptr : found;
}

CodeLimits limits_with(bool is_of_blocks, const LimitChoices& asked) {
  CodeLimits limits = usual_limits(is_of_blocks);
  for (const auto& [name, value] : asked) limits.*(code_limit_named(name)->value) = value;
  return limits;
}

LimitChoices unusual_of(const CodeLimits& limits, bool is_of_blocks) {
  const CodeLimits usual = usual_limits(is_of_blocks);
  LimitChoices unusual;
  for (const CodeLimit& limit : code_limits) {
    if (limits.*(limit.value) != usual.*(limit.value)) unusual[limit.name] = limits.*(limit.value);
  }
  return unusual;
}

}  // namespace weft::plan

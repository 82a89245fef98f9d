// What was chosen of a plan as JSON, which a file can ask for again, whole or in part.
//
//     {"levels": [{"kind": "core", "order": "parallel", "extent": [512, {"sizes": [64, 32], "enough": 64}]},
//                 {"kind": "row", "order": "march", "extent": ["all", 1]}],
//      "kept": {"in": {"rows": 4, "in_memory": true}}}          or true or false: whether rows are kept at all
#pragma once

#include <nlohmann/json_fwd.hpp>
#include <string>

#include "plan/choices.h"
#include "plan/plan.h"

namespace weft::plan {

nlohmann::ordered_json as_json(const KernelPlan& plan);
nlohmann::ordered_json as_json(const Choices& choices);
/// Of the kernel that stores `result`. Levels and sources may be left out. Throws weft::Error.
Choices choices_from(const nlohmann::ordered_json& json, const std::string& result);

}  // namespace weft::plan

// The machines that --machine names: this CPU, and boards that need not be here.
#pragma once

#include <nlohmann/json.hpp>
#include <string>

namespace weft::tools {

/// Throws weft::Error, which lists those there are.
void check_machine(const std::string& name);
/// "cpu, gtx470, ..."
std::string machine_names();

/// What is known of a board, one fact a line with its source; empty for the CPU, which is not described yet.
std::string machine_text(const std::string& name);
/// The same with plain numbers; null for the CPU.
nlohmann::ordered_json machine_json(const std::string& name);

}  // namespace weft::tools

// What `weft run` says once it is done, for people and as JSON.
#pragma once

#include "ir/probe.h"
#include "tools/run_job.h"
#include "tools/run_outputs.h"

namespace weft::tools {

/// Seconds.
struct Times {
  double read = 0, compile = 0, run = 0, write = 0;
};

void print_report(const RunOptions& options, const Job& job, const std::map<std::string, Buffer>& results,
                  const std::map<std::string, Written>& written, const Times& times);
/// On stderr, what is probably not what was wanted.
void print_warnings(const std::map<std::string, Written>& written);
void print_json_report(const Job& job, const std::map<std::string, Buffer>& results,
                       const std::map<std::string, Written>& written, const Times& times,
                       const std::string& target, const std::vector<ir::ProbedStage>& probed);

/// What --probe has found, alone.
void print_probe(const RunOptions& options, const Job& job, const std::vector<ir::ProbedStage>& probed);

}  // namespace weft::tools

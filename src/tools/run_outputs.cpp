#include "tools/run_outputs.h"

#include <weft/error.h>

#include <algorithm>
#include <set>

#include "io/picture.h"
#include "tools/files.h"

namespace weft::tools {

void check_outputs(const RunOptions& options, Job& job) {
  const auto& outputs = job.pipeline().outputs;
  job.output_files = files_by_name(options.outputs, "output", job.application.name, names_of(outputs));
  const bool prints = options.time || options.json || outputs[0]->rank() == 0;
  if (job.output_files.empty() && !prints)
    throw Error("say where the result goes: -o FILE").help("--time runs without writing anything");
  std::set<std::filesystem::path> seen;
  for (const ir::StagePtr& output : outputs) {
    const auto file = job.output_files.find(output->name);
    if (file == job.output_files.end()) continue;
    check_result(file->second, output->name, output->type, output->rank(), job.pictures);
    check_writable(file->second);
    if (!seen.insert(std::filesystem::path(file->second).lexically_normal()).second)
      throw Error("two outputs cannot both go to '" + file->second + "'");
  }
}

std::map<std::string, Written> write_outputs(const Job& job, const std::map<std::string, Buffer>& results) {
  std::map<std::string, Written> written;
  for (const auto& [name, file] : job.output_files)
    written[name] = {to_picture(results.at(name), file, job.pictures), file};
  for (const auto& [name, output] : written) io::write_picture(output.file, output.picture.buffer);
  return written;
}

}  // namespace weft::tools

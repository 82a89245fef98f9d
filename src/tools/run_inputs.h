// The images that `weft run` works on: pictures from files, or a scene drawn for the occasion.
#pragma once

#include "tools/run_job.h"

namespace weft::tools {

/// The application built for its images, and these read or drawn. Throws weft::Error.
Job job_with_inputs(const RunOptions& options, const Application& application);

}  // namespace weft::tools

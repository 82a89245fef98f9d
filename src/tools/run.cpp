// weft run: an application on pictures from files, or on a scene drawn for the occasion.
#include <weft/error.h>

#include <chrono>
#include <memory>
#include <optional>

#include "tools/arguments.h"
#include "tools/commands.h"
#include "tools/run_inputs.h"
#include "tools/run_outputs.h"
#include "tools/run_report.h"
#include "tools/run_stages.h"
#include "tools/show.h"
#include "tools/sizes.h"
#include "tools/targets.h"
#include "tools/terminal.h"

namespace weft::tools {
namespace {

double seconds_now() {
  return std::chrono::duration<double>(std::chrono::steady_clock::now().time_since_epoch()).count();
}
/// The seconds that `work` takes.
template <class Work>
double timed(Work work) {
  const double start = seconds_now();
  work();
  return seconds_now() - start;
}

std::string reading_text(const RunOptions& options) {
  std::vector<std::string> files;
  for (const std::string& image : options.images) files.push_back(parse_assignment(image).value);
  return files.empty() ? "drawing the input" : "reading " + joined(files);
}

std::string writing_text(const Job& job) {
  std::vector<std::string> files;
  for (const auto& [name, file] : job.output_files) files.push_back(file);
  return "writing " + joined(files);
}

std::vector<ir::ProbedStage> probe(const RunOptions& options, const Job& job, Progress& progress) {
  const ProbePoint point = parse_probe(options.probe, job);
  const Activity probing(progress, "probing " + point.stage->name);
  return ir::probe(job.pipeline(), ir::bound(job.arguments.images, job.arguments.params), point.stage,
                   point.at);
}

TerminalPictures terminal_for(const RunOptions& options) {
  if (!options.show) return TerminalPictures::None;
  if (options.json)
    throw Error("--show and --json cannot share the standard output").help("leave out one of them");
  return pictures_or_complaint(options.outputs.empty() && !options.time);
}

void run(const RunOptions& given) {
  const RunTarget target = parse_target(given.target);
  const compile::Scheduling scheduling = parse(given.schedule);
  const int threads = parse_threads(given.threads);
  const Application& application = find_application(given.application);
  const RunOptions options = with_outputs_told_apart(given, prepare(application, given.params).built);
  if (!options.size.empty()) parse_size(options.size);
  const TerminalPictures terminal = terminal_for(options);

  Progress progress(options.quiet);
  Times times;
  std::optional<Job> job;
  times.read = timed([&] {
    const Activity reading(progress, reading_text(options));
    job.emplace(job_with_inputs(options, application));
  });
  job->arguments.params = job->prepared.params;
  store_named_stages(options, *job);
  std::vector<ir::ProbedStage> probed;
  if (!options.probe.empty()) {
    probed = probe(options, *job, progress);
    const bool is_all = options.outputs.empty() && !options.time;
    if (!options.json || is_all) print_probe(options, *job, probed);
    if (is_all) return;
  }
  check_outputs(options, *job);

  RunProgress of_run;
  std::optional<Program> program;
  times.compile = timed([&] {
    const Activity compiling(progress, "compiling " + application.name);
    program = compile(job->prepared.built.pipeline, target, threads, scheduling,
                      progress.is_visible() ? &of_run : nullptr);
  });
  std::map<std::string, Buffer> results;
  times.run = timed([&] {
    const Activity running(progress, [&](double seconds) { return running_text(of_run, seconds); });
    results = program->run(job->arguments);
  });
  std::map<std::string, Written> written;
  times.write = timed([&] {
    if (job->output_files.empty()) return;
    const Activity writing(progress, writing_text(*job));
    written = write_outputs(*job, results);
  });
  show_results(*job, results, terminal);
  if (options.json)
    print_json_report(*job, results, written, times, name_of(target, *program), probed);
  else
    print_report(options, *job, results, written, times);
  print_warnings(written);
}

}  // namespace

void add_run(Parser& weft) {
  auto options = std::make_shared<RunOptions>();
  Command command = weft.add_command("run", "runs an application on pictures");
  command.add_option("APP", options->application, "the application").required();
  command.add_option("IMAGE", options->images, "picture files in order, or NAME=FILE");
  command.add_repeatable(
      "-o,--output", options->outputs,
      "FILE for the result, or NAME=FILE for each output that is wanted, or for any stage,\n"
      "which is then stored in this run; several may follow one -o");
  command
      .add_option("--target", options->target,
                  "auto (the GPU if one works, else the CPU), cpu, reference, cuda,\n"
                  "simt, simt-race or simt-address")
      .capture_default_str();
  command.add_repeatable("--param", options->params,
                         "NAME=VALUE: an option or a parameter of the application");
  command.add_option("--size", options->size,
                     "WIDTHxHEIGHT of a synthetic scene, instead of images; WIDTH or WIDTHxHEIGHTxDEPTH for\n"
                     "applications of other dimensions");
  command.add_flag("--grey,--gray", options->grey,
                   "reads colour pictures as luminance where one channel will do");
  command.add_flag("--rgb", options->rgb, "reads pictures as RGB where three channels will do");
  command.add_flag("--normalize", options->normalize,
                   "writes the least value as black and the largest as white; --normalize=99.5 the\n"
                   "0.5th and the 99.5th percentile");
  command.add_option("--depth", options->depth,
                     "8, 16 or 32f: what files hold; unless said, results of floats have the depth of\n"
                     "the pictures that were read");
  command
      .add_option("--probe", options->probe,
                  "X,Y: prints the values of all pixels that this one depends on, as the interpreter\n"
                  "computes them. STAGE:X,Y is one of a stage rather than of the first output;\n"
                  "X,Y,Z in volumes")
      .type_name("[STAGE:]X,Y");
  command.add_flag("--show", options->show,
                   "shows the results that are written, or else the first, on a terminal that can:\n"
                   "one that knows sixel or kitty's protocol");
  command
      .add_option("--max-pixels", options->max_pixels,
                  "refuses pictures of more pixels; unless said, those that take more than half of this\n"
                  "machine's memory")
      .type_name("N");
  add_schedule_flags(command, options->schedule);
  command.add_option("--threads", options->threads, "all cores unless said");
  command.add_flag("--json", options->json, "one JSON object");
  command.add_flag("--time", options->time,
                   "also says how long reading, compiling, running and writing took");
  add_quiet(command, options->quiet);
  command.footer(
      "Integer pictures become float images scaled to the application's range, and results likewise;\n"
      ".npy, .pfm and float .tif files are taken and written as they are. Grey becomes RGB, alpha is dropped "
      "or\n"
      "full, and 16 bits become 8 where the application takes nothing else.\n"
      "Pictures are turned upright as EXIF says. The ICC profile of the first one goes to results with as\n"
      "many channels as it has, in files that hold one: .png, .jpg, .tif and .webp.\n"
      "Examples:\n"
      "  weft run gaussian photo.png -o blurred.png --param size=5\n"
      "  weft run harris photo.jpg -o corners.png --grey --param k=0.06\n"
      "  weft run optical_flow before.png after.png -o flow.png --grey\n"
      "  weft run sobel --size 640x480 -o edges.pfm --time");
  command.callback([options] { run(*options); });
}

}  // namespace weft::tools

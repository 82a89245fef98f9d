#include "tools/mutants.h"

#include <fmt/format.h>

#include <algorithm>
#include <cstring>
#include <nlohmann/json.hpp>
#include <numeric>
#include <optional>
#include <set>
#include <sstream>

#include "emit/gpu.h"
#include "kernel/build.h"
#include "kernel/evaluate.h"
#include "kernel/visit.h"
#include "tools/arguments.h"
#include "tools/forked.h"
#include "tools/json_text.h"
#include "tools/scene.h"
#include "tools/simt_program.h"

namespace weft::tools {
namespace {

// In one text: most of the time that a small one takes is that of the headers.
constexpr std::size_t batch_size = 8;
constexpr unsigned most_seconds = 120;  // of a mutant

using Outputs = std::map<std::string, Buffer>;

// ---- what differs in the text ------------------------------------------------------------------------------

std::vector<std::string> lines_of(const std::string& text) {
  std::vector<std::string> lines;
  std::istringstream stream(text);
  for (std::string line; std::getline(stream, line);) lines.push_back(line);
  return lines;
}

std::string without_indentation(const std::vector<std::string>& lines, std::size_t first, std::size_t end) {
  std::string text;
  for (std::size_t l = first; l < end; ++l) {
    const std::size_t begin = lines[l].find_first_not_of(' ');
    if (begin == std::string::npos) continue;
    text += (text.empty() ? "" : " ") + lines[l].substr(begin);
  }
  return text;
}

/// Says where the two texts differ.
void place(MutantResult& mutant, const std::vector<std::string>& right,
           const std::vector<std::string>& wrong) {
  const std::size_t least = std::min(right.size(), wrong.size());
  std::size_t first = 0, same_at_end = 0;
  while (first < least && right[first] == wrong[first]) ++first;
  while (same_at_end < least - first &&
         right[right.size() - 1 - same_at_end] == wrong[wrong.size() - 1 - same_at_end])
    ++same_at_end;
  mutant.before = without_indentation(right, first, right.size() - same_at_end);
  mutant.after = without_indentation(wrong, first, wrong.size() - same_at_end);
  std::size_t head = first;
  while (head > 0 && right[head].find("__global__") == std::string::npos) --head;
  mutant.line = static_cast<int>(first - head) + 1;
}

// ---- sizes -------------------------------------------------------------------------------------------------

/// The value where images have that many columns; nothing if it has to do with what a kernel computes.
std::optional<std::int64_t> value_at(const kernel::Expr& e, const kernel::Module& module,
                                     const ir::Pipeline& pipeline, std::int64_t width) {
  kernel::FieldValues sizes;
  for (const ir::StagePtr& input : pipeline.inputs) {
    for (int d = 0; d < static_cast<int>(input->box.size()); ++d)
      sizes[module.sizes.at(sizes.size()).name] = {.i = d == 0 ? width : 64};
  }
  try {
    return kernel::evaluate(e, sizes);
  } catch (const std::exception&) {  // a name that only the kernel knows
    return std::nullopt;
  }
}

/// The least widths of images where a strip of a kernel has a single column, after others.
std::set<std::int64_t> widths_with_short_strips(const kernel::Module& module, const ir::Pipeline& pipeline) {
  std::set<std::int64_t> widths;
  for (const kernel::Function& function : module.functions) {
    kernel::visit_statements(function.body, [&](const kernel::Stmt& statement) {
      const auto* loop = std::get_if<kernel::For>(&statement.op);
      if (!loop || loop->kind != kernel::LoopKind::BlocksX || !loop->step) return;
      const std::int64_t step = kernel::literal_value(loop->step).value_or(0);
      for (std::int64_t width = step + 1; step > 0 && step <= 1024 && width <= 2 * step + 256; ++width) {
        const auto from = value_at(loop->from, module, pipeline, width);
        const auto to = value_at(loop->to, module, pipeline, width);
        if (!from || !to || *to - *from <= step || (*to - *from) % step != 1) continue;
        widths.insert(width);
        return;
      }
    });
  }
  return widths;
}

/// Small ones first, as most mutants do not get further. A loop that ends too early leaves out what only some
/// extents have: one column more than a strip's, or one row more than strips and batches of any height. So does a test
/// for columns that the lanes of a warp divide evenly. Of the large ones, images and results are aligned in each combination.
std::vector<Size> sizes_for(const kernel::Module& module, const ir::Pipeline& pipeline) {
  std::vector<Size> sizes = parse_sizes("7x5");
  for (std::int64_t width = 9; width <= 24; ++width) sizes.push_back({{width, 5}});
  for (std::int64_t height = 31; height <= 42; ++height) sizes.push_back({{8, height}});
  for (const std::int64_t width : widths_with_short_strips(module, pipeline)) sizes.push_back({{width, 64}});
  for (const Size& size : parse_sizes("130x71,131x72,512x89,512x91,512x93,516x93")) sizes.push_back(size);
  return sizes;
}

// ---- running them ------------------------------------------------------------------------------------------

/// A size, what goes in, and what has to come out.
struct Case {
  Arguments arguments;
  Outputs expected;
  Outputs without_fault = {};  ///< Of the kernels as they are.
};

struct Candidate {
  kernel::Mutation mutation;
  MutantResult result;
};

bool same_bits(const Outputs& a, const Outputs& b) {
  return std::all_of(a.begin(), a.end(), [&](const auto& output) {
    const Buffer one = output.second.packed(), other = b.at(output.first).packed();
    return std::memcmp(one.data(), other.data(), static_cast<std::size_t>(one.bytes())) == 0;
  });
}

class Scoring {
 public:
  Scoring(const Application& application, const MutantPlan& plan) : plan_(plan) {
    const Prepared prepared = prepare(application, plan.params);
    pipeline_.emplace(prepared.built.pipeline);
    if (prepared.built.images.empty()) throw Error("mutants are of applications that have images");
    module_ = cuda_module(*pipeline_, plan.scheduling);
    fuzz::Random random(plan.seed);
    for (const Size& size : plan.sizes.empty() ? sizes_for(module_, pipeline_->ir()) : plan.sizes)
      add_case(prepared, fitted(size, rank_of(prepared.built)), application.about.range, random);
    for (const RunTarget target : plan.targets) run_without_faults(target);
    choose();
  }

  MutantScore run(const std::function<void(std::size_t, std::size_t)>& progress) {
    MutantScore score{places_, {}};
    for (const RunTarget target : plan_.targets) {
      std::vector<std::size_t> left;
      for (std::size_t c = 0; c < candidates_.size(); ++c) {
        if (!candidates_[c].result.is_found()) left.push_back(c);
      }
      run_on(target, left, progress);
    }
    for (Candidate& candidate : candidates_) score.results.push_back(std::move(candidate.result));
    return score;
  }

 private:
  void add_case(const Prepared& prepared, const Size& size, double range, fuzz::Random& random) {
    Case added;
    added.arguments.params = prepared.params;
    const ir::Sizes sizes = input_sizes(pipeline_->ir(), size);
    for (const ir::StagePtr& input : pipeline_->ir().inputs) {
      const Size own{sizes.at(input->name)};
      added.arguments.images[input->name] = random_image(input->type, own, range, random);
    }
    const Expected what = expected(pipeline_->ir(), added.arguments);
    if (!what.outputs && plan_.sizes.empty()) return;  // there are larger ones
    if (!what.outputs) throw Error("no mutants at " + size.text() + ": " + what.refusal);
    added.expected = *what.outputs;
    cases_.push_back(std::move(added));
  }

  SimtOptions options_for(RunTarget target) const {
    return {build_of(target), simt::quick_flags(build_of(target)), plan_.scheduling};
  }

  /// Neither the checker nor the comparison may find anything.
  void run_without_faults(RunTarget target) {
    const Program program = simt_programs(*pipeline_, {module_}, options_for(target)).at(0);
    for (Case& one : cases_) {
      one.without_fault = program.run(one.arguments);
      for (const Comparison& c : compared(one, one.without_fault)) {
        if (!c.equal) throw Error("the kernels are wrong without any fault: " + c.text());
      }
    }
  }

  std::vector<Comparison> compared(const Case& one, const Outputs& found) const {
    return compare(pipeline_->ir(), found, one.arguments, one.expected,
                   [&](const std::string&) { return plan_.tolerance; });
  }

  /// Some of the faults that show in the text; no two of the same text.
  void choose() {
    const std::string right = emit::emit_gpu_for_loading(module_);
    const std::vector<std::string> lines = lines_of(right);
    std::set<std::size_t> known{std::hash<std::string>()(right)};
    for (const kernel::Mutation& mutation : kernel::mutations_of(module_)) {
      const std::string wrong = emit::emit_gpu_for_loading(kernel::mutated(module_, mutation));
      if (!known.insert(std::hash<std::string>()(wrong)).second) continue;
      Candidate& candidate = candidates_.emplace_back();
      candidate.mutation = mutation;
      candidate.result.fault = mutation.fault;
      candidate.result.kernel = module_.functions[mutation.function].name.spelling();
      place(candidate.result, lines, lines_of(wrong));
    }
    places_ = candidates_.size();
    if (plan_.most == 0 || plan_.most >= places_) return;
    fuzz::Random random(plan_.seed);  // whatever the sizes are
    for (std::size_t c = 0; c < plan_.most; ++c)
      std::swap(candidates_[c], candidates_[c + random.bits() % (places_ - c)]);
    candidates_.resize(plan_.most);
  }

  void run_on(RunTarget target, const std::vector<std::size_t>& chosen,
              const std::function<void(std::size_t, std::size_t)>& progress) {
    const std::size_t batches = (chosen.size() + batch_size - 1) / batch_size;
    std::size_t done = candidates_.size() - chosen.size();
    const auto first_of = [&](std::size_t batch) { return batch * batch_size; };
    const auto end_of = [&](std::size_t batch) { return std::min(chosen.size(), first_of(batch + 1)); };
    const auto work = [&](std::size_t batch) {
      const std::vector<std::size_t> part(chosen.begin() + static_cast<std::ptrdiff_t>(first_of(batch)),
                                          chosen.begin() + static_cast<std::ptrdiff_t>(end_of(batch)));
      return results_of(target, part);
    };
    share_out_to_processes(batches, 0, work, [&](std::size_t batch, const Answer& answer) {
      if (!answer.failure.empty()) throw Error("a batch of mutants was lost: " + answer.failure);
      const nlohmann::ordered_json results = json_of(answer.text);
      for (std::size_t r = 0; r < results.size(); ++r) {
        MutantResult& result = candidates_[chosen[first_of(batch) + r]].result;
        result.finder = static_cast<Finder>(results[r].at("finder").get<int>());
        result.how = results[r].at("how").get<std::string>();
      }
      progress(done += end_of(batch) - first_of(batch), candidates_.size());
    });
  }

  /// In a process of its own: those of one text, as JSON.
  std::string results_of(RunTarget target, const std::vector<std::size_t>& part) const {
    nlohmann::ordered_json results = nlohmann::ordered_json::array();
    const auto add = [&](const Program& program) {
      const Answer answer = in_another_process([&] { return result_of(program); }, most_seconds);
      results.push_back(answer.failure.empty() ? json_of(answer.text) : found(Finder::End, answer.failure));
    };
    try {
      for (const Program& program : programs_of(target, part)) add(program);
    } catch (const Error&) {  // which of them it is shows when they are compiled apart
      results.clear();
      for (const std::size_t c : part) {
        try {
          add(programs_of(target, {c}).at(0));
        } catch (const Error& error) {
          results.push_back(found(Finder::Compiler, error.what()));
        }
      }
    }
    return json_text(results);
  }

  std::vector<Program> programs_of(RunTarget target, const std::vector<std::size_t>& part) const {
    std::vector<kernel::Module> modules;
    for (const std::size_t c : part) modules.push_back(kernel::mutated(module_, candidates_[c].mutation));
    return simt_programs(*pipeline_, modules, options_for(target));
  }

  static nlohmann::ordered_json found(Finder finder, const std::string& how) {
    return {{"finder", static_cast<int>(finder)}, {"how", how}};
  }

  /// In a process of its own, again: a mutant may destroy it.
  std::string result_of(const Program& program) const {
    bool is_same = true;
    for (const Case& one : cases_) {
      Outputs outputs;
      try {
        outputs = program.run(one.arguments);
      } catch (const Error& error) {
        return json_text(found(Finder::Checker, error.what()));
      }
      for (const Comparison& c : compared(one, outputs)) {
        if (!c.equal) return json_text(found(Finder::Comparison, c.text()));
      }
      is_same = is_same && same_bits(outputs, one.without_fault);
    }
    return json_text(found(is_same ? Finder::Nobody : Finder::Tolerance, ""));
  }

  const MutantPlan& plan_;
  std::optional<Pipeline> pipeline_;
  kernel::Module module_;
  std::vector<Case> cases_;
  std::vector<Candidate> candidates_;
  std::size_t places_ = 0;
};

}  // namespace

std::string name_of(Finder finder) {
  constexpr const char* names[] = {"checker", "comparison", "compiler", "end", "tolerance", "nobody"};
  return names[static_cast<int>(finder)];
}

std::size_t MutantScore::found() const {
  return static_cast<std::size_t>(
      std::count_if(results.begin(), results.end(), [](const MutantResult& r) { return r.is_found(); }));
}

MutantScore score_mutants(const Application& application, const MutantPlan& plan,
                          const std::function<void(std::size_t done, std::size_t all)>& progress) {
  return Scoring(application, plan).run(progress);
}

}  // namespace weft::tools

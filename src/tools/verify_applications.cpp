#include "tools/verify_applications.h"

#include <fmt/format.h>

#include <algorithm>
#include <memory>
#include <mutex>

#include "ir/stage_ir.h"
#include "tools/arguments.h"
#include "tools/compare.h"
#include "tools/scene.h"
#include "tools/simt_program.h"
#include "tools/terminal.h"
#include "tools/workers.h"

namespace weft::tools {
namespace {

/// One way to build an application.
struct Variant {
  std::vector<std::string> params;
  std::map<std::string, Type> types;

  std::string text() const {
    std::string all = joined(params, " ");
    for (const auto& [name, type] : types) all += (all.empty() ? "" : " ") + name + ":" + weft::name_of(type);
    return all;
  }
};

// ---- variants ---------------------------------------------------------------------------------------------

/// All pixel types of the first image that accepts several; further images follow it where they can.
std::vector<std::map<std::string, Type>> type_choices(const std::vector<DeclaredImage>& images) {
  const auto several = [](const DeclaredImage& i) { return i.scalars.size() * i.lanes.size() > 1; };
  const auto leader = std::find_if(images.begin(), images.end(), several);
  if (leader == images.end()) return {{}};
  const auto pick = [](const auto& items, auto wanted) {
    return std::find(items.begin(), items.end(), wanted) == items.end() ? items[0] : wanted;
  };
  std::vector<std::map<std::string, Type>> choices;
  for (Scalar scalar : leader->scalars) {
    for (int lanes : leader->lanes) {
      auto& types = choices.emplace_back();
      for (const DeclaredImage& image : images) {
        if (several(image)) types[image.name] = {pick(image.scalars, scalar), pick(image.lanes, lanes)};
      }
    }
  }
  return choices;
}

bool is_given(const std::vector<std::string>& params, const std::string& name) {
  return std::any_of(params.begin(), params.end(), [&](const auto& p) { return p.starts_with(name + "="); });
}

/// The borders to try; one empty list of parameters if the application does not choose.
std::vector<std::vector<std::string>> border_choices(const Built& built, const VerifyPlan& plan) {
  const auto option = std::find_if(built.options.begin(), built.options.end(),
                                   [](const DeclaredOption& o) { return o.name == "border"; });
  if (option == built.options.end() || is_given(plan.params, "border")) return {{}};
  std::vector<std::vector<std::string>> choices;
  for (const std::string& border : plan.borders.empty() ? option->choices : plan.borders) {
    choices.push_back({"border=" + border});
    const bool has_value = std::any_of(built.options.begin(), built.options.end(),
                                       [](const DeclaredOption& o) { return o.name == "border_value"; });
    if (border == "constant" && has_value && !is_given(plan.params, "border_value"))
      choices.back().push_back("border_value=7");
  }
  return choices;
}

/// Every border with every pixel type; and every other choice of every option, one at a time.
std::vector<Variant> variants_of(const Application& application, const VerifyPlan& plan) {
  const Built built = prepare(application, plan.params).built;
  std::vector<Variant> variants;
  const auto add = [&](const std::vector<std::string>& extra, const std::map<std::string, Type>& types) {
    Variant variant{plan.params, types};
    variant.params.insert(variant.params.end(), extra.begin(), extra.end());
    variants.push_back(std::move(variant));
  };
  if (plan.quick) {
    if (plan.borders.empty())
      add({}, {});
    else
      for (const auto& border : border_choices(built, plan)) add(border, {});
    return variants;
  }
  for (const auto& types : type_choices(built.images)) {
    for (const auto& border : border_choices(built, plan)) add(border, types);
    for (const DeclaredOption& option : built.options) {
      if (option.name == "border" || is_given(plan.params, option.name)) continue;
      for (const std::string& choice : option.choices) {
        if (choice != option.initial) add({option.name + "=" + choice}, types);
      }
    }
  }
  return variants;
}

// ---- checks -----------------------------------------------------------------------------------------------

/// Without --sizes: a pixel, lines, less than a window, and more, by number of dimensions.
std::vector<Size> default_sizes(int rank) {
  const char* sizes[] = {"1,2,7,64,1031", "1x1,1x7,7x1,3x3,131x35,300x67",
                         "1x1x1,1x7x2,7x1x3,3x3x3,33x17x9,20x16x12", "1x1x1x1,5x4x3x2,9x7x5x4"};
  return parse_sizes(sizes[std::clamp(rank, 1, 4) - 1]);
}

std::vector<Size> sizes_for(const Built& built, const VerifyPlan& plan) {
  const int rank = rank_of(built);
  if (rank == 0) return {Size{}};  // nothing has a size: there is one way to run it
  if (plan.sizes.empty()) return default_sizes(rank);
  std::vector<Size> sizes;
  for (const Size& size : plan.sizes) {
    if (const Size fit = fitted(size, rank); std::find(sizes.begin(), sizes.end(), fit) == sizes.end())
      sizes.push_back(fit);
  }
  return sizes;
}

Arguments random_arguments(const ir::Pipeline& pipeline, const Prepared& prepared, const Size& size,
                           double range, fuzz::Random& random) {
  Arguments arguments;
  arguments.params = prepared.params;
  if (pipeline.inputs.empty()) return arguments;
  const ir::Sizes sizes = input_sizes(pipeline, size);
  for (const ir::StagePtr& input : pipeline.inputs) {
    const Size own{sizes.at(input->name)};
    arguments.images[input->name] = random_image(input->type, own, range, random);
  }
  return arguments;
}

/// A pipeline that is checked, at all its sizes.
struct Subject {
  const Application& application;
  std::string name;  ///< Of the application and its variant.
  Prepared prepared;
  std::vector<Size> sizes;
};

/// One; or, where the size is part of the pipeline, one per size.
std::vector<Subject> subjects_of(const Application& application, const Variant& variant,
                                 const VerifyPlan& plan) {
  const std::string name = application.name + " " + variant.text();
  Prepared prepared = prepare(application, variant.params, variant.types);
  const std::vector<Size> sizes = sizes_for(prepared.built, plan);
  std::vector<Subject> subjects;
  if (!prepared.built.images.empty()) {
    subjects.push_back({application, name, std::move(prepared), sizes});
    return subjects;
  }
  for (const Size& size : sizes) {
    const auto params = with_size(prepared.built, variant.params, size);
    subjects.push_back({application, name, prepare(application, params, variant.types), {size}});
  }
  return subjects;
}

/// Programs of the subjects, in their order.
std::vector<Program> compiled(const std::vector<Subject>& subjects, RunTarget target,
                              const compile::Scheduling& scheduling) {
  std::vector<Pipeline> pipelines;
  for (const Subject& subject : subjects) pipelines.push_back(subject.prepared.built.pipeline);
  if (is_simt(target) && pipelines.size() > 1) {
    try {
      const simt::Build build = build_of(target);
      return simt_programs(pipelines, {build, simt::quick_flags(build), scheduling});
    } catch (const Error&) {  // which of them it is shows when they are compiled apart
    }
  }
  std::vector<Program> programs;
  for (const Pipeline& pipeline : pipelines) programs.push_back(compile(pipeline, target, 0, scheduling));
  return programs;
}

class Verification {
 public:
  Verification(const std::vector<const Application*>& applications, const VerifyPlan& plan,
               const VerifyListener& listener)
      : applications_(applications), plan_(plan), listener_(listener), waiting_(applications.size()) {}

  void run() {
    for (std::size_t a = 0; a < applications_.size(); ++a) {
      for (Variant& variant : variants_of(*applications_[a], plan_)) {
        cases_.push_back({a, std::move(variant)});
        ++waiting_[a].cases;
      }
    }
    const std::uint64_t batches = (cases_.size() + batch_size - 1) / batch_size;
    share_out(0, batches, plan_.workers, [&](std::uint64_t batch) {
      const std::size_t first = batch * batch_size;
      check(first, std::min(cases_.size(), first + batch_size));
    });
  }

 private:
  /// Compiled together: most of the time that a small text takes is that of the headers.
  static constexpr std::size_t batch_size = 12;

  struct Case {
    std::size_t application;
    Variant variant;
  };
  struct Waiting {
    std::size_t cases = 0;  ///< That are not finished.
    VerifyTotals totals;
  };

  void check(std::size_t first, std::size_t end) {
    std::vector<Subject> subjects;
    std::vector<std::size_t> case_of;
    for (std::size_t c = first; c < end; ++c) {
      const Case& checked = cases_[c];
      for (Subject& subject : subjects_of(*applications_[checked.application], checked.variant, plan_)) {
        subjects.push_back(std::move(subject));
        case_of.push_back(c);
      }
    }
    std::vector<std::vector<Program>> programs;  // by target
    for (const RunTarget target : plan_.targets) {
      progress(fmt::format("{} compiling for {}", subjects[0].name, name_of(target)));
      programs.push_back(compiled(subjects, target, plan_.scheduling));
    }
    std::vector<VerifyTotals> totals(end - first);
    for (std::size_t s = 0; s < subjects.size(); ++s) {
      std::vector<const Program*> on_targets;
      for (const auto& of_target : programs) on_targets.push_back(&of_target[s]);
      fuzz::Random random(plan_.seed);  // each pipeline alone repeats what it saw among all
      for (const Size& size : subjects[s].sizes)
        totals[case_of[s] - first] += check(subjects[s], size, on_targets, random);
    }
    finish(first, totals);
  }

  VerifyTotals check(const Subject& subject, const Size& size, const std::vector<const Program*>& programs,
                     fuzz::Random& random) {
    const ir::Pipeline& pipeline = subject.prepared.built.pipeline.ir();
    const std::string name = subject.name + " " + size.text();
    progress(name);
    const Arguments arguments =
        random_arguments(pipeline, subject.prepared, size, subject.application.about.range, random);
    const Expected reference = expected(pipeline, arguments);
    VerifyTotals totals;
    for (std::size_t t = 0; t < programs.size(); ++t) {
      bool equal = true;
      for (const Comparison& c : verify(pipeline, *programs[t], arguments, reference,
                                        [&](const std::string&) { return plan_.tolerance; })) {
        totals.off_by_one += c.off_by_one;
        totals.worst = std::max(totals.worst, c.worst);
        equal = equal && c.equal;
        const std::lock_guard lock(mutex_);
        if (!c.equal)
          listener_.failed(fmt::format("{} on {}: {}", name, name_of(plan_.targets[t]), c.text()));
      }
      (equal ? totals.passed : totals.failed) += 1;
    }
    return totals;
  }

  void progress(const std::string& name) {
    const std::lock_guard lock(mutex_);
    listener_.progress(fmt::format("{} of {}: {}", finished_, cases_.size(), name));
  }

  void finish(std::size_t first, const std::vector<VerifyTotals>& totals) {
    const std::lock_guard lock(mutex_);
    for (std::size_t i = 0; i < totals.size(); ++i) {
      Waiting& waiting = waiting_[cases_[first + i].application];
      waiting.totals += totals[i];
      --waiting.cases;
      ++finished_;
    }
    for (; reported_ < waiting_.size() && waiting_[reported_].cases == 0; ++reported_)
      listener_.finished(*applications_[reported_], waiting_[reported_].totals);
  }

  const std::vector<const Application*>& applications_;
  const VerifyPlan& plan_;
  const VerifyListener& listener_;
  std::vector<Case> cases_;
  std::mutex mutex_;  // guards what follows, and calls of the listener
  std::vector<Waiting> waiting_;
  std::size_t finished_ = 0, reported_ = 0;
};

}  // namespace

void verify_applications(const std::vector<const Application*>& applications, const VerifyPlan& plan,
                         const VerifyListener& listener) {
  Verification(applications, plan, listener).run();
}

}  // namespace weft::tools

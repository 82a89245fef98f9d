#include "findings.h"

#include <algorithm>

namespace simt {

namespace {

// A return address belongs to the instruction before it.
std::uintptr_t instruction(const Location& location) { return location.text->relative(location.pc) - 1; }

}  // namespace

void Places::want(const Location& location) {
  if (!location.pc || !location.text) return;
  auto& [wanted, known] = texts_[location.text];
  const std::uintptr_t address = instruction(location);
  if (!known.count(address)) wanted.push_back(address);
}

Place Places::of(const Location& location) {
  if (!location.pc || !location.text) {
    return location.site.file ? Place{location.site.file, location.site.line} : Place{};
  }
  auto& [wanted, known] = texts_[location.text];
  const std::uintptr_t address = instruction(location);
  if (!known.count(address)) wanted.push_back(address);
  if (!wanted.empty()) {
    std::sort(wanted.begin(), wanted.end());
    wanted.erase(std::unique(wanted.begin(), wanted.end()), wanted.end());
    known.merge(location.text->symbols().places(wanted));
    for (const std::uintptr_t without_line : wanted) known.try_emplace(without_line);
    wanted.clear();
  }
  return known[address];
}

Findings::Key Findings::key_of(Kind kind, const Location& first, const Location& second) {
  const auto a = first.key(), b = second.key();
  return {kind, std::min(a, b), std::max(a, b)};
}

bool Findings::repeated(Kind kind, const Location& first, const Location& second) {
  const auto found = index_.find(key_of(kind, first, second));
  if (found == index_.end()) return false;
  if (found->second < findings_.size()) ++findings_[found->second].report.count;
  return true;
}

void Findings::add(Kind kind, std::string what, Participant first, Participant second) {
  index_[key_of(kind, first.where, second.where)] = findings_.size() < most_ ? findings_.size() : most_;
  if (findings_.size() >= most_) return;
  Finding finding{{kind, std::move(what), std::move(first.actor), {}}, first.where, {}, second.present};
  if (second.present) {
    finding.report.second = std::move(second.actor);
    finding.second = second.where;
  }
  findings_.push_back(std::move(finding));
}

void Findings::forget() {
  findings_.clear();
  index_.clear();
}

std::vector<Report> Findings::reports() const {
  Places places;
  for (const Finding& finding : findings_) {
    places.want(finding.first);
    places.want(finding.second);
  }
  std::vector<Report> reports;
  using LineKey = std::tuple<Kind, std::string, int, std::string, int>;
  std::map<LineKey, std::size_t> seen;
  for (const Finding& finding : findings_) {
    Report report = finding.report;
    report.first.place = places.of(finding.first);
    if (finding.has_second) report.second.place = places.of(finding.second);
    std::pair a{report.first.place.file, report.first.place.line};
    std::pair b{report.second.place.file, report.second.place.line};
    if (b < a) std::swap(a, b);
    const LineKey key{report.kind, a.first, a.second, b.first, b.second};
    const auto [at, is_new] = seen.emplace(key, reports.size());
    if (is_new) {
      reports.push_back(std::move(report));
    } else {
      reports[at->second].count += report.count;
    }
  }
  return reports;
}

}  // namespace simt

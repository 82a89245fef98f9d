// A partition of a pipeline's stages into groups that could each be one kernel: a plain value that prints, with all that led
// to it.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "schedule/hipacc/benefit.h"
#include "schedule/hipacc/block_needs.h"

namespace weft::schedule::hipacc {

/// How groups are searched for.
enum class Fusion {
  None,    ///< Every stage is a group.
  Basic,   ///< Along edges of stages that read one image, by one stage: Algorithm 1 of the Hipacc thesis.
  MinCut,  ///< By cutting the graph where least is lost until all parts are legal: Algorithm 2.
};
std::string name_of(Fusion fusion);
/// Of "none", "basic" and "mincut"; nothing for others.
std::optional<Fusion> fusion_named(const std::string& name);

/// A part of the graph that was cut in two, since it could not be one kernel.
struct Cut {
  std::vector<std::string> side, rest;  ///< Names of stages.
  double weight = 0;                    ///< Of the edges that were cut: what is not saved.
  std::string why;                      ///< What was wrong with the two together.
};

struct GroupMember {
  std::string stage;
  Storage storage = Storage::Result;
};
struct Group {
  std::vector<GroupMember> members;  ///< Producers first.
  double weight = 0;                 ///< Of the edges inside: its part of Eq. 3.1.
  /// The benefits of the edges inside, also of those that are no pairs by themselves, but are in the group.
  double saved = 0;
  std::int64_t shared_bytes = 0;  ///< Per thread block, estimated.
  int registers = 0;              ///< Per thread, estimated.
  std::string why;
};

struct Partition {
  Fusion fusion = Fusion::None;
  BenefitModel model;
  FusionLimits limits;
  std::vector<EdgeBenefit> edges;
  std::vector<Cut> cuts;      ///< In order.
  std::vector<Group> groups;  ///< By their first stages.

  double benefit() const;  ///< beta, Eq. 3.1.
  double saved() const;
};

/// Edges, cuts and groups, a line each.
std::string to_text(const Partition& partition);
std::string to_json(const Partition& partition);

}  // namespace weft::schedule::hipacc

// What comes after what, among things that have to keep the order of those they depend on.
#pragma once

#include <cstddef>
#include <functional>
#include <vector>

namespace weft {

/// For each of `count` things those before it that it has to follow, the latest first, without those that these follow
/// themselves. `depend` says of an earlier and a later one whether they have to keep their order.
std::vector<std::vector<std::size_t>> orders_of(
    std::size_t count, const std::function<bool(std::size_t earlier, std::size_t later)>& depend);

}  // namespace weft

#include "tools/sizes.h"

#include <fmt/format.h>
#include <unistd.h>
#include <weft/error.h>

#include <algorithm>
#include <charconv>

#include "tools/arguments.h"

namespace weft::tools {
namespace {

constexpr int most_dimensions = 4;

Error refused(const std::string& text, const std::string& why) {
  return Error("the size '" + text + "' " + why);
}

std::int64_t parse_extent(const std::string& part, const std::string& whole) {
  std::int64_t extent = 0;
  const auto [end, error] = std::from_chars(part.data(), part.data() + part.size(), extent);
  if (error == std::errc::result_out_of_range) throw refused(whole, "is too large");
  if (error != std::errc() || end != part.data() + part.size())
    throw refused(whole, "is not of the form WIDTHxHEIGHT, such as 640x480");
  if (extent < 0) throw refused(whole, "is negative");
  if (extent == 0) throw refused(whole, "has no pixels");
  return extent;
}

/// Those that say the size of an application without images, x first.
std::vector<std::string> size_options(const Built& built) {
  std::vector<std::string> names;
  for (const char* name : {"width", "height", "depth"}) {
    const auto declared = [&](const DeclaredOption& o) { return o.name == name; };
    if (std::any_of(built.options.begin(), built.options.end(), declared)) names.emplace_back(name);
  }
  return names;
}

}  // namespace

std::string dimensions(int n) { return fmt::format("{} dimension{}", n, n == 1 ? "" : "s"); }

std::int64_t Size::pixels() const {
  std::int64_t product = 1;
  for (const std::int64_t extent : extents) product *= extent;
  return product;
}

std::string Size::text() const { return fmt::format("{}", fmt::join(extents, "x")); }

Size parse_size(const std::string& text) {
  Size size;
  for (const std::string& part : split(text, 'x')) size.extents.push_back(parse_extent(part, text));
  if (size.rank() > most_dimensions) throw refused(text, "has more than 4 dimensions");
  try {
    checked_pixels(size.extents, 64, "it");  // 4 lanes of 8 bytes, twice
  } catch (const Error&) {
    throw refused(text, "is too large");
  }
  return size;
}

std::vector<Size> parse_sizes(const std::string& text) {
  std::vector<Size> sizes;
  for (const std::string& item : split(text, ',')) sizes.push_back(parse_size(item));
  return sizes;
}

Size fitted(const Size& size, int rank) {
  const std::int64_t shortest = *std::min_element(size.extents.begin(), size.extents.end());
  Size other = size;
  other.extents.resize(rank, std::min<std::int64_t>(shortest, 16));
  return other;
}

int rank_of(const Built& built) {
  if (built.images.empty()) return static_cast<int>(size_options(built).size());
  int most = 0;
  for (const DeclaredImage& image : built.images) most = std::max(most, image.rank);
  return most;
}

void check_rank(const Application& application, const Built& built, const Size& size) {
  const int rank = rank_of(built);
  if (rank == size.rank()) return;
  if (rank == 0) throw Error(fmt::format("'{}' has no images, and so no size", application.name));
  const char* example[] = {"1024", "640x480", "64x64x32", "32x32x16x8"};
  throw refused(size.text(), fmt::format("has {}; '{}' needs {}, such as {}", dimensions(size.rank()),
                                         application.name, rank, example[rank - 1]));
}

std::vector<std::string> with_size(const Built& built, std::vector<std::string> assignments,
                                   const Size& size) {
  if (!built.images.empty()) return assignments;
  const std::vector<std::string> names = size_options(built);
  const Size wanted = fitted(size, static_cast<int>(names.size()));
  for (std::size_t d = 0; d < names.size(); ++d) {
    const auto given = [&](const std::string& a) { return a.starts_with(names[d] + "="); };
    if (std::none_of(assignments.begin(), assignments.end(), given))
      assignments.push_back(names[d] + "=" + std::to_string(wanted.extents[d]));
  }
  return assignments;
}

Size default_size(int rank) {
  const char* sizes[] = {"4194304", "2048x2048", "256x256x64", "64x64x32x32"};
  return parse_size(sizes[std::clamp(rank, 1, 4) - 1]);
}

Size bench_size(const Application& application, const Built& built, const std::optional<Size>& given) {
  const int rank = rank_of(built);
  if (given) return fitted(*given, rank);
  const std::string own = application.about.size;
  if (own.empty()) return default_size(rank);
  const Size size = parse_size(own);
  check_rank(application, built, size);
  return size;
}

ir::Sizes input_sizes(const ir::Pipeline& pipeline, const Size& size) {
  ir::Sizes sizes;
  for (const ir::StagePtr& input : pipeline.inputs) sizes[input->name] = fitted(size, input->rank()).extents;
  for (const ir::StagePtr& input : pipeline.inputs)  // a declared size depends on earlier images
    sizes[input->name] = ir::evaluate(*input, sizes).extent;
  return sizes;
}

void check_memory(const Size& size, std::int64_t bytes_per_pixel, std::int64_t count) {
  double needed = static_cast<double>(bytes_per_pixel * count);
  for (const std::int64_t extent : size.extents) needed *= static_cast<double>(extent);
  const double there =
      static_cast<double>(sysconf(_SC_PHYS_PAGES)) * static_cast<double>(sysconf(_SC_PAGESIZE));
  if (needed < there) return;
  throw refused(size.text(), fmt::format("is too large: it needs {:.3g} GB, this machine has {:.3g} GB of "
                                         "memory",
                                         needed * 1e-9, there * 1e-9));
}

}  // namespace weft::tools

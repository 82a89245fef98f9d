// weft draw: pictures to try things on.
#include <fmt/format.h>
#include <weft/picture.h>

#include <cstdio>
#include <memory>
#include <optional>

#include "tools/arguments.h"
#include "tools/commands.h"
#include "tools/files.h"
#include "tools/images.h"
#include "tools/results.h"
#include "tools/scene.h"
#include "tools/show.h"
#include "tools/terminal.h"

namespace weft::tools {
namespace {

struct DrawOptions {
  std::string kind, file, size = "640x480", seed = "1";
  bool grey = false, quiet = false, show = false;
};

bool is_flat(const std::string& kind) { return kind == "scene" || kind == "noise" || kind == "gradient"; }

Buffer picture_of(const DrawOptions& options) {
  const Size size = parse_size(options.size);
  const auto seed = static_cast<std::uint64_t>(parse_count("the seed", options.seed, 0));
  if (options.kind == "blobs") return draw_blobs(size, seed);
  if (size.rank() != 2 && is_flat(options.kind)) {
    throw Error(fmt::format("the size '{}' has {} dimension{}; a {} has 2", size.text(), size.rank(),
                            size.rank() == 1 ? "" : "s", options.kind))
        .help("blobs have any number of dimensions");
  }
  if (options.kind == "scene") return draw_scene(size, seed);
  if (options.kind == "noise") return draw_noise(size, seed);
  if (options.kind == "gradient") return draw_gradient(size);
  throw Error("there is no picture '" + options.kind + "'; there are scene, noise, gradient, blobs");
}

/// As the file holds it: 8 bits if possible, else float; colour if possible and wanted.
Type type_in(const std::filesystem::path& file, bool grey, int rank) {
  for (int lanes : {3, 1}) {
    for (Scalar scalar : {Scalar::U8, Scalar::F32}) {
      if ((lanes == 1 || !grey) && io::can_write(file, {scalar, lanes}, rank)) return {scalar, lanes};
    }
  }
  return {Scalar::U8, 3};  // writing it says why not
}

void draw(const DrawOptions& options) {
  if (options.file.empty() && !options.show) throw Error("say where the picture goes: -o FILE, or --show");
  if (!options.file.empty()) check_writable(options.file);
  const TerminalPictures terminal =
      options.show ? pictures_or_complaint(options.file.empty()) : TerminalPictures::None;
  Progress progress(options.quiet);
  std::optional<Activity> activity(std::in_place, progress, "drawing " + options.kind);
  const Buffer drawn = as_picture(picture_of(options));
  const Type type = options.file.empty() ? Type{Scalar::U8, options.grey ? 1 : 3}
                                         : type_in(options.file, options.grey, drawn.rank());
  const Buffer picture = to_image(drawn, type, 255);
  if (!options.file.empty()) {
    activity.emplace(progress, "writing " + options.file);
    io::write_picture(options.file, picture);
  }
  activity.reset();
  show_picture(options.grey ? to_image(drawn, {Scalar::U8, 1}, 255) : drawn, terminal);
  if (options.quiet || options.file.empty()) return;
  fmt::print("{}: {}, {} {}\n", options.file, options.kind, size_text(picture),
             weft::name_of(picture.type()));
}

}  // namespace

void add_draw(Parser& weft) {
  auto options = std::make_shared<DrawOptions>();
  Command command = weft.add_command("draw", "draws a synthetic picture");
  command.add_option("PICTURE", options->kind, "scene, noise, gradient or blobs").required();
  command.add_option("-o,--output", options->file, "the picture file");
  command.add_option("--size", options->size, "WIDTHxHEIGHT; blobs have any number of dimensions")
      .capture_default_str();
  command.add_option("--seed", options->seed, "another number, another picture").capture_default_str();
  command.add_flag("--grey,--gray", options->grey, "luminance instead of colour");
  command.add_flag("--show", options->show,
                   "shows it on a terminal that can: one that knows sixel or kitty's protocol");
  add_quiet(command, options->quiet);
  command.footer(
      "Examples:\n  weft draw scene -o scene.png --size 1920x1080\n"
      "  weft draw blobs -o volume.tif --size 64x64x32 --grey");
  command.callback([options] { draw(*options); });
}

}  // namespace weft::tools

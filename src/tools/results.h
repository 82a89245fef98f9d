// From the results of applications to pictures.
//
// A file of numbers, such as a TIFF, an NPY or a PFM, holds a result as it is. In other pictures, and where
// --depth or --normalize ask for it, black is 0 and white what the application says. Two lanes that point
// somewhere are shown by colours.
#pragma once

#include <weft/application.h>
#include <weft/buffer.h>

#include <cstdint>
#include <filesystem>
#include <optional>
#include <string>

namespace weft::tools {

struct PictureOptions {
  double range = 255, white = 0;  ///< Of the application, as `bgr`.
  bool bgr = false;
  /// From this percentile's opposite to this percentile, values are shown from black to white: of 100, all.
  std::optional<double> normalize = {};
  std::optional<Scalar> depth = {};  ///< U8, U16 or F32: what the file is to hold.
  bool deep = false;                 ///< Some image came from a picture of more than 8 bits.
  bool with_alpha = false;           ///< Some image is grey with alpha, so results of two lanes are, too.
};

/// Whether the file can hold the result of that type and rank, converted. Throws weft::Error if not.
void check_result(const std::filesystem::path& file, const std::string& output, Type type, int rank,
                  const PictureOptions& options);
/// Dense, and of 2 dimensions at least, as files have them: a single value is 1x1, a row Wx1.
Buffer as_picture(const Buffer& result);

struct ResultPicture {
  Buffer buffer;
  std::int64_t clamped = 0;  ///< Lanes that the picture cannot express: outside its range, or not a number.
  double white = 0;          ///< The value that is shown as white; 0 if values are not shown but written.
  double least = 0, largest = 0;  ///< Of the result, but for what is not finite.
  std::string legend = {};        ///< What colours mean.
};
/// The result as a picture that the file can hold.
ResultPicture to_picture(const Buffer& result, const std::filesystem::path& file,
                         const PictureOptions& options);
/// One line if nearly nothing will be seen in the picture, though something is there; else empty.
std::string faintness(const ResultPicture& picture, const std::filesystem::path& file);

}  // namespace weft::tools

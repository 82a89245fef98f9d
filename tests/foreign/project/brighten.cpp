// A program that reads a picture, computes another one from it, and writes that.
#include <weft/picture.h>
#include <weft/weft.hpp>

int main(int count, char** words) {
  using namespace weft;
  if (count != 3) return 2;
  Image<std::uint8_t> in("in");
  const Pipeline brighten("brighten", point("out", saturate<std::uint8_t>(in * 2)));
  const io::Picture picture = io::read_picture(words[1]);
  io::write_picture(words[2], brighten.compile()(picture.buffer), {.icc = picture.icc});
}

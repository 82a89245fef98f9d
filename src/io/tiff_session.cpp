#include "io/tiff_session.h"

#include <unistd.h>

#include <algorithm>
#include <cstdarg>
#include <cstring>

namespace weft::io {
namespace {

int on_error(TIFF*, void* session, const char*, const char* format, std::va_list arguments) {
  char text[256];
  std::vsnprintf(text, sizeof text, format, arguments);
  auto& message = static_cast<TiffSession*>(session)->message;
  if (message.empty()) message = text;
  return 1;  // handled: nothing for stderr
}
int on_warning(TIFF*, void*, const char*, const char*, std::va_list) { return 1; }

tmsize_t take(thandle_t handle, void* to, tmsize_t n) {
  auto& s = *static_cast<TiffSession*>(handle);
  const std::size_t left = s.at < s.file.size() ? s.file.size() - s.at : 0;
  const std::size_t taken = std::min(left, static_cast<std::size_t>(n));
  if (taken < static_cast<std::size_t>(n)) s.ran_out = true;
  if (taken > 0) std::memcpy(to, s.file.data() + s.at, taken);
  s.at += taken;
  return static_cast<tmsize_t>(taken);
}
toff_t seek(thandle_t handle, toff_t offset, int whence) {
  auto& s = *static_cast<TiffSession*>(handle);
  s.at = offset + (whence == SEEK_CUR ? s.at : whence == SEEK_END ? s.file.size() : 0);
  return s.at;
}
toff_t size(thandle_t handle) { return static_cast<TiffSession*>(handle)->file.size(); }
tmsize_t refuse_write(thandle_t, void*, tmsize_t) { return -1; }
int no_close(thandle_t) { return 0; }

using Options = std::unique_ptr<TIFFOpenOptions, decltype(&TIFFOpenOptionsFree)>;

Options options_for(TiffSession& session) {
  Options options(TIFFOpenOptionsAlloc(), TIFFOpenOptionsFree);
  TIFFOpenOptionsSetErrorHandlerExtR(options.get(), on_error, &session);
  TIFFOpenOptionsSetWarningHandlerExtR(options.get(), on_warning, &session);
  return options;
}

}  // namespace

Tiff open_to_read(TiffSession& session) {
  const Options options = options_for(session);
  // m: no mapping into memory, so that all reads come through take() and we see those beyond the end.
  return {TIFFClientOpenExt("", "rm", &session, take, refuse_write, seek, no_close, size, nullptr, nullptr,
                            options.get()),
          TIFFClose};
}

Tiff open_to_write(TiffSession& session, std::FILE* file, bool big) {
  const Options options = options_for(session);
  const int descriptor = dup(fileno(file));  // libtiff closes its own
  Tiff tiff(TIFFFdOpenExt(descriptor, "", big ? "w8" : "w", options.get()), TIFFClose);
  if (!tiff && descriptor >= 0) close(descriptor);
  return tiff;
}

}  // namespace weft::io

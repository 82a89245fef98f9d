// Pipelines as libraries of their own, which know nothing of Weft.
#include <prewitt.h>
#include <sobel.h>

#include <vector>

int main() {
  const int64_t w = 3, h = 1;
  const std::vector<float> in = {0, 1, 2};
  std::vector<float> sobel(3), prewitt(3);
  if (sobel::run_sobel(in.data(), w, w, h, sobel.data(), w) != 0) return 1;
  if (prewitt::run_prewitt(in.data(), w, w, h, prewitt.data(), w) != 0) return 1;
  return sobel[1] == 8 && prewitt[1] == 6 ? 0 : 1;
}

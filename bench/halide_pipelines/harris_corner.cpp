#include "sized.h"

using namespace Halide;

class HarrisCorner : public Sized<HarrisCorner> {
 public:
  Input<Buffer<float, 2>> in{"in"};
  Output<Buffer<float, 2>> harris{"harris"};

  void generate() {
    Func Iy("Iy"), Ix("Ix"), Ixx("Ixx"), Iyy("Iyy"), Ixy("Ixy"), det("det"), trace("trace"), inner("inner");
    Iy(x, y) = ((in(x + 1, y - 1) - in(x - 1, y - 1)) + 2 * (in(x + 1, y) - in(x - 1, y)) +
                (in(x + 1, y + 1) - in(x - 1, y + 1))) /
               12;
    Ix(x, y) = ((in(x - 1, y + 1) - in(x - 1, y - 1)) + 2 * (in(x, y + 1) - in(x, y - 1)) +
                (in(x + 1, y + 1) - in(x + 1, y - 1))) /
               12;
    Ixx(x, y) = Ix(x, y) * Ix(x, y);
    Iyy(x, y) = Iy(x, y) * Iy(x, y);
    Ixy(x, y) = Ix(x, y) * Iy(x, y);
    Func Sxx = sum3x3(Ixx, "Sxx"), Syy = sum3x3(Iyy, "Syy"), Sxy = sum3x3(Ixy, "Sxy");
    det(x, y) = Sxx(x, y) * Syy(x, y) - Sxy(x, y) * Sxy(x, y);
    trace(x, y) = Sxx(x, y) + Syy(x, y);
    inner(x, y) = det(x, y) - 0.04f * trace(x, y) * trace(x, y);
    // 0 in a frame of 2 pixels, so that nothing outside of the image is read.
    harris(x, y) =
        BoundaryConditions::constant_exterior(inner, 0.f, {{2, in.width() - 4}, {2, in.height() - 4}})(x, y);
    expect(in), expect(harris);
    if (using_autoscheduler()) return;
    // Strips of rows. Of the slopes, those rows are kept that the next row of the result reads again.
    const int vec = natural_vector_size<float>();
    Var yo("yo");
    harris.split(y, yo, y, 8).parallel(yo).vectorize(x, vec);
    Ix.store_at(harris, yo).compute_at(harris, y).vectorize(x, vec);
    Iy.store_at(harris, yo).compute_at(harris, y).vectorize(x, vec).compute_with(Ix, x);
  }

 private:
  Func sum3x3(Func f, const char* name) {
    Func sum(name);
    sum(x, y) = f(x - 1, y - 1) + f(x, y - 1) + f(x + 1, y - 1) + f(x - 1, y) + f(x, y) + f(x + 1, y) +
                f(x - 1, y + 1) + f(x, y + 1) + f(x + 1, y + 1);
    return sum;
  }
};
HALIDE_REGISTER_GENERATOR(HarrisCorner, harris_corner)

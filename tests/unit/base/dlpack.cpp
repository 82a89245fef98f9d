#include <weft/dlpack.h>

#include <dlpack/dlpack.h>
#include <gtest/gtest.h>
#include <weft/error.h>

#include <vector>

namespace weft {
namespace {

/// A tensor as another library makes it, which counts how often it is released.
struct Foreign {
  std::vector<float> data = std::vector<float>(24);
  std::vector<std::int64_t> shape, strides;
  DLManagedTensor tensor{};
  int released = 0;

  Foreign(std::vector<std::int64_t> shape_, std::vector<std::int64_t> strides_ = {})
      : shape(std::move(shape_)), strides(std::move(strides_)) {
    for (std::size_t i = 0; i < data.size(); ++i) data[i] = static_cast<float>(i);
    tensor.dl_tensor.data = data.data();
    tensor.dl_tensor.device.device_type = kDLCPU;
    tensor.dl_tensor.ndim = static_cast<int>(shape.size());
    tensor.dl_tensor.dtype = {kDLFloat, 32, 1};
    tensor.dl_tensor.shape = shape.data();
    tensor.dl_tensor.strides = strides.empty() ? nullptr : strides.data();
    tensor.manager_ctx = this;
    tensor.deleter = [](DLManagedTensor* self) { ++static_cast<Foreign*>(self->manager_ctx)->released; };
  }
};

std::string message_of_taking(Foreign& foreign, int lanes = 1) {
  try {
    from_dlpack(&foreign.tensor, lanes);
  } catch (const Error& error) {
    return error.what();
  }
  return "(no error)";
}

TEST(DlPack, ViewsAnImage) {
  Foreign foreign({4, 6});
  const Buffer image = from_dlpack(&foreign.tensor);
  EXPECT_EQ(image.type(), type_of<float>());
  EXPECT_EQ(image.extents(), (std::vector<std::int64_t>{6, 4}));
  EXPECT_TRUE(image.is_dense());
  EXPECT_EQ(image.memory(), Memory{});
  EXPECT_EQ(image.at<float>(2, 1), 8);
  image.at<float>(2, 1) = 100;
  EXPECT_EQ(foreign.data[8], 100);
}

TEST(DlPack, ReleasesTheTensorWithTheLastCopy) {
  Foreign foreign({4, 6});
  {
    const Buffer image = from_dlpack(&foreign.tensor), copy = image;
    EXPECT_EQ(foreign.released, 0);
  }
  EXPECT_EQ(foreign.released, 1);
}

TEST(DlPack, ViewsPixelsOfSeveralLanes) {
  Foreign interleaved({2, 4, 3});
  const Buffer image = from_dlpack(&interleaved.tensor, 3);
  EXPECT_EQ(image.type(), type_of<float>().with_lanes(3));
  EXPECT_EQ(image.extents(), (std::vector<std::int64_t>{4, 2}));
  EXPECT_TRUE(image.is_dense());

  Foreign planar({2, 4, 3}, {4, 1, 8});
  const Buffer planes = from_dlpack(&planar.tensor, 3);
  EXPECT_EQ(planes.lane_stride(), 8);
  EXPECT_EQ(planes.lane(1).at<float>(1, 1), 13);
  EXPECT_FALSE(planes.rows_are_dense());
}

TEST(DlPack, MindsStridesOffsetsAndDevices) {
  Foreign part({2, 3}, {6, 1});
  part.tensor.dl_tensor.byte_offset = 8;
  part.tensor.dl_tensor.device = {kDLCUDA, 1};
  const Buffer image = from_dlpack(&part.tensor);
  EXPECT_EQ(image.data(), &part.data[2]);
  EXPECT_EQ(image.strides(), (std::vector<std::int64_t>{1, 6}));
  EXPECT_EQ(image.memory(), Memory::gpu(1));
}

TEST(DlPack, GivesOutWhatItTakes) {
  Buffer image = Buffer::allocate(type_of<std::uint8_t>().with_lanes(3), {5, 2});
  image.lane(0).at<std::uint8_t>(4, 1) = 7;
  const void* const data = image.data();
  DLManagedTensor* const tensor = to_dlpack(image);
  image = {};  // the tensor keeps its memory
  EXPECT_EQ(tensor->dl_tensor.ndim, 3);
  EXPECT_EQ(std::vector<std::int64_t>(tensor->dl_tensor.shape, tensor->dl_tensor.shape + 3),
            (std::vector<std::int64_t>{2, 5, 3}));
  EXPECT_EQ(tensor->dl_tensor.device.device_type, kDLCPU);
  const Buffer back = from_dlpack(tensor, 3);
  EXPECT_EQ(back.data(), data);
  EXPECT_EQ(back.type(), type_of<std::uint8_t>().with_lanes(3));
  EXPECT_EQ(back.lane(0).at<std::uint8_t>(4, 1), 7);
}

TEST(DlPack, KnowsAllScalarsAndScalarTensors) {
  for (int i = 0; i <= static_cast<int>(Scalar::F64); ++i) {
    const Type type{static_cast<Scalar>(i), 1};
    const Buffer back = from_dlpack(to_dlpack(Buffer::allocate(type, {}).in(Memory::gpu(2))));
    EXPECT_EQ(back.type(), type);
    EXPECT_EQ(back.rank(), 0);
    EXPECT_EQ(back.memory(), Memory::gpu(2));
  }
}

TEST(DlPack, RefusesWhatIsNoImage) {
  Foreign complex({4, 3});
  complex.tensor.dl_tensor.dtype = {kDLComplex, 64, 1};
  EXPECT_EQ(message_of_taking(complex),
            "a DLPack tensor has elements that are no pixels: code 5, 64 bits, 1 lanes\n"
            "  help: convert them to integers or floats of 8 to 64 bits");
  Foreign vectors({4, 3});
  vectors.tensor.dl_tensor.dtype = {kDLFloat, 32, 2};
  EXPECT_EQ(message_of_taking(vectors),
            "a DLPack tensor has elements that are no pixels: code 2, 32 bits, 2 lanes\n"
            "  help: convert them to integers or floats of 8 to 64 bits");
  Foreign elsewhere({4, 3});
  elsewhere.tensor.dl_tensor.device.device_type = kDLROCM;
  EXPECT_EQ(message_of_taking(elsewhere),
            "a DLPack tensor lies on a device of type 10, which is neither the host nor a GPU of CUDA");
  Foreign grey({4, 6});
  EXPECT_EQ(message_of_taking(grey, 3), "a DLPack tensor for pixels of 3 lanes has a last dimension of 6");
  EXPECT_EQ(complex.released + vectors.released + elsewhere.released + grey.released, 0);
}

}  // namespace
}  // namespace weft

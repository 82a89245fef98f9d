#include "compile/scratch_folder.h"

#include "tests/support/environment.h"

#include <gtest/gtest.h>

#include <csignal>
#include <optional>
#include <system_error>
#include <utility>

#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

namespace weft::compile {
namespace {

using namespace testing_support;

namespace fs = std::filesystem;

TEST(ScratchFolder, IsPrivateAndGoesWithTheObject) {
  const TemporaryFolder parent;
  fs::path path;
  {
    const ScratchFolder one(parent.path(), ".making-"), two(parent.path(), ".making-");
    path = one.path();
    EXPECT_EQ(files_in(parent.path()), 2) << "they leave each other alone";
    EXPECT_EQ(fs::status(path).permissions(), fs::perms::owner_all);
    write(path / "file", "text");
  }
  EXPECT_EQ(files_in(parent.path()), 0);
  EXPECT_THROW(ScratchFolder(parent / "none", "x"), std::system_error);
}

TEST(ScratchFolder, OfAKilledProcessGoesWithTheNextOne) {
  const TemporaryFolder parent;
  int ends[2];
  ASSERT_EQ(::pipe(ends), 0);
  const pid_t child = ::fork();
  if (child == 0) {
    const ScratchFolder abandoned(parent.path(), ".making-");
    write(abandoned.path() / "file", "half");
    ::write(ends[1], "x", 1);
    for (;;) ::pause();
  }
  char made = 0;
  ASSERT_EQ(::read(ends[0], &made, 1), 1);
  fs::create_directory(parent / "other");
  { const ScratchFolder beside(parent.path(), ".making-"); }
  EXPECT_EQ(files_in(parent.path()), 2) << "its process lives";
  ::kill(child, SIGKILL);
  ::waitpid(child, nullptr, 0);
  { const ScratchFolder next(parent.path(), ".making-"); }
  EXPECT_EQ(files_in(parent.path()), 1);
  EXPECT_TRUE(fs::exists(parent / "other"));
  ::close(ends[0]), ::close(ends[1]);
}

TEST(ScratchFolder, IsLeftAloneByAFork) {
  const TemporaryFolder parent;
  std::optional<ScratchFolder> folder(std::in_place, parent.path(), ".making-");
  const pid_t child = ::fork();
  if (child == 0) {
    folder.reset();
    ::_exit(files_in(parent.path()) == 1 ? 0 : 1);
  }
  int status = -1;
  ::waitpid(child, &status, 0);
  EXPECT_EQ(status, 0);
}

}  // namespace
}  // namespace weft::compile

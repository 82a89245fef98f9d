// Files being written: what they replace, and what is left when the writing ends early.
#include "io/draft.h"

#include <fcntl.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include <csignal>

#include "tests/unit/io/picture_files.h"

namespace weft::io {
namespace {

class DraftTest : public PictureTest {
 protected:
  void write(const std::string& name, const std::string& text) const {
    Draft draft(at(name));
    io::put(draft.file(), text.data(), text.size());
    draft.commit();
  }
  mode_t permissions(const std::string& name) const {
    struct stat status {};
    EXPECT_EQ(stat(at(name).c_str(), &status), 0);
    return status.st_mode & 07777;
  }
};

TEST_F(DraftTest, ReplacesAFileAndKeepsItsPermissions) {
  put("secret", "old");
  for (const mode_t mode : {0600, 0640, 0755}) {
    chmod(at("secret").c_str(), mode);
    write("secret", "new");
    EXPECT_EQ(get("secret"), "new");
    EXPECT_EQ(permissions("secret"), mode);
  }
  EXPECT_EQ(files(), 1u);
}

TEST_F(DraftTest, ANewFileHasThePermissionsOfNewFiles) {
  const mode_t before = umask(027);
  write("new", "text");
  umask(before);
  EXPECT_EQ(get("new"), "text");
  EXPECT_EQ(permissions("new"), mode_t{0640});
}

TEST_F(DraftTest, WithoutACommitNothingIsLeft) {
  {
    Draft draft(at("a"));
    io::put(draft.file(), "x", 1);
  }
  EXPECT_EQ(files(), 0u);
}

TEST_F(DraftTest, AProcessThatIsKilledLeavesNothing) {
  const int unnamed = open(folder_.c_str(), O_TMPFILE | O_RDWR, 0600);
  if (unnamed < 0) GTEST_SKIP() << "this file system has no files without names";
  close(unnamed);
  const pid_t child = fork();
  if (child == 0) {
    Draft draft(at("a"));
    io::put(draft.file(), "half", 4);
    std::fflush(draft.file());
    raise(SIGKILL);
  }
  int status = 0;
  ASSERT_EQ(waitpid(child, &status, 0), child);
  EXPECT_TRUE(WIFSIGNALED(status));
  EXPECT_EQ(files(), 0u);
}

}  // namespace
}  // namespace weft::io

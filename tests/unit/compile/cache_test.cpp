#include "compile/cache.h"

#include "tests/support/environment.h"

#include <gtest/gtest.h>

#include <csignal>
#include <set>
#include <thread>
#include <vector>

#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

namespace weft::compile {
namespace {

using namespace testing_support;

namespace fs = std::filesystem;

mode_t mode_of(const fs::path& path) {
  struct stat info {};
  ::stat(path.c_str(), &info);
  return info.st_mode & 0777;
}

ContentCache::Produce writing(const std::string& text) {
  return [text](const fs::path& temporary) { write(temporary, text); };
}

const ContentCache::Produce never = [](const fs::path&) { FAIL() << "is cached"; };

std::string refusal(const fs::path& folder, const std::string& what) {
  return "the cache folder '" + folder.string() + "' " + what +
         "\n  help: set WEFT_CACHE to a folder that only you can write to";
}

TEST(ContentKey, Is128BitsInHexAndStable) {
  // The XXH3 test vector for no bytes at all.
  EXPECT_EQ(content_key({}), "99aa06d3014798d86001c324468d497f");
  EXPECT_EQ(content_key({"a", "b"}), content_key({"a", "b"}));
}

TEST(ContentKey, TellsPartsApart) {
  const std::string_view zero("\0", 1);
  const std::set<std::string> keys = {
      content_key({}),          content_key({""}),    content_key({"", ""}),    content_key({"ab", "c"}),
      content_key({"a", "bc"}), content_key({"abc"}), content_key({"c", "ab"}), content_key({zero})};
  EXPECT_EQ(keys.size(), 8u);
}

TEST(CacheFolder, IsChosenByTheEnvironment) {
  const TemporaryFolder folder;
  const Variable weft("WEFT_CACHE", folder / "weft-cache"), xdg("XDG_CACHE_HOME", folder / "xdg"),
      home("HOME", folder / "home");
  EXPECT_EQ(ContentCache().folder(), folder / "weft-cache");
  const Variable no_weft("WEFT_CACHE", nullptr);
  EXPECT_EQ(ContentCache().folder(), folder / "xdg" / "weft");
  {
    const Variable relative("XDG_CACHE_HOME", "relative");
    EXPECT_EQ(ContentCache().folder(), folder / "home" / ".cache" / "weft");
  }
  const Variable empty("XDG_CACHE_HOME", "");
  EXPECT_EQ(ContentCache().folder(), folder / "home" / ".cache" / "weft");
}

/// What happens without a cache of the user's: one line, and a temporary folder for all of the process.
TEST(CacheFolder, IsATemporaryOneWhereItCannotBeWritten) {
  const TemporaryFolder folder;
  const bool root = ::geteuid() == 0;  // as an ordinary user: nothing is forbidden to root
  ::chmod(folder.path().c_str(), 0755);
  if (root) {
    ASSERT_EQ(::chown(folder.path().c_str(), 65534, 65534), 0);
    ASSERT_EQ(::seteuid(65534), 0);
  }
  {
    const fs::path locked = folder / "locked";
    ContentCache(locked).put("old", ".txt", writing("old"));
    ::chmod(locked.c_str(), 0500);
    const Variable unwritable("WEFT_CACHE", locked);
    testing::internal::CaptureStderr();
    const ContentCache cache;
    EXPECT_EQ(read(cache.get("old", ".txt", never)), "old") << "what is there is found";
    EXPECT_EQ(cache.find("key", ".txt"), std::nullopt);
    EXPECT_EQ(testing::internal::GetCapturedStderr(), "") << "nothing is put anywhere yet";

    testing::internal::CaptureStderr();
    const fs::path made = cache.put("key", ".txt", writing("new"));
    EXPECT_NE(made.parent_path(), locked);
    EXPECT_EQ(mode_of(made.parent_path()), 0700u);
    EXPECT_EQ(ContentCache().get("key", ".txt", never), made);
    EXPECT_EQ(cache.folder(), made.parent_path());
    {
      const Variable none("WEFT_CACHE", nullptr), xdg("XDG_CACHE_HOME", nullptr), home("HOME", nullptr);
      EXPECT_EQ(ContentCache().get("key", ".txt", never), made);
    }
    {
      const Variable shared("WEFT_CACHE", folder / "shared");
      fs::create_directory(folder / "shared");
      ::chmod((folder / "shared").c_str(), 0777);
      EXPECT_EQ(ContentCache().get("key", ".txt", never), made);
      EXPECT_EQ(files_in(folder / "shared"), 0) << "others could have put it there";
    }
    EXPECT_EQ(testing::internal::GetCapturedStderr(),
              "weft: the cache folder '" + locked.string() +
                  "' cannot be written: Permission denied; compiled code is kept until the program ends "
                  "(WEFT_CACHE names another folder)\n");
    ::chmod(locked.c_str(), 0700);
  }
  if (root) ASSERT_EQ(::seteuid(0), 0);
}

TEST(CacheFolder, IsMadePrivateAndAbsolute) {
  const TemporaryFolder folder;
  const mode_t old = ::umask(0);
  const ContentCache cache(folder / "a" / "b/");
  ::umask(old);
  EXPECT_EQ(cache.folder(), folder / "a" / "b");
  EXPECT_EQ(mode_of(cache.folder()), 0700u);
  EXPECT_EQ(ContentCache(folder / "a" / "b").folder(), cache.folder());

  const auto before = fs::current_path();
  fs::current_path(folder.path());
  const ContentCache relative("here");
  fs::current_path(before);
  EXPECT_EQ(relative.folder(), folder / "here");
}

TEST(CacheFolder, IsRefusedIfOthersCanWriteToIt) {
  const TemporaryFolder folder;
  for (const mode_t mode : {0720, 0702}) {
    ::chmod(folder.path().c_str(), mode);
    EXPECT_EQ(message_of([&] { ContentCache{folder.path()}; }),
              refusal(folder.path(), "can be written by other users"));
  }
  ::chmod(folder.path().c_str(), 0755);
  EXPECT_EQ(message_of([&] { ContentCache{folder.path()}; }), "(no error)");
}

TEST(CacheFolder, IsRefusedIfItBelongsToAnother) {
  // The root folder is another's, unless one is root; then a folder can be given away.
  const TemporaryFolder folder;
  fs::path others = "/";
  if (::geteuid() == 0) {
    others = folder / "others";
    fs::create_directory(others);
    ASSERT_EQ(::chown(others.c_str(), 65534, 65534), 0);
    EXPECT_EQ(message_of([&] { ContentCache{others}; }), refusal(others, "belongs to another user"));
  } else {
    EXPECT_EQ(message_of([&] { ContentCache{others / "usr"}; }), refusal("/usr", "belongs to another user"));
  }
}

TEST(CacheFolder, IsNoSymbolicLinkAndNoFile) {
  const TemporaryFolder folder;
  fs::create_directory(folder / "real");
  fs::create_directory_symlink(folder / "real", folder / "link");
  EXPECT_EQ(message_of([&] { ContentCache{folder / "link"}; }),
            refusal(folder / "link", "is a symbolic link"));
  EXPECT_EQ(message_of([&] { ContentCache{folder / "link/"}; }),
            refusal(folder / "link", "is a symbolic link"));
  write(folder / "file", "text");
  EXPECT_EQ(message_of([&] { ContentCache{folder / "file"}; }), refusal(folder / "file", "is not a folder"));
  EXPECT_EQ(message_of([&] { ContentCache{folder / "file/weft"}; }),
            refusal(folder / "file" / "weft", "cannot be written: Not a directory"));
  // A link on the way there is the user's own choice.
  EXPECT_EQ(message_of([&] { ContentCache{folder / "link/weft"}; }), "(no error)");
}

TEST(CacheFolder, SaysWhenItCannotBeWritten) {
  const TemporaryFolder folder;
  const ContentCache cache(folder / "gone");
  fs::remove(cache.folder());
  EXPECT_EQ(message_of([&] { cache.get("key", ".so", never); }),
            refusal(cache.folder(), "cannot be written: No such file or directory"));

  // As an ordinary user: nothing is forbidden to root.
  const ContentCache locked(folder / "locked");
  const bool root = ::geteuid() == 0;
  ::chmod(folder.path().c_str(), 0755);
  if (root) {
    ASSERT_EQ(::chown(locked.folder().c_str(), 65534, 65534), 0);
    ASSERT_EQ(::seteuid(65534), 0);
  }
  ::chmod(locked.folder().c_str(), 0500);
  const std::string making = message_of([&] { ContentCache{folder / "locked" / "new"}; });
  const std::string writing = message_of([&] { locked.get("key", ".so", never); });
  ::chmod(locked.folder().c_str(), 0700);
  if (root) ASSERT_EQ(::seteuid(0), 0);
  EXPECT_EQ(making, refusal(locked.folder() / "new", "cannot be written: Permission denied"));
  EXPECT_EQ(writing, refusal(locked.folder(), "cannot be written: Permission denied"));
}

TEST(Cache, ProducesOnceAndThenFinds) {
  const TemporaryFolder folder;
  const ContentCache cache(folder.path());
  EXPECT_EQ(cache.find("key", ".txt"), std::nullopt);
  fs::path seen;
  const fs::path made = cache.get("key", ".txt", [&](const fs::path& temporary) {
    seen = temporary;
    EXPECT_EQ(temporary.parent_path().parent_path(), cache.folder());
    EXPECT_EQ(temporary.extension(), ".txt");
    EXPECT_EQ(read(temporary), "");
    EXPECT_EQ(cache.find("key", ".txt"), std::nullopt);
    write(temporary, "content");
  });
  EXPECT_EQ(made, folder / "key.txt");
  EXPECT_EQ(read(made), "content");
  EXPECT_FALSE(fs::exists(seen));
  EXPECT_EQ(cache.get("key", ".txt", never), made);
  EXPECT_EQ(cache.find("key", ".txt"), made);
  EXPECT_EQ(cache.find("key", ".so"), std::nullopt);
  EXPECT_EQ(cache.find("other", ".txt"), std::nullopt);
}

TEST(Cache, PutReplaces) {
  const TemporaryFolder folder;
  const ContentCache cache(folder.path());
  cache.put("key", "", writing("old"));
  EXPECT_EQ(read(cache.put("key", "", writing("new"))), "new");
  EXPECT_EQ(files_in(folder.path()), 1);
}

TEST(Cache, LeavesNothingBehindAFailure) {
  const TemporaryFolder folder;
  const ContentCache cache(folder.path());
  const auto failing = [](const fs::path& temporary) {
    write(temporary, "half");
    throw std::runtime_error("the disk burns");
  };
  EXPECT_THROW(cache.get("key", ".txt", failing), std::runtime_error);
  EXPECT_EQ(files_in(folder.path()), 0);
  cache.put("key", ".txt", writing("whole"));
  EXPECT_THROW(cache.put("key", ".txt", failing), std::runtime_error);
  EXPECT_EQ(read(folder / "key.txt"), "whole");
  EXPECT_EQ(files_in(folder.path()), 1);
}

TEST(Cache, LeavesNothingBehindAKilledProcess) {
  const TemporaryFolder folder;
  int ends[2];
  ASSERT_EQ(::pipe(ends), 0);
  const pid_t child = ::fork();
  if (child == 0) {
    ContentCache(folder.path()).put("key", ".so", [&](const fs::path& temporary) {
      write(temporary, "half");
      ::write(ends[1], "x", 1);
      for (;;) ::pause();
    });
  }
  char begun = 0;
  ASSERT_EQ(::read(ends[0], &begun, 1), 1);
  ::kill(child, SIGKILL);
  ::waitpid(child, nullptr, 0);
  const ContentCache cache(folder.path());
  EXPECT_EQ(cache.find("key", ".so"), std::nullopt);
  EXPECT_EQ(files_in(folder.path()), 1);
  cache.put("other", ".so", writing("whole"));
  EXPECT_EQ(files_in(folder.path()), 1);
  ::close(ends[0]), ::close(ends[1]);
}

TEST(Cache, TakesAnEmptyFileForAbsent) {
  const TemporaryFolder folder;
  const ContentCache cache(folder.path());
  write(folder / "key.txt", "");
  EXPECT_EQ(cache.find("key", ".txt"), std::nullopt);
  EXPECT_EQ(read(cache.get("key", ".txt", writing("content"))), "content");
  EXPECT_THROW(cache.get("nothing", ".txt", [](const fs::path&) {}), InternalError);
  EXPECT_THROW(cache.get("nothing", ".txt", [](const fs::path& file) { fs::remove(file); }), InternalError);
  EXPECT_EQ(files_in(folder.path()), 1);
}

TEST(Cache, TrustsNoLinksAndNoFilesThatOthersCanWrite) {
  const TemporaryFolder folder, elsewhere;
  const ContentCache cache(folder.path());
  write(elsewhere / "target", "foreign");
  fs::create_symlink(elsewhere / "target", folder / "key.txt");
  EXPECT_EQ(cache.find("key", ".txt"), std::nullopt);
  EXPECT_EQ(read(cache.get("key", ".txt", writing("ours"))), "ours");
  EXPECT_EQ(read(elsewhere / "target"), "foreign");
  ::chmod((folder / "key.txt").c_str(), 0666);
  EXPECT_EQ(cache.find("key", ".txt"), std::nullopt);

  const auto generous = [](const fs::path& temporary) {
    write(temporary, "x");
    ::chmod(temporary.c_str(), 0777);
  };
  EXPECT_EQ(mode_of(cache.put("generous", "", generous)), 0755u);
}

TEST(Cache, NamesStayInTheFolder) {
  const TemporaryFolder folder;
  const ContentCache cache(folder.path());
  for (const char* key : {"", ".", "..", "../key", "a/b", "/etc/passwd"}) {
    EXPECT_THROW(cache.get(key, ".txt", writing("x")), InternalError) << key;
  }
  EXPECT_THROW(cache.get("key", "/x", writing("x")), InternalError);
}

// Makes the same files over and over, each with its own content, and checks that every one read is whole.
bool hammer(const ContentCache& cache, char letter) {
  const auto whole = [](const std::string& text) {
    return text.size() == 20000 && text.find_first_not_of(text[0]) == std::string::npos;
  };
  for (int round = 0; round < 60; ++round) {
    const std::string key = "key" + std::to_string(round % 3);
    const auto produce = writing(std::string(20000, letter));
    const fs::path path = round % 2 ? cache.get(key, ".txt", produce) : cache.put(key, ".txt", produce);
    if (!whole(read(path))) return false;
  }
  return true;
}

TEST(Cache, IsSafeForThreads) {
  const TemporaryFolder folder;
  const ContentCache cache(folder.path());
  std::vector<std::thread> threads;
  std::vector<char> whole(4);
  for (int i = 0; i < 4; ++i) {
    threads.emplace_back([&, i] { whole[i] = hammer(cache, static_cast<char>('a' + i)); });
  }
  for (std::thread& thread : threads) thread.join();
  EXPECT_EQ(whole, std::vector<char>(4, true));
  EXPECT_EQ(files_in(folder.path()), 3);
}

TEST(Cache, IsSafeForProcesses) {
  const TemporaryFolder folder;
  std::vector<pid_t> children;
  for (int i = 0; i < 4; ++i) {
    const pid_t child = ::fork();
    // They race for making the folder, too.
    if (child == 0) ::_exit(hammer(ContentCache(folder / "cache"), static_cast<char>('a' + i)) ? 0 : 1);
    children.push_back(child);
  }
  for (const pid_t child : children) {
    int status = -1;
    ::waitpid(child, &status, 0);
    EXPECT_EQ(status, 0);
  }
  EXPECT_EQ(files_in(folder / "cache"), 3);
}

}  // namespace
}  // namespace weft::compile

#include "compile/process.h"

#include "tests/support/environment.h"

#include <gtest/gtest.h>

#include <cerrno>
#include <csignal>
#include <thread>

#include <fcntl.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

namespace weft::compile {
namespace {

using namespace testing_support;

TEST(Process, CapturesBothOutputsInOrderAndTheExitCode) {
  const ProcessResult result = run_process({"sh", "-c", "echo one; echo two >&2; echo three; exit 7"});
  EXPECT_EQ(result.output, "one\ntwo\nthree\n");
  EXPECT_EQ(result.exit_code, 7);
}

TEST(Process, PassesArgumentsUntouched) {
  const ProcessResult result = run_process({"printf", "[%s]", "a b", "$HOME", "*", "'\"\\", ""});
  EXPECT_EQ(result.output, "[a b][$HOME][*]['\"\\][]");
}

TEST(Process, HasNothingToRead) { EXPECT_EQ(run_process({"cat"}).output, ""); }

TEST(Process, TakesMoreOutputThanAPipeHolds) {
  const ProcessResult result = run_process({"head", "-c", "1000000", "/dev/zero"});
  EXPECT_EQ(result.output, std::string(1000000, '\0'));
}

TEST(Process, ReportsTheSignalThatKilledIt) {
  EXPECT_EQ(run_process({"sh", "-c", "kill -9 $$"}).exit_code, 128 + SIGKILL);
  EXPECT_EQ(run_process({"sh", "-c", "kill -15 $$"}).exit_code, 128 + SIGTERM);
}

TEST(Process, StartsWithDefaultSignalsWhateverTheHostDoes) {
  const auto old = std::signal(SIGTERM, SIG_IGN);
  const ProcessResult result = run_process({"sh", "-c", "kill -15 $$; echo survived"});
  std::signal(SIGTERM, old);
  EXPECT_EQ(result.exit_code, 128 + SIGTERM);
  EXPECT_EQ(result.output, "");
}

TEST(Process, SurvivesInterruptions) {
  // Signals without SA_RESTART make read and waitpid return EINTR.
  struct sigaction action {
  }, old{};
  action.sa_handler = [](int) {};
  ::sigaction(SIGUSR1, &action, &old);
  // The child interrupts this thread again and again.
  const ProcessResult result = run_process(
      {"sh", "-c", "i=0; while [ $i -lt 200 ]; do kill -USR1 $PPID; i=$((i + 1)); done; echo done; exit 3"});
  ::sigaction(SIGUSR1, &old, nullptr);
  EXPECT_EQ(result.output, "done\n");
  EXPECT_EQ(result.exit_code, 3);
}

TEST(Process, IsKilledWithItsChildrenAfterTheLimit) {
  using namespace std::chrono_literals;
  const auto start = std::chrono::steady_clock::now();
  const ProcessResult result =
      run_process({"sh", "-c", "echo before; (sleep 60; echo late); echo after"}, 200ms);
  EXPECT_TRUE(result.timed_out);
  EXPECT_EQ(result.output, "before\n");
  EXPECT_LT(std::chrono::steady_clock::now() - start,
            30s);  // or the pipe would be open as long as sleep runs
  const ProcessResult quick = run_process({"sh", "-c", "echo done; exit 3"}, 60s);
  EXPECT_FALSE(quick.timed_out);
  EXPECT_EQ(quick.exit_code, 3);
  EXPECT_EQ(quick.output, "done\n");
}

TEST(Process, EndsWithWhatItStartedWhenItsParentIsKilled) {
  const TemporaryFolder folder;
  const std::string fifo = folder / "fifo";
  ASSERT_EQ(::mkfifo(fifo.c_str(), 0600), 0);
  const pid_t parent = ::fork();
  if (parent == 0) {
    run_process(
        {"sh", "-c", "exec 3>'" + fifo + "'; echo begun >&3; sh -c 'sleep 30; echo survived >&3'; true"});
    ::_exit(0);
  }
  const int reading = ::open(fifo.c_str(), O_RDONLY);
  std::string text(6, '\0');
  ASSERT_EQ(::read(reading, text.data(), text.size()), 6);
  EXPECT_EQ(text, "begun\n");
  ::kill(parent, SIGKILL);
  ::waitpid(parent, nullptr, 0);
  // The end of what there is to read comes when none of them is left.
  char more = 0;
  EXPECT_EQ(::read(reading, &more, 1), 0);
  ::close(reading);
}

TEST(Process, LeavesNoProcessBehind) {
  run_process({"true"});
  EXPECT_EQ(::waitpid(-1, nullptr, WNOHANG), -1);
  EXPECT_EQ(errno, ECHILD);
}

TEST(Process, HasTheEnvironmentWithItsChanges) {
  const Variable kept("WEFT_TEST_KEPT", "kept"), changed("WEFT_TEST_CHANGED", "old");
  const ProcessResult result =
      run_process({"sh", "-c", "echo $WEFT_TEST_KEPT $WEFT_TEST_CHANGED $WEFT_TEST_NEW"}, std::nullopt,
                  {{"WEFT_TEST_CHANGED", "new"}, {"WEFT_TEST_NEW", "a b"}});
  EXPECT_EQ(result.output, "kept new a b\n");
}

TEST(Process, LeaksNoDescriptorsEitherWay) {
  // Whoever started this test may have left it descriptors, which children then inherit, too.
  int open = 0, inherited = 0;
  const auto count = [&] {
    open = inherited = 0;
    for (int fd = 0; fd < 1024; ++fd) {
      const int flags = ::fcntl(fd, F_GETFD);
      open += flags >= 0;
      inherited += fd > 2 && flags >= 0 && !(flags & FD_CLOEXEC);
    }
    return open;
  };
  const int before = count();
  // In the child: its three, and the one that ls itself opens.
  EXPECT_EQ(run_process({"sh", "-c", "ls /proc/self/fd | wc -l"}).output,
            std::to_string(4 + inherited) + "\n");
  EXPECT_EQ(count(), before);
}

TEST(Process, WorksInAHostWithoutStandardDescriptors) {
  const pid_t child = ::fork();
  if (child == 0) {
    for (int fd : {0, 1, 2}) ::close(fd);
    const ProcessResult result = run_process({"sh", "-c", "cat; echo out; echo err >&2"});
    ::_exit(result.output == "out\nerr\n" ? 0 : 1);
  }
  int status = -1;
  ::waitpid(child, &status, 0);
  EXPECT_EQ(status, 0);
}

TEST(Process, RunsFromManyThreads) {
  std::vector<std::thread> threads;
  std::vector<std::string> outputs(8);
  for (int i = 0; i < 8; ++i) {
    threads.emplace_back([&outputs, i] { outputs[i] = run_process({"echo", std::to_string(i)}).output; });
  }
  for (std::thread& thread : threads) thread.join();
  for (int i = 0; i < 8; ++i) EXPECT_EQ(outputs[i], std::to_string(i) + "\n");
}

TEST(Process, SaysWhatCannotBeRun) {
  EXPECT_EQ(message_of([] { run_process({"no-such-program"}); }),
            "cannot run 'no-such-program'\n"
            "  reason No such file or directory");
  const TemporaryFolder folder;
  write_program(folder / "not-a-program", "echo never through a shell\n");
  const std::string path = folder / "not-a-program";
  EXPECT_EQ(message_of([&] { run_process({path}); }),
            "cannot run '" + path + "'\n  reason Exec format error");
  EXPECT_THROW(run_process({}), InternalError);
}

TEST(FindProgram, SearchesPathInOrderForExecutableFiles) {
  const TemporaryFolder first, second, third;
  write(first / "tool", "not executable");
  std::filesystem::create_directory(first / "folder");
  write_program(second / "tool", "");
  write_program(third / "tool", "");
  const Variable path("PATH", first.path().string() + ":/nonexistent:" + second.path().string() + ":" +
                                  third.path().string());
  EXPECT_EQ(find_program("tool"), second / "tool");
  EXPECT_EQ(find_program("folder"), std::nullopt);
  EXPECT_EQ(find_program("other"), std::nullopt);
  EXPECT_EQ(find_program(""), std::nullopt);
}

TEST(FindProgram, TakesANameWithASlashAsItIs) {
  const TemporaryFolder folder;
  write_program(folder / "tool", "");
  write(folder / "text", "");
  EXPECT_EQ(find_program(folder / "tool"), folder / "tool");
  EXPECT_EQ(find_program(folder / "text"), std::nullopt);
  const Variable path("PATH", folder.path());
  EXPECT_EQ(find_program("./tool"), std::nullopt);
}

TEST(FindProgram, PassesOverRelativeEntriesOfPath) {
  const TemporaryFolder folder;
  write_program(folder / "tool", "");
  const auto before = std::filesystem::current_path();
  std::filesystem::current_path(folder.path());
  {
    const Variable path("PATH", ".::");
    EXPECT_EQ(find_program("tool"), std::nullopt);
  }
  EXPECT_EQ(find_program("./tool"), std::filesystem::path(folder.path() / "./tool"));
  std::filesystem::current_path(before);
}

TEST(FindProgram, HasADefaultPath) {
  const Variable path("PATH", nullptr);
  EXPECT_TRUE(find_program("sh").has_value());
}

}  // namespace
}  // namespace weft::compile

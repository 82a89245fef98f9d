#include "command.h"

#include <fcntl.h>
#include <spawn.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <fstream>
#include <iterator>
#include <stdexcept>

#include "io/picture.h"

namespace fs = std::filesystem;

namespace {

std::string content_of(const fs::path& file) {
  std::ifstream in(file, std::ios::binary);
  return {std::istreambuf_iterator<char>(in), {}};
}

fs::path new_folder() {
  std::string name = (fs::temp_directory_path() / "weft-command-test-XXXXXX").string();
  if (mkdtemp(name.data()) == nullptr) throw std::runtime_error("no folder for the test");
  return name;
}

std::vector<std::string> environment_with(const std::map<std::string, std::string>& changes) {
  std::vector<std::string> all;
  for (char** entry = environ; *entry != nullptr; ++entry) {
    const std::string text = *entry;
    if (!changes.contains(text.substr(0, text.find('=')))) all.push_back(text);
  }
  for (const auto& [name, value] : changes) all.push_back(name + "=" + value);
  return all;
}

std::vector<char*> pointers(std::vector<std::string>& texts) {
  std::vector<char*> all;
  for (std::string& text : texts) all.push_back(text.data());
  all.push_back(nullptr);
  return all;
}

}  // namespace

CommandTest::CommandTest() : folder(new_folder()), cache(new_folder()) {
  environment["WEFT_CACHE"] = cache.string();
  environment["WEFT_CUDA_DRIVER"] = "none";  // whatever GPU this machine has
}
CommandTest::~CommandTest() {
  fs::remove_all(folder);
  fs::remove_all(cache);
}

Outcome CommandTest::run(const std::string& program, const Arguments& arguments) const {
  const fs::path logs = new_folder();
  const std::string out = (logs / "out").string(), err = (logs / "err").string();
  posix_spawn_file_actions_t actions;
  posix_spawn_file_actions_init(&actions);
  posix_spawn_file_actions_addopen(&actions, STDIN_FILENO, "/dev/null", O_RDONLY, 0);
  posix_spawn_file_actions_addopen(&actions, STDOUT_FILENO, out.c_str(), O_WRONLY | O_CREAT, 0600);
  posix_spawn_file_actions_addopen(&actions, STDERR_FILENO, err.c_str(), O_WRONLY | O_CREAT, 0600);
  posix_spawn_file_actions_addchdir_np(&actions, folder.c_str());

  std::vector<std::string> argv = {program}, env = environment_with(environment);
  argv.insert(argv.end(), arguments.begin(), arguments.end());
  pid_t child = 0;
  const int error =
      posix_spawn(&child, program.c_str(), &actions, nullptr, pointers(argv).data(), pointers(env).data());
  posix_spawn_file_actions_destroy(&actions);
  if (error != 0) throw std::runtime_error("cannot run " + program);
  int status = 0;
  waitpid(child, &status, 0);
  Outcome outcome{WIFEXITED(status) ? WEXITSTATUS(status) : 128 + WTERMSIG(status), content_of(out),
                  content_of(err)};
  fs::remove_all(logs);
  return outcome;
}

void CommandTest::expect_refusal(const Arguments& arguments, const std::string& message) const {
  const auto before = files();
  const Outcome outcome = weft(arguments);
  EXPECT_EQ(outcome.err, "weft: " + message + "\n");
  EXPECT_EQ(outcome.exit_code, 2);
  EXPECT_EQ(outcome.out, "");
  EXPECT_EQ(files(), before);
}

std::string CommandTest::expect_success(const Arguments& arguments) const {
  const Outcome outcome = weft(arguments);
  EXPECT_EQ(outcome.err, "");
  EXPECT_EQ(outcome.exit_code, 0);
  return outcome.out;
}

void CommandTest::write(const std::string& name, const std::string& content) const {
  std::ofstream(folder / name, std::ios::binary) << content;
}
void CommandTest::write(const std::string& name, const weft::Buffer& content) const {
  weft::io::write_picture(folder / name, content);
}
weft::Buffer CommandTest::read(const std::string& name) const {
  return weft::io::read_picture(folder / name).buffer;
}

std::string CommandTest::content(const std::string& name) const { return content_of(folder / name); }
std::vector<std::string> CommandTest::files() const {
  std::vector<std::string> names;
  for (const auto& entry : fs::recursive_directory_iterator(folder))
    names.push_back(fs::relative(entry.path(), folder).string());
  std::sort(names.begin(), names.end());
  return names;
}

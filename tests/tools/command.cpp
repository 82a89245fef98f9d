#include "command.h"

#include <fcntl.h>
#include <pty.h>
#include <spawn.h>
#include <sys/wait.h>
#include <unistd.h>
#include <weft/picture.h>

#include <algorithm>
#include <fstream>
#include <iterator>
#include <stdexcept>

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

/// A process with streams of its own.
class Spawned {
 public:
  Spawned() { posix_spawn_file_actions_init(&actions_); }
  ~Spawned() { posix_spawn_file_actions_destroy(&actions_); }
  Spawned(const Spawned&) = delete;
  Spawned& operator=(const Spawned&) = delete;

  void open(int stream, const std::string& file) {
    const int flags = stream == STDIN_FILENO ? O_RDONLY : O_WRONLY | O_CREAT;
    posix_spawn_file_actions_addopen(&actions_, stream, file.c_str(), flags, 0600);
  }
  void use(int stream, int of_ours) { posix_spawn_file_actions_adddup2(&actions_, of_ours, stream); }

  void start(const std::string& program, const std::vector<std::string>& arguments, const fs::path& folder,
             const std::map<std::string, std::string>& environment) {
    posix_spawn_file_actions_addchdir_np(&actions_, folder.c_str());
    std::vector<std::string> argv = {program}, env = environment_with(environment);
    argv.insert(argv.end(), arguments.begin(), arguments.end());
    if (posix_spawn(&child_, program.c_str(), &actions_, nullptr, pointers(argv).data(),
                    pointers(env).data()) != 0)
      throw std::runtime_error("cannot run " + program);
  }
  int wait() const {
    int status = 0;
    waitpid(child_, &status, 0);
    return WIFEXITED(status) ? WEXITSTATUS(status) : 128 + WTERMSIG(status);
  }

 private:
  posix_spawn_file_actions_t actions_{};
  pid_t child_ = 0;
};

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
  Spawned child;
  child.open(STDIN_FILENO, "/dev/null");
  child.open(STDOUT_FILENO, out);
  child.open(STDERR_FILENO, err);
  child.start(program, arguments, folder, environment);
  const int exit_code = child.wait();
  Outcome outcome{exit_code, content_of(out), content_of(err)};
  fs::remove_all(logs);
  return outcome;
}

Outcome CommandTest::on_terminal(const Arguments& arguments, Streams streams,
                                 const std::string& answer) const {
  const fs::path logs = new_folder();
  const std::string out = (logs / "out").string();
  int ours = -1, theirs = -1;
  const winsize size{.ws_row = 24, .ws_col = 80, .ws_xpixel = 640, .ws_ypixel = 384};
  if (openpty(&ours, &theirs, nullptr, nullptr, &size) != 0) throw std::runtime_error("no pseudo-terminal");
  Spawned child;
  for (const int stream : {STDIN_FILENO, STDOUT_FILENO, STDERR_FILENO}) {
    if (streams == Streams::All || stream == STDERR_FILENO)
      child.use(stream, theirs);
    else
      child.open(stream, stream == STDIN_FILENO ? "/dev/null" : out);
  }
  child.start(WEFT_COMMAND, arguments, folder, environment);
  close(theirs);
  std::string shown;
  bool asked = false;
  for (char buffer[4096];;) {  // until nobody has the other end
    const ssize_t bytes = ::read(ours, buffer, sizeof buffer);
    if (bytes <= 0) break;
    shown.append(buffer, static_cast<std::size_t>(bytes));
    if (asked || answer.empty() || shown.find("\033[c") == std::string::npos) continue;
    asked = true;
    if (::write(ours, answer.data(), answer.size()) < 0) throw std::runtime_error("no answer");
  }
  close(ours);
  Outcome outcome{child.wait(), content_of(out), shown};
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

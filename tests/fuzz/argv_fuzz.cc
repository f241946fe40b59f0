// SPDX-License-Identifier: Apache-2.0
// Command line and environment of `run`. Oracles: loaded options are valid and have a command;
// their printed form can be loaded again with the same result; no message contains the password;
// the environment of the command does not contain it. Input: parts ended by newlines; a part that
// begins with CRONLATCH_ is a variable, every other part is an argument.
#include <cerrno>

#include "config/child_environment.h"
#include "config/load.h"
#include "core/lock_name.h"
#include "fuzz/oracle.h"

namespace {

using namespace cronlatch;

// It does not begin with a hexadecimal digit: an escaped byte before a part of it must not complete
// it.
constexpr std::string_view kPassword = "s3cr3t-Pa55";

// Only the password file exists.
class OneFile final : public Files {
 public:
  FileText read(const std::string& path) const override {
    if (path == "password") return {std::string(kPassword) + "\n", 0};
    return {"", ENOENT};
  }
  bool exists(const std::string& path) const override { return path == "password"; }
};

struct Words {
  std::vector<std::string> args;
  std::vector<std::string> environment{"CRONLATCH_PASSWORD=" + std::string(kPassword), "PATH=/bin"};
};

Words words_of(std::string_view text) {
  Words words;
  for (std::string& word : fuzz::split(text, '\n')) {
    // argv and environ cannot contain NUL.
    if (const std::size_t end = word.find('\0'); end != std::string::npos) word.resize(end);
    const bool is_variable = word.starts_with("CRONLATCH_") && word.find('=') != std::string::npos;
    (is_variable ? words.environment : words.args).push_back(std::move(word));
  }
  return words;
}

void check_error(const Error& error) {
  fuzz::must(error.code == Code::usage || error.code == Code::config,
             "invalid input is a usage or a configuration error");
  fuzz::must(!error.message.empty() && fuzz::is_one_line(error.message), "an error is one line");
  fuzz::must(!fuzz::contains(error.message + error.hint, kPassword),
             "no message contains the password");
}

void check_loaded(const LoadedOptions& loaded, const std::vector<std::string>& environment) {
  fuzz::must(!loaded.operands.empty(), "run has a command");
  fuzz::must(validate(loaded.options).ok(), "loaded options are valid");
  fuzz::must(check_lock_name(loaded.options.lock).ok(), "the lock has a name");
  Options again;
  for (const Option& option : option_table()) {
    const std::string shown = show_option(loaded.options, option);
    fuzz::must(!fuzz::contains(shown, kPassword), "no printed option contains the password");
    if (shown.empty()) continue;
    fuzz::must(set_option(again, option, shown).ok(), "a printed value is accepted");
    fuzz::must(show_option(again, option) == shown, "a printed value has the same meaning");
  }
  for (const std::string& entry : child_environment(environment, loaded.options, {1, true}))
    fuzz::must(!entry.starts_with("CRONLATCH_PASSWORD="),
               "the environment of the command does not contain the password");
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* bytes, std::size_t size) {
  const Words words = words_of(fuzz::text_of(bytes, size));
  // A password that the user types as an argument is in the argument list already.
  for (const std::string& arg : words.args)
    if (fuzz::contains(arg, kPassword)) return 0;
  for (std::size_t i = 2; i < words.environment.size(); ++i)
    if (fuzz::contains(words.environment[i], kPassword)) return 0;
  const LoadInput input{words.args, words.environment, Operands::command};
  const Result<LoadedOptions> loaded = load(input, OneFile{}, Host{1000, 42, "host"});
  if (loaded)
    check_loaded(*loaded, words.environment);
  else
    check_error(loaded.error());
  return 0;
}

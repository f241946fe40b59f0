// SPDX-License-Identifier: Apache-2.0
// The layers, and the order in which they are laid: file first, then environment, then flags.
#include "config/load.h"
#include "config/architecture.h"

#include <algorithm>
#include <cerrno>
#include <cstring>
#include <optional>

#include "base/errno_hint.h"
#include "base/text.h"
#include "config/environment.h"
#include "config/yaml.h"

namespace cronlatch {
namespace {

std::size_t index_of(const Option& option) {
  return static_cast<std::size_t>(&option - option_table().data());
}

const Setting* find_setting(const std::vector<Setting>& settings, std::string_view key) {
  const auto at = std::find_if(settings.begin(), settings.end(),
                               [&](const Setting& s) { return s.option->key == key; });
  return at == settings.end() ? nullptr : &*at;
}

Status lay(Loaded& loaded, const std::vector<Setting>& settings) {
  for (const Setting& setting : settings) {
    if (Status applied = apply_text(loaded.options, *setting.option, setting.text); !applied) {
      const Error& error = applied.error();
      return Error{error.code, setting.where + ": " + error.message, error.hint};
    }
    loaded.origins[index_of(*setting.option)] = setting.origin;
  }
  return Done{};
}

// The settings of the file that was asked for, or of the default one if it exists.
Result<std::vector<Setting>> file_settings(const Setting* asked, const Files& files) {
  const std::string path = asked != nullptr ? asked->text : std::string(kDefaultConfig);
  FileText file = files.read(path);
  const bool missing = file.error == ENOENT || file.error == ENOTDIR;
  if (asked == nullptr && missing) return std::vector<Setting>{};
  if (file.error != 0)
    return Error{Code::config,
                 (asked != nullptr ? asked->where + ": " : "") + "cannot read " + quoted(path) +
                     ": " + std::strerror(file.error),
                 errno_hint(file.error, "check the path, its owner and its mode")};
  return yaml_settings(path, file.text);
}

// Everything but the flags. With isolated there is nothing but the flags.
Status apply_surroundings(Loaded& loaded, const LoadInput& input, const std::vector<Setting>& flags,
                          const Files& files) {
  const Result<std::vector<Setting>> variables = environment_settings(input.environment);
  if (!variables) return variables.error();
  const Setting* asked = find_setting(flags, "config");
  if (asked == nullptr) asked = find_setting(*variables, "config");
  const Result<std::vector<Setting>> from_file = file_settings(asked, files);
  if (!from_file) return from_file.error();
  if (Status applied = lay(loaded, *from_file); !applied) return applied;
  return lay(loaded, *variables);
}

Status apply_credentials(Loaded& loaded, const std::optional<std::string>& variable,
                         const Files& files) {
  loaded.credentials = std::make_shared<CredentialReader>(loaded.options, variable);
  Result<Credentials> found = find_credentials(loaded.options, variable, files);
  if (!found) return found.error();
  for (const auto& [key, path] : found->origins) loaded.origins[index_of(*find_option(key))] = path;
  loaded.password = std::move(found->password);
  loaded.password_origin = std::move(found->password_origin);
  loaded.warnings = std::move(found->warnings);
  return Done{};
}

void warn_of_unsafe(Loaded& loaded) {
  if (loaded.options.tls_skip_verify)
    loaded.warnings.push_back({Level::warn,
                               "tls_unverified",
                               "tls-skip-verify is set: whoever answers is taken for the store",
                               {},
                               "give tls-ca and leave tls-skip-verify out"});
}

}  // namespace

const std::string& Loaded::origin(std::string_view key) const {
  return origins[index_of(*find_option(key))];
}

Result<Loaded> load(const LoadInput& input, const Files& files, const Host& host) {
  Result<Flags> flags = parse_flags(input.args, input.rest, input.extras);
  if (!flags) return flags.error();
  Loaded loaded;
  loaded.origins.assign(option_table().size(), "default");
  const Setting* const isolated = find_setting(flags->settings, "isolated");
  const bool alone = isolated != nullptr && isolated->text == "true";
  if (!alone)
    if (Status around = apply_surroundings(loaded, input, flags->settings, files); !around)
      return around.error();
  if (Status applied = lay(loaded, flags->settings); !applied) return applied.error();

  const auto password = alone ? std::nullopt : variable(input.environment, kPasswordVariable);
  if (Status valid = validate(loaded.options); !valid) return valid.error();
  if (Status login = apply_credentials(loaded, password, files); !login) return login.error();
  // Again: the directory may hold a certificate without its key.
  if (Status valid = validate(loaded.options); !valid) return valid.error();

  loaded.rest = std::move(flags->rest);
  loaded.extras = std::move(flags->extras);
  const bool is_command = input.rest == Rest::command || input.rest == Rest::optional_command;
  if (is_command) {
    auto command = whole_command(loaded.options, this_architecture(), std::move(loaded.rest));
    if (!command) return command.error();
    loaded.rest = std::move(*command);
  }
  fill_in(loaded.options, is_command ? loaded.rest : std::vector<std::string>{}, host, files);
  warn_of_unsafe(loaded);
  return loaded;
}

}  // namespace cronlatch

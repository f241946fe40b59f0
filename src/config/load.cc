// SPDX-License-Identifier: Apache-2.0
// The order in which settings are applied: file, environment, flags.
#include "config/load.h"
#include "config/architecture.h"

#include <algorithm>
#include <cerrno>
#include <cstring>
#include <optional>

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

Status apply_settings(LoadedOptions& loaded, const std::vector<Setting>& settings) {
  for (const Setting& setting : settings) {
    if (Status applied = apply_text(loaded.options, *setting.option, setting.text); !applied) {
      const Error& error = applied.error();
      return Error{error.code, setting.where + ": " + error.message, error.hint};
    }
    loaded.origins[index_of(*setting.option)] = setting.origin;
  }
  return Done{};
}

// The settings of the file that --config names, or of the default file if it exists.
Result<std::vector<Setting>> file_settings(const Setting* config_option, const Files& files) {
  const std::string path =
      config_option != nullptr ? config_option->text : std::string(kDefaultConfig);
  FileText file = files.read(path);
  const bool missing = file.error == ENOENT || file.error == ENOTDIR;
  if (config_option == nullptr && missing) return std::vector<Setting>{};
  if (file.error != 0)
    return Error{Code::config,
                 (config_option != nullptr ? config_option->where + ": " : "") + "cannot read " +
                     quoted(path) + ": " + std::strerror(file.error),
                 read_hint(file.error)};
  return yaml_settings(path, file.text);
}

void remove_ignored(std::vector<Setting>& settings, std::span<const std::string_view> keys) {
  std::erase_if(settings, [&](const Setting& setting) {
    return std::ranges::find(keys, setting.option->key) != keys.end();
  });
}

// File and environment. With isolated only flags are applied.
Status apply_environment_and_file(LoadedOptions& loaded, const LoadInput& input,
                                  const std::vector<Setting>& flags, const Files& files) {
  Result<std::vector<Setting>> variables = environment_settings(input.environment);
  if (!variables) return variables.error();
  const Setting* config_option = find_setting(flags, "config");
  if (config_option == nullptr) config_option = find_setting(*variables, "config");
  Result<std::vector<Setting>> from_file = file_settings(config_option, files);
  if (!from_file) return from_file.error();
  for (auto* settings : {&*from_file, &*variables}) remove_ignored(*settings, input.ignored);
  if (Status applied = apply_settings(loaded, *from_file); !applied) return applied;
  return apply_settings(loaded, *variables);
}

Status apply_credentials(LoadedOptions& loaded, const std::optional<std::string>& variable,
                         const Files& files) {
  loaded.credentials = std::make_shared<CredentialReader>(loaded.options, variable);
  Result<Credentials> found = find_credentials(loaded.options, variable, files);
  if (!found) return found.error();
  for (const auto& [key, path] : found->origins) loaded.origins[index_of(*find_option(key))] = path;
  loaded.password = std::move(found->password);
  loaded.password_origin = std::move(found->password_origin);
  loaded.sentinel_password = std::move(found->sentinel_password);
  loaded.sentinel_password_origin = std::move(found->sentinel_password_origin);
  loaded.warnings = std::move(found->warnings);
  return Done{};
}

void add_warnings(LoadedOptions& loaded) {
  if (loaded.options.tls_skip_verify)
    loaded.warnings.push_back({Level::warn,
                               "tls_unverified",
                               "tls-skip-verify is set: the identity of the store is not verified",
                               {},
                               "set tls-ca and remove tls-skip-verify"});
}

}  // namespace

const std::string& LoadedOptions::origin(std::string_view key) const {
  return origins[index_of(*find_option(key))];
}

Result<LoadedOptions> load(const LoadInput& input, const Files& files, const Host& host) {
  Result<Flags> flags = parse_flags(input.args, input.operands, input.extras);
  if (!flags) return flags.error();
  LoadedOptions loaded;
  loaded.origins.assign(option_table().size(), "default");
  const Setting* const isolated = find_setting(flags->settings, "isolated");
  const bool is_isolated = isolated != nullptr && isolated->text == "true";
  if (!is_isolated)
    if (Status around = apply_environment_and_file(loaded, input, flags->settings, files); !around)
      return around.error();
  if (Status applied = apply_settings(loaded, flags->settings); !applied) return applied.error();

  auto password = input.password;
  if (!password && !is_isolated) password = variable(input.environment, kPasswordVariable);
  if (Status valid = validate(loaded.options); !valid) return valid.error();
  if (Status login = apply_credentials(loaded, password, files); !login) return login.error();
  // Again: the directory may contain a certificate without its key.
  if (Status valid = validate(loaded.options); !valid) {
    const Error& error = valid.error();
    return Error{error.code, "credentials-dir: " + error.message, error.hint};
  }

  loaded.operands = std::move(flags->operands);
  loaded.extras = std::move(flags->extras);
  const bool is_command =
      input.operands == Operands::command || input.operands == Operands::optional_command;
  if (is_command) {
    auto command = full_command(loaded.options, this_architecture(), std::move(loaded.operands));
    if (!command) return command.error();
    loaded.operands = std::move(*command);
  }
  set_derived_defaults(loaded.options, is_command ? loaded.operands : std::vector<std::string>{},
                       host, files);
  if (!loaded.options.lock_file.empty())
    loaded.origins[index_of(*find_option("lock"))] = loaded.origin("lock-file");
  if (loaded.options.key_format != KeyFormat::native)
    loaded.origins[index_of(*find_option("lock"))] = loaded.origin("foreign-key");
  add_warnings(loaded);
  return loaded;
}

}  // namespace cronlatch

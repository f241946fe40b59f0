// SPDX-License-Identifier: Apache-2.0
// `cronlatch config`: every option with its value and its source. The password is displayed as ***.
#include "cli/session.h"
#include "config/environment.h"

namespace cronlatch {
namespace {

std::string as_table(const LoadedOptions& loaded) {
  std::vector<Row> rows = {{"OPTION", "VALUE", "ORIGIN"}};
  for (const Option& option : option_table())
    rows.push_back(
        {std::string(option.key), show_option(loaded.options, option), loaded.origin(option.key)});
  if (!loaded.password.empty())
    rows.push_back({"password", loaded.password.shown(), loaded.password_origin});
  if (!loaded.sentinel_password.empty())
    rows.push_back(
        {"sentinel-password", loaded.sentinel_password.shown(), loaded.sentinel_password_origin});
  return render_table(rows);
}

std::string as_json(const LoadedOptions& loaded) {
  std::vector<std::string> objects;
  const auto add = [&](std::string_view key, const std::string& value, const std::string& origin) {
    objects.push_back(
        JsonObject().text("option", key).text_or_null("value", value).text("origin", origin).str());
  };
  for (const Option& option : option_table())
    add(option.key, show_option(loaded.options, option), loaded.origin(option.key));
  if (!loaded.password.empty()) add("password", loaded.password.shown(), loaded.password_origin);
  if (!loaded.sentinel_password.empty())
    add("sentinel-password", loaded.sentinel_password.shown(), loaded.sentinel_password_origin);
  return json_array(objects) + '\n';
}

}  // namespace

Result<CommandOutput> config_command(const Invocation& invocation) {
  const Result<LoadedOptions> loaded = load_options(invocation, Operands::nothing, kOutputFlags);
  if (!loaded) return loaded.error();
  show_warnings(*loaded);
  const Result<Format> format = output_format(*loaded);
  if (!format) return format.error();
  return CommandOutput{*format == Format::table ? as_table(*loaded) : as_json(*loaded)};
}

}  // namespace cronlatch

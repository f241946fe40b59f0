// SPDX-License-Identifier: Apache-2.0
// The only place that reads secrets; it returns them as Secret.
#include "config/credentials.h"

#include <cerrno>
#include <cstring>

#include "base/text.h"
#include "core/store_schemes.h"

namespace cronlatch {
namespace {

// The content without the newline that editors and `echo` leave at the end.
Result<std::string> read_line(const std::string& key, const std::string& path, const Files& files) {
  FileText file = files.read(path);
  if (file.error != 0)
    return Error{Code::config,
                 key + ": cannot read " + quoted(path) + ": " + std::strerror(file.error),
                 read_hint(file.error)};
  if (file.text.ends_with('\n')) file.text.pop_back();
  if (file.text.ends_with('\r')) file.text.pop_back();
  if (file.text.empty())
    return Error{Code::config, key + ": " + quoted(path) + " is empty",
                 "write one line into it, or remove it"};
  return file.text;
}

LogLine ignored(const std::string& path) {
  return {Level::warn,
          "password_ignored",
          "CRONLATCH_PASSWORD is ignored, because password-file is set",
          {{"password-file", path}},
          "unset one of the two"};
}

class CredentialFinder {
 public:
  CredentialFinder(Options& options, const Files& files) : options_(options), files_(files) {}

  Result<Credentials> find(const std::optional<std::string>& variable) {
    if (Status directory = check_directory(); !directory) return directory.error();
    if (Status name = username(); !name) return name.error();
    if (Status word = password(variable); !word) return word.error();
    if (store_layout(options_.store) == StoreLayout::sentinel)
      if (Status sentinels = sentinel_login(); !sentinels) return sentinels.error();
    if (store_transport(options_.store) != StoreTransport::plain) {
      set_path_from_dir("tls-ca", options_.tls_ca, "ca.crt");
      set_path_from_dir("tls-cert", options_.tls_cert, "tls.crt");
      set_path_from_dir("tls-key", options_.tls_key, "tls.key");
    }
    return std::move(found_);
  }

 private:
  // Each file in it is optional, so that a wrong path would be treated as a store without a login.
  Status check_directory() const {
    const std::string& path = options_.credentials_dir;
    if (path.empty() || store_transport(options_.store) == StoreTransport::local) return Done{};
    if (files_.exists(path + "/.")) return Done{};
    return Error{Code::config, "credentials-dir: " + quoted(path) + " is not a directory",
                 "check the path, and that the volume with the Secret is mounted"};
  }

  std::string path_in_dir(const std::string& name) const {
    if (options_.credentials_dir.empty()) return "";
    const std::string path = options_.credentials_dir + "/" + name;
    return files_.exists(path) ? path : "";
  }

  Status username() {
    return options_.redis_username.empty() ? username_from_dir("redis-username", "username")
                                           : Status(Done{});
  }

  Status username_from_dir(const std::string& key, const std::string& file) {
    const std::string path = path_in_dir(file);
    if (path.empty()) return Done{};
    const Result<std::string> name = read_line("credentials-dir", path, files_);
    if (!name) return name.error();
    found_.origins.emplace_back(key, path);
    return set_option(options_, *find_option(key), *name);
  }

  Status sentinel_login() {
    if (options_.sentinel_username.empty())
      if (Status name = username_from_dir("sentinel-username", "sentinel-username"); !name)
        return name;
    const bool given = !options_.sentinel_password_file.empty();
    const std::string path =
        given ? options_.sentinel_password_file : path_in_dir("sentinel-password");
    if (path.empty()) return Done{};
    Result<std::string> text =
        read_line(given ? "sentinel-password-file" : "credentials-dir", path, files_);
    if (!text) return text.error();
    found_.sentinel_password = Secret(std::move(text).value());
    found_.sentinel_password_origin = path;
    return Done{};
  }

  Status password(const std::optional<std::string>& variable) {
    const bool given = variable.has_value() && !variable->empty();
    if (!options_.password_file.empty()) {
      if (given) found_.warnings.push_back(ignored(options_.password_file));
      return read_password("password-file", options_.password_file);
    }
    if (given) {
      found_.password = Secret(*variable);
      found_.password_origin = "environment CRONLATCH_PASSWORD";
      return Done{};
    }
    const std::string path = path_in_dir("password");
    return path.empty() ? Status(Done{}) : read_password("credentials-dir", path);
  }

  Status read_password(const std::string& key, const std::string& path) {
    Result<std::string> text = read_line(key, path, files_);
    if (!text) return text.error();
    found_.password = Secret(std::move(text).value());
    found_.password_origin = path;
    return Done{};
  }

  void set_path_from_dir(const std::string& key, std::string& member, const std::string& name) {
    const std::string path = member.empty() ? path_in_dir(name) : "";
    if (path.empty()) return;
    member = path;
    found_.origins.emplace_back(key, path);
  }

  Options& options_;
  const Files& files_;
  Credentials found_;
};

}  // namespace

Result<Credentials> find_credentials(Options& options,
                                     const std::optional<std::string>& password_variable,
                                     const Files& files) {
  if (store_transport(options.store) == StoreTransport::local) return Credentials{};
  return CredentialFinder(options, files).find(password_variable);
}

CredentialReader::CredentialReader(const Options& given,
                                   const std::optional<std::string>& password_variable)
    : given_(given), password_variable_(password_variable.value_or("")) {}

Result<StoreCredentials> CredentialReader::read(const Files& files) const {
  Options options = given_;
  Result<Credentials> found = find_credentials(options, password_variable_.reveal(), files);
  if (!found) return found.error();
  if (Status valid = validate(options); !valid) return valid.error();
  return StoreCredentials{.username = options.redis_username,
                          .password = std::move(found->password),
                          .tls_ca = options.tls_ca,
                          .tls_cert = options.tls_cert,
                          .tls_key = options.tls_key,
                          .sentinel_username = options.sentinel_username,
                          .sentinel_password = std::move(found->sentinel_password)};
}

}  // namespace cronlatch

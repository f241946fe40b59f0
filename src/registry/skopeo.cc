// SPDX-License-Identifier: Apache-2.0
#include "registry/skopeo.h"

#include <thread>

#include "base/text.h"
#include "kube/access.h"
#include "registry/child_process.h"
#include "registry/private_directory.h"

namespace cronlatch::registry {
namespace {

// Below RLIMIT_DATA, so that Go's garbage collector runs before an allocation fails.
std::string go_memory_limit(std::size_t memory) {
  return "GOMEMLIMIT=" + std::to_string(memory / 4 * 3);
}

// At the HTTP status 429, skopeo logs this, and repeats the request four times within 30 s. That is
// longer than a lookup may take, and the operator has pauses of its own.
constexpr char kRepeats[] = "Too many requests to";

// Without mirrors and short names. It replaces the files of the host.
std::string registries_conf(const image::RegistryPolicy& policy) {
  std::string text = "unqualified-search-registries = []\nshort-name-mode = \"enforcing\"\n";
  for (const image::ListedRegistry& registry : policy.listed())
    if (registry.plain)
      text += "[[registry]]\nlocation = \"" + registry.name + "\"\ninsecure = true\n";
  return text;
}

Status write_config(const PrivateDirectory& dir, const SkopeoConfig& config,
                    const image::RegistryPolicy& policy, const std::string& auth) {
  std::string ca;
  if (!config.ca_file.empty()) {
    auto read = kube::read_small_file(config.ca_file);
    if (!read) return Error{Code::config, "lookup-ca-file: " + read.error().message};
    if (read->empty())
      return Error{Code::config, "lookup-ca-file: " + config.ca_file + " is empty"};
    ca = std::move(read).value();
  }
  for (const char* name : {"certs", "registries.d", "tmp"})
    if (Status created = dir.create_subdirectory(name); !created) return created;
  const std::pair<const char*, std::string> files[] = {
      {"auth.json", auth},
      {"policy.json", R"({"default":[{"type":"reject"}]})"},
      {"registries.conf", registries_conf(policy)},
      {"certs/ca.crt", ca}};
  for (const auto& [name, text] : files)
    if (Status written = text.empty() ? Status(Done{}) : dir.write(name, text); !written)
      return written;
  return Done{};
}

std::string without_queries(std::string text) {
  for (std::size_t at = text.find('?'); at != std::string::npos; at = text.find('?', at + 1))
    text.erase(at, std::min(text.find_first_of(" \"\\", at), text.size()) - at);
  for (std::size_t at = text.find("://"); at != std::string::npos; at = text.find("://", at + 1)) {
    // A password can contain an '@': the last one ends the login.
    const std::size_t user = text.rfind('@', text.find_first_of("/ \"", at + 3));
    if (user != std::string::npos && user > at) text.erase(at + 3, user + 1 - (at + 3));
  }
  return text;
}

}  // namespace

std::string error_reason(const std::string& standard_error) {
  std::string text = standard_error;
  while (text.ends_with('\n')) text.pop_back();
  text.erase(0, text.rfind('\n') + 1);  // npos + 1 is 0
  if (const std::size_t message = text.find("msg=\""); message != std::string::npos) {
    text.erase(0, message + 5);
    if (text.ends_with('"')) text.pop_back();
  }
  for (std::size_t at = text.find("\\\""); at != std::string::npos; at = text.find("\\\"", at))
    text.erase(at, 1);
  text = printable(without_queries(std::move(text)), 400);
  return text.empty() ? "skopeo exited without an error message" : text;
}

Result<std::string> Skopeo::read(Document document, const image::Reference& image,
                                 const RegistryLogin* login, const Limits& limits,
                                 const std::stop_token& stop) const {
  auto dir = PrivateDirectory::create(config_.temp_dir);
  if (!dir) return dir.error();
  if (Status ready = write_config(*dir, config_, policy_, auth_file(image, login)); !ready)
    return ready.error();
  const std::string& home = dir->path();
  ChildConfig child{
      .argv = {config_.program, "--debug", "--policy", home + "/policy.json", "--registries.d",
               home + "/registries.d", "--tmpdir", home + "/tmp", "inspect", "--authfile",
               home + "/auth.json", "--cert-dir", home + "/certs",
               document == Document::manifest ? "--raw" : "--config", "docker://" + image.text()},
      .environment = {"HOME=" + home, "XDG_RUNTIME_DIR=" + home, "TMPDIR=" + home + "/tmp",
                      "CONTAINERS_REGISTRIES_CONF=" + home + "/registries.conf",
                      "HTTPS_PROXY=" + proxy_.url(), "HTTP_PROXY=" + proxy_.url(),
                      "NO_PROXY=", "GOMAXPROCS=1", go_memory_limit(config_.memory)},
      .deadline = limits.deadline,
      .max_output = limits.max_bytes,
      .memory = config_.memory,
      .kill_at = kRepeats};
  if (!config_.system_cas.empty())
    child.environment.push_back("SSL_CERT_FILE=" + config_.system_cas);
  Result<ChildResult> result = ChildResult{};
  std::thread([&] {
    confine_();
    result = run_child_process(child, clock_, stop);
  }).join();
  if (!result) return result.error();
  if (result->err.find(kRepeats) != std::string::npos)
    return Error{Code::unreachable,
                 std::string(kLimitedGet) + ": the registry limits requests (HTTP status 429)"};
  if (result->exit_code == 0) return std::move(result->out);
  if (result->exit_code > 128)
    return Error{Code::unreachable,
                 "skopeo was killed by signal " + std::to_string(result->exit_code - 128)};
  return Error{Code::unreachable, error_reason(result->err)};
}

}  // namespace cronlatch::registry

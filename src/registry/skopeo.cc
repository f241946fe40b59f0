// SPDX-License-Identifier: Apache-2.0
#include "registry/skopeo.h"

#include <thread>

#include "base/text.h"
#include "kube/access.h"
#include "registry/child_process.h"
#include "registry/private_directory.h"

namespace cronlatch::registry {
namespace {

// Go's collector keeps well below what the kernel allows.
std::string soft_limit(std::size_t memory) {
  return "GOMEMLIMIT=" + std::to_string(memory / 4 * 3);
}

// No mirror, no short name, no other file of the surroundings.
std::string registries_conf(const image::RegistryPolicy& policy) {
  std::string text = "unqualified-search-registries = []\nshort-name-mode = \"enforcing\"\n";
  for (const image::ListedRegistry& one : policy.listed())
    if (one.plain) text += "[[registry]]\nlocation = \"" + one.name + "\"\ninsecure = true\n";
  return text;
}

Status prepare(const PrivateDirectory& dir, const SkopeoConfig& request,
               const image::RegistryPolicy& policy, const std::string& auth) {
  std::string ca;
  if (!request.ca_file.empty()) {
    auto read = kube::read_small_file(request.ca_file);
    if (!read) return Error{Code::config, "lookup-ca-file: " + read.error().message};
    if (read->empty())
      return Error{Code::config, "lookup-ca-file: " + request.ca_file + " is empty"};
    ca = std::move(read).value();
  }
  for (const char* name : {"certs", "registries.d", "tmp"})
    if (Status made = dir.subdirectory(name); !made) return made;
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
    // A login may hold an '@' of its own: the last one ends it.
    const std::size_t user = text.rfind('@', text.find_first_of("/ \"", at + 3));
    if (user != std::string::npos && user > at) text.erase(at + 3, user + 1 - (at + 3));
  }
  return text;
}

}  // namespace

std::string reason_in(const std::string& complaint) {
  std::string text = complaint;
  while (text.ends_with('\n')) text.pop_back();
  text.erase(0, text.rfind('\n') + 1);  // npos + 1 is 0
  if (const std::size_t message = text.find("msg=\""); message != std::string::npos) {
    text.erase(0, message + 5);
    if (text.ends_with('"')) text.pop_back();
  }
  for (std::size_t at = text.find("\\\""); at != std::string::npos; at = text.find("\\\"", at))
    text.erase(at, 1);
  text = printable(without_queries(std::move(text)), 400);
  return text.empty() ? "the client gave no reason" : text;
}

Result<std::string> Skopeo::read(What what, const image::Reference& image, const Login* login,
                                 const Limits& limits, const std::stop_token& stop) const {
  auto dir = PrivateDirectory::make(request_.scratch);
  if (!dir) return dir.error();
  if (Status ready = prepare(*dir, request_, policy_, auth_file(image, login)); !ready)
    return ready.error();
  const std::string& home = dir->path();
  ChildSpec spec{
      .argv = {request_.program, "--policy", home + "/policy.json", "--registries.d",
               home + "/registries.d", "--tmpdir", home + "/tmp", "inspect", "--authfile",
               home + "/auth.json", "--cert-dir", home + "/certs",
               what == What::manifest ? "--raw" : "--config", "docker://" + image.text()},
      .environment = {"HOME=" + home, "XDG_RUNTIME_DIR=" + home, "TMPDIR=" + home + "/tmp",
                      "CONTAINERS_REGISTRIES_CONF=" + home + "/registries.conf",
                      "HTTPS_PROXY=" + proxy_.url(), "HTTP_PROXY=" + proxy_.url(),
                      "NO_PROXY=", "GOMAXPROCS=1", soft_limit(request_.memory)},
      .deadline = limits.deadline,
      .most_output = limits.most_bytes,
      .memory = request_.memory};
  if (!request_.system_cas.empty())
    spec.environment.push_back("SSL_CERT_FILE=" + request_.system_cas);
  Result<ChildEnd> end = ChildEnd{};
  std::thread([&] {
    confine_();
    end = run_child(spec, clock_, stop);
  }).join();
  if (!end) return end.error();
  if (end->exit_code == 0) return std::move(end->out);
  if (end->exit_code > 128)
    return Error{Code::unreachable,
                 "the client was ended by signal " + std::to_string(end->exit_code - 128)};
  return Error{Code::unreachable, reason_in(end->err)};
}

}  // namespace cronlatch::registry

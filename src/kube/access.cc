// SPDX-License-Identifier: Apache-2.0
// Reads the address and the files that the kubelet gives to every pod.
#include "kube/access.h"

#include <cerrno>
#include <cstdio>
#include <cstring>
#include <memory>

#include "base/text.h"

namespace cronlatch::kube {
namespace {

constexpr std::size_t kMaxBytes = 4U << 20;  // the largest known CA bundles are 1 MB
constexpr std::string_view kScheme = "https://";

struct Closer {
  void operator()(FILE* file) const { std::fclose(file); }
};

}  // namespace

Result<std::string> read_small_file(const std::string& path) {
  const std::unique_ptr<FILE, Closer> file(std::fopen(path.c_str(), "re"));
  if (file == nullptr)
    return Error{Code::config, "cannot read " + path + ": " + std::strerror(errno)};
  std::string text;
  char chunk[16'384];
  for (std::size_t got = 0; (got = std::fread(chunk, 1, sizeof chunk, file.get())) > 0;) {
    text.append(chunk, got);
    if (text.size() > kMaxBytes) return Error{Code::config, path + " is larger than 4 MiB"};
  }
  if (std::ferror(file.get()) != 0)
    return Error{Code::config, "cannot read " + path + ": " + std::strerror(errno)};
  return text;
}

Result<ClusterAccess> in_cluster_access(std::string_view host, std::string_view port,
                                        std::string_view dir) {
  if (host.empty() || port.empty())
    return Error{Code::config,
                 "KUBERNETES_SERVICE_HOST or KUBERNETES_SERVICE_PORT is not set: not in a pod",
                 "run the operator in the cluster, as the chart does"};
  const bool ipv6 = host.find(':') != std::string_view::npos;
  const std::string name = ipv6 ? "kubernetes.default.svc" : std::string(host);
  const std::string at(dir);
  ClusterAccess access{.server = std::string(kScheme) + name + ":" + std::string(port),
                       .ca_file = at + "/ca.crt",
                       .token_file = at + "/token"};
  for (const std::string& file : {access.ca_file, access.token_file})
    if (auto text = read_small_file(file); !text)
      return Error{Code::config, text.error().message,
                   "the pod needs its service account token: automountServiceAccountToken: true"};
  return access;
}

Status check_server(std::string_view server) {
  if (!server.starts_with(kScheme))
    return Error{Code::config, "the API server " + quoted(server) + " is not an https:// address"};
  const std::string_view host = server.substr(kScheme.size());
  if (host.starts_with('['))
    return Error{Code::config,
                 "the API server " + quoted(server) + " is an IPv6 literal, which is not supported",
                 "use a name that resolves to it, such as kubernetes.default.svc"};
  if (host.empty() || host.front() == ':' || host.find('/') != std::string_view::npos)
    return Error{Code::config, "the API server " + quoted(server) + " is not https://host:port"};
  return Done{};
}

}  // namespace cronlatch::kube

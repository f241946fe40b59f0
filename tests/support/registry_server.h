// SPDX-License-Identifier: Apache-2.0
// RegistryServer: a real registry (Debian's docker-registry) on loopback with TLS, and images to
// push into it with skopeo; buildah.h has others. It dies with the test.
#pragma once

#include <memory>
#include <string>
#include <vector>

#include "support/certificates.h"
#include "support/program.h"
#include "support/token_server.h"

namespace cronlatch::testing {

// Names of the tests' hosts, all of them loopback. Once, before any thread: it moves this process
// into a mount namespace of its own. False where that is forbidden.
bool name_hosts();

struct PushedImage {
  std::string config;  // the object `config` of an image's configuration
  std::string arch = "amd64";
};

class RegistryServer {
 public:
  static constexpr char kUser[] = "cron";
  static constexpr char kPassword[] = "wonder";

  enum class Door { open, login };
  // `certificates` outlive it.
  explicit RegistryServer(const Certificates& certificates, Door door = Door::open);
  // Believes the tokens of that server.
  RegistryServer(const Certificates& certificates, const TokenServer& tokens);

  std::string name() const { return "registry.test:" + std::to_string(port_); }
  // The folder of its authority, as --cert-dir wants it.
  std::string trust() const { return dir_.path("certs"); }
  // Copies what skopeo can name ("docker-archive:FILE").
  void push_from(const std::string& source, const std::string& repository_and_tag,
                 const std::vector<std::string>& more = {});
  void push(const std::string& repository_and_tag, const PushedImage& image,
            const std::string& format = "oci");
  void push_index(const std::string& repository_and_tag, const std::vector<PushedImage>& images);
  void stop() { server_.reset(); }
  void start();  // at the port that it had

 private:
  RegistryServer(const Certificates& certificates, Door door, const std::string& auth);
  bool launch();
  std::string log() const { return read_file(dir_.path("log")); }

  const Certificates& certificates_;
  const Door door_;
  const std::string auth_;  // "%" in it is the folder of ours
  ScratchDir dir_;
  int port_ = 0;
  int layouts_ = 0;
  std::unique_ptr<Program> server_;
};

}  // namespace cronlatch::testing

// SPDX-License-Identifier: Apache-2.0
// RegistryServer: a real registry (Debian's docker-registry) on loopback with TLS, and functions
// that push images with skopeo; buildah.h has others. The kernel kills it when the test ends.
#pragma once

#include <memory>
#include <string>
#include <vector>

#include "support/certificates.h"
#include "support/program.h"
#include "support/token_server.h"

namespace cronlatch::testing {

// Sets the names of the tests' hosts, all on loopback. Must be called once, before any thread
// starts, because it moves this process into a new mount namespace. False where that is forbidden.
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
  // `certificates` must exist longer than the server.
  explicit RegistryServer(const Certificates& certificates, Door door = Door::open);
  // Accepts the tokens of that server.
  RegistryServer(const Certificates& certificates, const TokenServer& tokens);

  std::string name() const { return "registry.test:" + std::to_string(port_); }
  // The folder with its CA, for --cert-dir.
  std::string trust() const { return dir_.path("certs"); }
  // Copies what skopeo can name ("docker-archive:FILE").
  void push_from(const std::string& source, const std::string& repository_and_tag,
                 const std::vector<std::string>& more = {});
  void push(const std::string& repository_and_tag, const PushedImage& image,
            const std::string& format = "oci");
  void push_index(const std::string& repository_and_tag, const std::vector<PushedImage>& images);
  void stop() { server_.reset(); }
  // How many requests with this method for a path with this part it has answered.
  int requests(const std::string& method, const std::string& part) const;
  void start();  // at the same port

 private:
  RegistryServer(const Certificates& certificates, Door door, const std::string& auth);
  bool launch();
  std::string log() const { return read_file(dir_.path("log")); }

  const Certificates& certificates_;
  const Door door_;
  const std::string auth_;  // "%" in it stands for the folder of this object
  ScratchDir dir_;
  int port_ = 0;
  int layouts_ = 0;
  std::unique_ptr<Program> server_;
};

}  // namespace cronlatch::testing

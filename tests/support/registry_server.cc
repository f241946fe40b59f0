// SPDX-License-Identifier: Apache-2.0
#include "support/registry_server.h"

#include <sched.h>
#include <sys/mount.h>
#include <unistd.h>

#include <algorithm>
#include <cstdio>
#include <cstdlib>
#include <filesystem>
#include <fstream>

#include "support/digest.h"

namespace cronlatch::testing {
namespace {

namespace fs = std::filesystem;

constexpr int kPortTries = 5;

// bcrypt of kPassword, the only hash that the registry supports.
constexpr char kLogin[] = "cron:$2b$04$abcdefghijklmnopqrstuuetGRvO6QNMBbbIoo5tpQkbPXg26U9Qu\n";

constexpr char kHosts[] =
    "127.0.0.1 localhost registry.test redis.test canary.test rebound.example.com\n";

void write(const std::string& path, const std::string& text) { std::ofstream(path) << text; }

// The port in the registry's log; 0 when the log does not contain it yet.
int port_in(const std::string& log) {
  constexpr std::string_view kBefore = "listening on 127.0.0.1:";
  const std::size_t at = log.find(kBefore);
  return at == std::string::npos ? 0 : std::atoi(log.c_str() + at + kBefore.size());
}

// A folder in the OCI image layout.
class Layout {
 public:
  explicit Layout(std::string path) : path_(std::move(path)) {
    fs::create_directories(path_ + "/blobs/sha256");
    write(path_ + "/oci-layout", R"({"imageLayoutVersion":"1.0.0"})");
  }
  // The descriptor of an image of one empty layer.
  std::string add(const PushedImage& image) {
    const std::string config = blob(
        R"({"architecture":")" + image.arch + R"(","os":"linux","config":)" + image.config +
        R"(,"rootfs":{"type":"layers","diff_ids":["sha256:5f70bf18a086007016e948b04aed3b82103a36bea41755b6cddfaf10ace3c6ef"]},)"
        R"("history":[{"created":"2026-11-21T00:00:00Z","created_by":"test"}]})");
    const unsigned char empty[] = {31,  139, 8,   0,   0,   9,   110, 136, 0, 255, 98,
                                   24,  5,   163, 96,  20,  140, 88,  0,   8, 0,   0,
                                   255, 255, 46,  175, 181, 239, 0,   4,   0, 0};
    const std::string layer = blob({reinterpret_cast<const char*>(empty), sizeof empty});
    const std::string manifest = blob(
        R"({"schemaVersion":2,"mediaType":"application/vnd.oci.image.manifest.v1+json","config":)" +
        descriptor("config.v1+json", config) + R"(,"layers":[)" +
        descriptor("layer.v1.tar+gzip", layer) + "]}");
    return descriptor("manifest.v1+json", manifest,
                      R"(,"platform":{"os":"linux","architecture":")" + image.arch + R"("})");
  }
  std::string index(const std::string& descriptors) {
    return R"({"schemaVersion":2,"mediaType":"application/vnd.oci.image.index.v1+json","manifests":[)" +
           descriptors + "]}";
  }
  std::string blob(const std::string& bytes) {
    std::string hex = sha256(bytes);
    write(path_ + "/blobs/sha256/" + hex, bytes);
    return hex;
  }
  std::string descriptor(const std::string& type, const std::string& hex,
                         const std::string& more = "") const {
    const auto size = fs::file_size(path_ + "/blobs/sha256/" + hex);
    return R"({"mediaType":"application/vnd.oci.image.)" + type + R"(","digest":"sha256:)" + hex +
           R"(","size":)" + std::to_string(size) + more + "}";
  }
  void finish(const std::string& descriptor_of_all) {
    write(path_ + "/index.json", R"({"schemaVersion":2,"manifests":[)" + descriptor_of_all + "]}");
  }

 private:
  std::string path_;
};

}  // namespace

bool name_hosts() {
  if (read_file("/etc/hosts") == kHosts) return true;  // set by another suite of this process
  const uid_t uid = getuid();
  if (unshare(CLONE_NEWNS | (uid == 0 ? 0 : CLONE_NEWUSER)) != 0) return false;
  if (uid != 0) write("/proc/self/uid_map", "0 " + std::to_string(uid) + " 1");
  std::string hosts = (fs::temp_directory_path() / "cronlatch-hosts-XXXXXX").string();
  const int fd = mkstemp(hosts.data());
  if (fd < 0) return false;
  close(fd);
  write(hosts, kHosts);
  const bool mounted = mount(nullptr, "/", nullptr, MS_REC | MS_PRIVATE, nullptr) == 0 &&
                       mount(hosts.c_str(), "/etc/hosts", nullptr, MS_BIND, nullptr) == 0;
  fs::remove(hosts);  // the mount keeps the file open
  return mounted;
}

RegistryServer::RegistryServer(const Certificates& certificates, Door door)
    : RegistryServer(certificates, door, "{htpasswd: {realm: test, path: %/htpasswd}}") {}

RegistryServer::RegistryServer(const Certificates& certificates, const TokenServer& tokens)
    : RegistryServer(certificates, Door::login,
                     "{token: {realm: \"" + tokens.realm() + "\", service: " +
                         TokenServer::kService + ", issuer: " + TokenServer::kIssuer +
                         ", rootcertbundle: " + certificates.ca() + "}}") {}

RegistryServer::RegistryServer(const Certificates& certificates, Door door, const std::string& auth)
    : certificates_(certificates), door_(door), auth_(auth) {
  fs::create_directory(dir_.path("store"));
  fs::create_directory(trust());
  fs::copy_file(certificates.ca(), trust() + "/ca.crt");
  write(dir_.path("htpasswd"), kLogin);
  start();
}

void RegistryServer::start() {
  std::string config =
      "version: 0.1\nlog: {level: info, accesslog: {disabled: true}}\n"
      "compatibility: {schema1: {enabled: true}}\n"
      "storage: {filesystem: {rootdirectory: %/store}}\nhttp:\n  addr: 127.0.0.1:" +
      std::to_string(port_) + "\n  tls: {certificate: " + certificates_.good().cert +
      ", key: " + certificates_.good().key + "}\n";
  if (door_ == Door::login) config += "auth: " + auth_ + "\n";
  for (std::size_t at = config.find('%'); at != std::string::npos; at = config.find('%'))
    config.replace(at, 1, dir_.path());
  write(dir_.path("config.yml"), config);
  // At a restart another program may use its port for a moment.
  for (int i = 0; i < kPortTries; ++i)
    if (launch()) return;
  std::fprintf(stderr, "docker-registry did not start:\n%s\n", log().c_str());
  std::abort();
}

bool RegistryServer::launch() {
  fs::remove(dir_.path("log"));  // of an earlier process
  server_ = std::make_unique<Program>(
      ProgramSpec{.argv = {"/bin/sh", "-c", "exec docker-registry serve \"$0\" 2>\"$1\"",
                           dir_.path("config.yml"), dir_.path("log")},
                  .env = {"PATH=/usr/bin:/bin", "OTEL_TRACES_EXPORTER=none"}});
  eventually([&] { return port_in(log()) != 0 || !is_alive(server_->pid()); });
  if (const int port = port_in(log()); port != 0) port_ = port;
  return port_in(log()) != 0;
}

int RegistryServer::requests(const std::string& method, const std::string& part) const {
  const std::string all = log();
  int count = 0;
  for (std::size_t at = 0; at < all.size();) {
    const std::size_t end = std::min(all.find('\n', at), all.size());
    const std::string line = all.substr(at, end - at);
    at = end + 1;
    if (line.find("response completed") == std::string::npos) continue;
    const std::size_t uri = line.find("http.request.uri=");
    if (uri != std::string::npos &&
        line.find("http.request.method=" + method + " ") != std::string::npos &&
        line.find(part, uri) < line.find(' ', uri))
      ++count;
  }
  return count;
}

void RegistryServer::push_from(const std::string& source, const std::string& repository_and_tag,
                               const std::vector<std::string>& more) {
  std::vector<std::string> argv = {
      "/usr/bin/skopeo", "--insecure-policy", "--tmpdir", dir_.path(), "copy",
      "--quiet",         "--dest-cert-dir",   trust()};
  if (door_ == Door::login)
    argv.insert(argv.end(), {"--dest-creds", std::string(kUser) + ":" + kPassword});
  argv.insert(argv.end(), more.begin(), more.end());
  argv.insert(argv.end(), {source, "docker://" + name() + "/" + repository_and_tag});
  output_of({.argv = argv, .env = {"PATH=/usr/bin:/bin", "HOME=" + dir_.path()}});
}

void RegistryServer::push(const std::string& repository_and_tag, const PushedImage& image,
                          const std::string& format) {
  const std::string path = dir_.path("layout-" + std::to_string(++layouts_));
  Layout layout(path);
  layout.finish(layout.add(image));
  push_from("oci:" + path, repository_and_tag, {"--format", format});
}

void RegistryServer::push_index(const std::string& repository_and_tag,
                                const std::vector<PushedImage>& images) {
  const std::string path = dir_.path("layout-" + std::to_string(++layouts_));
  Layout layout(path);
  std::string all;
  for (const PushedImage& image : images) all += (all.empty() ? "" : ",") + layout.add(image);
  layout.finish(layout.descriptor("index.v1+json", layout.blob(layout.index(all))));
  push_from("oci:" + path, repository_and_tag, {"--all"});
}

}  // namespace cronlatch::testing

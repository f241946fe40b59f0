// SPDX-License-Identifier: Apache-2.0
#include "support/buildah.h"

#include <fstream>

namespace cronlatch::testing {

Buildah::Buildah(std::string trust) : trust_(std::move(trust)) {
  std::ofstream(dir_.path("policy.json")) << R"({"default":[{"type":"insecureAcceptAnything"}]})";
}

std::string Buildah::run(const std::vector<std::string>& words) const {
  std::vector<std::string> argv = {
      "/usr/bin/buildah", "--root", dir_.path("root"), "--runroot", dir_.path("run"),
      "--storage-driver", "vfs"};
  argv.insert(argv.end(), words.begin(), words.end());
  std::string out = output_of({.argv = argv,
                               .env = {"PATH=/usr/sbin:/usr/bin:/sbin:/bin", "HOME=" + dir_.path(),
                                       "TMPDIR=" + dir_.path()}});
  while (out.ends_with('\n')) out.pop_back();
  return out;
}

void Buildah::build(const std::string& image, const std::vector<std::string>& config,
                    const std::string& format) const {
  const std::string container = run({"from", "scratch"});
  std::vector<std::string> words = {"config"};
  words.insert(words.end(), config.begin(), config.end());
  words.push_back(container);
  run(words);
  run({"commit", "--quiet", "--rm", "--format", format, "--signature-policy",
       dir_.path("policy.json"), container, image});
}

void Buildah::build_list(const std::string& list, const std::vector<std::string>& images) const {
  run({"manifest", "create", list});
  for (const std::string& image : images)
    run({"manifest", "add", list, "containers-storage:localhost/" + image});
}

void Buildah::push(const std::string& image, const std::string& to,
                   const std::vector<std::string>& more) const {
  std::vector<std::string> words = {
      "push", "--quiet", "--signature-policy", dir_.path("policy.json"), "--cert-dir", trust_};
  words.insert(words.end(), more.begin(), more.end());
  words.insert(words.end(), {image, to});
  run(words);
}

void Buildah::push_list(const std::string& list, const std::string& to) const {
  run({"manifest", "push", "--quiet", "--all", "--signature-policy", dir_.path("policy.json"),
       "--cert-dir", trust_, list, to});
}

}  // namespace cronlatch::testing

// SPDX-License-Identifier: Apache-2.0
// What images run, asked of registries by a few threads and remembered. Whoever asks waits no
// longer than he says; the look-up goes on without him, and the next one finds its answer.
#pragma once

#include <functional>
#include <memory>
#include <string>
#include <vector>

#include "base/log.h"
#include "base/result.h"
#include "base/time.h"
#include "image/manifest.h"
#include "image/reference.h"
#include "registry/logins.h"
#include "registry/skopeo.h"

namespace cronlatch::registry {

struct Question {
  image::Reference image;
  std::vector<std::string> architectures;  // sorted, at least one
  // Secrets with logins of its own; what was found with them is an answer to the same question
  // only.
  std::string namespace_name{};
  std::vector<std::string> pull_secrets{};
};

struct Looked {
  std::string digest;  // of what the name stood for; "": it cannot be pinned
  struct On {
    std::string architecture;
    image::Startup startup;
    bool operator==(const On&) const = default;
  };
  std::vector<On> on;  // one for each architecture that the image has of those asked for
  bool operator==(const Looked&) const = default;
};

struct Told {
  enum class Kind { known, failed, not_yet };
  Kind kind = Kind::not_yet;
  Looked looked{};         // Kind::known
  bool remembered{false};  // Kind::known: nobody had to wait for it
  std::string why{};       // Kind::failed
};

struct LookupTiming {
  Millis timeout{15'000};       // of one look-up
  Millis tag_recheck{300'000};  // then a tag is looked at again, behind the answer's back
  Millis failure_kept{10'000};  // a failure is the answer for so long
  std::size_t threads = 4;
  std::size_t waiting = 6;  // who asks while so many wait is told not_yet at once
  std::size_t queue = 1'000;
  std::size_t remembered = 10'000;
};

// Asks a registry: blocks, until the deadline at most. Skopeo's in the operator.
using Ask =
    std::function<Result<Looked>(const Question&, TimePoint deadline, const std::stop_token& stop)>;

// Thread rule: any method from any thread; start() and stop() once.
class Lookup {
 public:
  struct Parts {
    Ask ask;
    std::function<void(const Question&, const Result<Looked>&, Micros took)>
        on_asked;  // after each look-up, on its thread
    const Clock& clock;
  };
  Lookup(Parts parts, const LookupTiming& timing);
  ~Lookup();  // stops
  Lookup(const Lookup&) = delete;
  Lookup& operator=(const Lookup&) = delete;

  void start();
  void stop();  // ends look-ups under way; whoever waits is told not_yet
  Told find(const Question& question, TimePoint until);

 private:
  class Impl;
  std::unique_ptr<Impl> impl_;
};

// How registries are asked: manifest, then the config of each platform that is wanted; each login
// in turn, then none. Configs are remembered by digest.
using LoginsFor = std::function<std::vector<Login>(const Question&)>;
Ask ask_by(const Skopeo& skopeo, LoginsFor logins, std::size_t remembered);

}  // namespace cronlatch::registry

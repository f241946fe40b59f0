// SPDX-License-Identifier: Apache-2.0
// What the tests of the real binary share: where it is, and a `cronlatch run` of the talking child
// that reads as a sentence.
#pragma once

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <unistd.h>

#include <csignal>
#include <cstdio>
#include <cstdlib>
#include <fstream>
#include <string>
#include <vector>

#include "support/program.h"
#include "support/redis_server.h"
#include "support/source_dir.h"

namespace cronlatch::testing {

using Words = std::vector<std::string>;

// TESTED_BINARY, or the release build of this source tree, or the program built beside the
// tests.
inline std::string binary() {
  const char* given = std::getenv("TESTED_BINARY");
  if (given != nullptr) return given;
  const std::string release = source_dir() + "/build/release/cronlatch";
  if (exists(release)) return release;
  const std::string beside =
      talking_child().substr(0, talking_child().rfind('/')) + "/../cronlatch";
  if (exists(beside)) return beside;
  std::fprintf(stderr, "no cronlatch to test: set TESTED_BINARY or build the release preset\n");
  std::_Exit(1);
}

inline void touch(const std::string& path) { std::ofstream(path) << ""; }

inline std::size_t count(const std::string& text, const std::string& part) {
  std::size_t n = 0;
  for (std::size_t at = 0; (at = text.find(part, at)) != std::string::npos; at += part.size()) ++n;
  return n;
}

// A store and a directory for one test; every run uses lock "job" unless its options say otherwise.
class Gated : public ::testing::Test {
 protected:
  // argv of `cronlatch run OPTIONS -- talking_child WORDS`.
  Words run_words(const Words& options, const Words& words) const {
    Words argv = {binary(), "run", "--lock", "job", "--store", store};
    argv.insert(argv.end(), options.begin(), options.end());
    argv.insert(argv.end(), {"--", talking_child()});
    argv.insert(argv.end(), words.begin(), words.end());
    return argv;
  }
  ProgramSpec run(const Words& options, const Words& words) const {
    return {.argv = run_words(options, words)};
  }
  // A free lock is granted immediately.
  bool lock_is_free() const {
    Program probe(run({"--on-busy", "fail"}, {"exit", "0"}));
    return probe.exit_code() == 0;
  }
  bool told(const std::string& text, std::chrono::milliseconds limit = kPatience) const {
    return eventually([&] { return read_file(file()).find(text) != std::string::npos; }, limit);
  }
  std::string file() const { return dir.path("told"); }
  std::string go() const { return dir.path("go"); }

  ScratchDir dir;
  std::string store = "file://" + dir.path("locks");
};

// The same with a Redis of its own.
class GatedByRedis : public Gated {
 protected:
  GatedByRedis() { store = "redis://127.0.0.1:" + std::to_string(redis->port()); }
  // One number of `cronlatch show -o json`, summed over jobs.
  bool shows(const std::string& counter_and_value) const {
    Program show({.argv = {binary(), "show", "--store", store, "-o", "json", "job"}});
    return show.exit_code() == 0 && show.out().find(counter_and_value) != std::string::npos;
  }

  std::unique_ptr<RedisServer> redis = RedisServer::start();
};

}  // namespace cronlatch::testing

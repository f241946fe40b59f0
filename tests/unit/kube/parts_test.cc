// SPDX-License-Identifier: Apache-2.0
// Lines, request targets, tokens, access, times.
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <stdlib.h>

#include <filesystem>
#include <fstream>

#include "kube/access.h"
#include "kube/backoff.h"
#include "kube/exchange.h"
#include "kube/line_splitter.h"
#include "kube/micro_time.h"
#include "kube/target.h"
#include "kube/token.h"

namespace cronlatch::kube {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;
using namespace std::chrono_literals;

struct TempDir {
  std::string path;
  TempDir() {
    char name[] = "/tmp/cronlatch-test-XXXXXX";
    path = mkdtemp(name);
  }
  ~TempDir() { std::filesystem::remove_all(path); }
  std::string write(const std::string& name, const std::string& text) const {
    std::ofstream(path + "/" + name) << text;
    return path + "/" + name;
  }
};

TEST(LineSplitter, JoinsLinesThatAreSplitAnywhere) {
  LineSplitter splitter(100);
  std::vector<std::string> lines;
  const auto keep = [&](std::string_view line) {
    lines.emplace_back(line);
    return true;
  };

  for (const char* part : {"on", "e\ntwo\nth", "", "ree\n\n", "rest"}) splitter.push(part, keep);

  EXPECT_THAT(lines, ElementsAre("one", "two", "three"));
}

TEST(LineSplitter, RejectsALineThatIsTooLong) {
  LineSplitter splitter(5);
  const auto keep = [](std::string_view) { return true; };

  EXPECT_TRUE(splitter.push("12345\n123", keep));
  EXPECT_FALSE(splitter.push("456", keep));
  EXPECT_TRUE(splitter.overlong());
}

TEST(Target, EscapesObjectNames) {
  EXPECT_EQ(request_target({.path = "/api/v1/namespaces/a?b/pods",
                            .query = {{"labelSelector", "x=y,z"}, {"continue", "a/b+c"}}}),
            "/api/v1/namespaces/a%3Fb/pods?labelSelector=x%3Dy%2Cz&continue=a%2Fb%2Bc");
}

TEST(TokenSource, ReadsTheFileAgainAfterAMinute) {
  const TempDir dir;
  TokenSource::Time now{};
  now += 1h;
  TokenSource source(dir.write("token", "one\n"), {});
  EXPECT_EQ(source.current(now).reveal(), "one");
  dir.write("token", "two\n");

  EXPECT_EQ(source.current(now + 59s).reveal(), "one");
  EXPECT_EQ(source.current(now + 61s).reveal(), "two");
}

TEST(TokenSource, KeepsTheTokenWhileTheFileIsMissing) {
  const TempDir dir;
  const std::string file = dir.write("token", "one");
  TokenSource source(file, {});
  source.current({});
  std::filesystem::remove(file);

  EXPECT_EQ(source.current(TokenSource::Time{} + 5min).reveal(), "one");
}

TEST(InCluster, ReadsHostPortAndFiles) {
  const TempDir dir;
  dir.write("ca.crt", "ca");
  dir.write("token", "token");

  const auto access = in_cluster_access("10.0.0.1", "443", dir.path);

  ASSERT_TRUE(access.ok()) << access.error().message;
  EXPECT_EQ(access->server, "https://10.0.0.1:443");
  EXPECT_EQ(access->token_file, dir.path + "/token");
}

TEST(InCluster, UsesANameForAnIpv6Address) {
  const TempDir dir;
  dir.write("ca.crt", "ca");
  dir.write("token", "token");

  EXPECT_EQ(in_cluster_access("fd00:10:96::1", "443", dir.path)->server,
            "https://kubernetes.default.svc:443");
}

TEST(InCluster, ReportsWhatIsMissing) {
  const TempDir dir;
  EXPECT_THAT(in_cluster_access("", "", dir.path).error().message, HasSubstr("not in a pod"));
  EXPECT_THAT(in_cluster_access("10.0.0.1", "443", dir.path).error().message, HasSubstr("ca.crt"));
}

TEST(Backoff, NeverExceedsThirtySeconds) {
  Backoff backoff;
  for (int i = 0; i < 20; ++i) {
    const Millis wait = backoff.next([] { return 0.999; });
    EXPECT_GE(wait, 800ms);
    EXPECT_LE(wait, 30s);
  }
}

TEST(MicroTime, HasMicroseconds) {
  EXPECT_EQ(micro_time({1'763'690'000'000'042}), "2025-11-21T01:53:20.000042Z");
  EXPECT_EQ(micro_time({999'999}), "1970-01-01T00:00:00.999999Z");
}

TEST(Exchange, PausesAFastServerUntilTheReaderTakes) {
  Exchange exchange;
  int resumed = 0;
  exchange.set_status(200);
  const std::string much(2U << 20, 'x');

  EXPECT_TRUE(exchange.push("a", [] {}));
  EXPECT_FALSE(exchange.push(much, [&] { ++resumed; }));
  EXPECT_EQ(resumed, 0);
  EXPECT_EQ(exchange.take().size(), much.size() + 1);

  EXPECT_EQ(resumed, 1);
}

TEST(Exchange, ResumesAPausedServerWhenTheReaderGivesUp) {
  Exchange exchange;
  int resumed = 0;
  EXPECT_FALSE(exchange.push(std::string(2U << 20, 'x'), [&] { ++resumed; }));

  exchange.abandon();

  EXPECT_EQ(resumed, 1);
  EXPECT_TRUE(exchange.push(std::string(2U << 20, 'x'), [] {}));
}

}  // namespace
}  // namespace cronlatch::kube

// SPDX-License-Identifier: Apache-2.0
// Reviewer: an API server that reviews tokens. It records what it was sent.
#pragma once

#include <functional>
#include <map>
#include <optional>
#include <set>
#include <string>
#include <vector>

#include "kube/api.h"

namespace cronlatch::testing {

class Reviewer final : public kube::Api {
 public:
  using Json = kube::Json;

  std::map<std::string, std::string> users = {{"good", "prometheus"}};  // token -> user
  std::map<std::string, std::set<std::string>> rights = {{"prometheus", {"/metrics"}}};
  std::string audience;                   // of every token; "": that of the API server
  bool returns_audiences = true;          // false: the server ignores audiences
  std::optional<int> status_of_failures;  // every review fails with this status; 0: no answer
  std::vector<kube::Request> requests;
  std::function<void()> during_review;  // called before each answer, if it is set

  Result<kube::Response> call(const kube::Request& request) override {
    requests.push_back(request);
    if (during_review) during_review();
    if (status_of_failures == 0) return Error{Code::unreachable, "no answer"};
    if (status_of_failures)
      return kube::Response{*status_of_failures, {{"message", "it is forbidden"}}};
    return kube::Response{201,
                          {{"status", request.path.find("tokenreviews") != std::string::npos
                                          ? token_status(request.body["spec"])
                                          : right_status(request.body["spec"])}}};
  }
  Result<kube::Response> watch(const kube::Request&,
                               const std::function<void(const kube::WatchEvent&)>&,
                               std::stop_token) override {
    return Error{Code::bug, "no watch"};
  }

 private:
  Json token_status(const Json& spec) const {
    const auto user = users.find(kube::string_at(spec, {"token"}));
    const auto requested = kube::strings_at(spec, {"audiences"});
    const bool matches = !returns_audiences ||
                         (requested.empty() ? audience.empty() : requested.front() == audience);
    if (user == users.end() || !matches) return {{"authenticated", false}};
    Json status = {{"authenticated", true},
                   {"user",
                    {{"username", user->second},
                     {"uid", "u-1"},
                     {"groups", {"system:authenticated"}},
                     {"extra", {{"pod", {"p-0"}}}}}}};
    if (returns_audiences && !requested.empty()) status["audiences"] = requested;
    return status;
  }
  Json right_status(const Json& spec) const {
    const auto allowed = rights.find(kube::string_at(spec, {"user"}));
    return {
        {"allowed", allowed != rights.end() && allowed->second.count(kube::string_at(
                                                   spec, {"nonResourceAttributes", "path"})) > 0}};
  }
};

}  // namespace cronlatch::testing

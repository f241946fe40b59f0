// SPDX-License-Identifier: Apache-2.0
#include "operator/guard.h"

#include <algorithm>

#include "core/outcome.h"
#include "core/text.h"

namespace cronlatch::op {
namespace {

using kube::Json;

// In pages: a cluster may have more CronJobs than one answer should hold.
constexpr char kPage[] = "500";
// Pages that a server which never ends the list may send.
constexpr int kMostPages = 10'000;
// How many names a person reads.
constexpr std::size_t kMostNames = 50;

bool asks(const Json* holder) {
  if (holder == nullptr) return false;
  const Json* const lock = kube::find(*holder, {"annotations", "cronlatch.dev/lock"});
  return lock != nullptr && *lock != "false";
}

bool asks_for_a_lock(const Json& cronjob) {
  return asks(kube::find(cronjob, {"metadata"})) ||
         asks(kube::find(cronjob, {"spec", "jobTemplate", "metadata"})) ||
         asks(kube::find(cronjob, {"spec", "jobTemplate", "spec", "template", "metadata"}));
}

Result<Json> one_page(kube::Api& api, const std::string& more) {
  kube::Request request{.path = "/apis/batch/v1/cronjobs", .query = {{"limit", kPage}}};
  if (!more.empty()) request.query.emplace_back("continue", more);
  auto answer = api.call(request);
  if (!answer) return answer.error();
  if (answer->ok()) return std::move(answer->body);
  return Error{Code::unreachable,
               "the API server answers " + std::to_string(answer->status) + " " +
                   printable(answer->message()),
               "run it again; it may list CronJobs of all namespaces only as the operator"};
}

}  // namespace

Result<std::vector<std::string>> gated_cronjobs(kube::Api& api) {
  std::vector<std::string> names;
  std::string more;
  for (int page = 0; page < kMostPages; ++page) {
    const Result<Json> list = one_page(api, more);
    if (!list) return list.error();
    const Json* const items = kube::find(*list, {"items"});
    if (items == nullptr || !items->is_array())
      return Error{Code::unreachable, "the API server's answer is no list"};
    for (const Json& cronjob : *items)
      if (asks_for_a_lock(cronjob))
        names.push_back(printable(kube::string_at(cronjob, {"metadata", "namespace"}) + "/" +
                                  kube::string_at(cronjob, {"metadata", "name"})));
    more = kube::string_at(*list, {"metadata", "continue"});
    if (more.empty()) {
      std::sort(names.begin(), names.end());
      return names;
    }
  }
  return Error{Code::unreachable, "the API server's list does not end"};
}

GuardAnswer guard(kube::Api& api) {
  const auto names = gated_cronjobs(api);
  if (!names) {
    return {exit_code(names.error()),
            "cannot tell whether CronJobs are gated: " + printable(names.error().message) +
                "; to uninstall without this check: --no-hooks\n"};
  }
  if (names->empty()) return {0, "no CronJob is gated\n"};
  std::string text =
      "gated CronJobs, which would run without a lock or not at all once the operator is gone: " +
      std::to_string(names->size()) + "\n";
  for (std::size_t i = 0; i < std::min(names->size(), kMostNames); ++i)
    text += "  " + (*names)[i] + "\n";
  if (names->size() > kMostNames) text += "  ...\n";
  text +=
      "remove their annotation cronlatch.dev/lock first; to uninstall all the same: --no-hooks, or "
      "the chart's value uninstall.guard=false\n";
  return {1, text};
}

}  // namespace cronlatch::op

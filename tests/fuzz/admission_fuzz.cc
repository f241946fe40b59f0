// SPDX-License-Identifier: Apache-2.0
// AdmissionReviews with any content. Oracles: the response is an AdmissionReview with the request's
// uid; a patch can be applied, changes only the operator's fields, and a second call changes
// nothing; a Job that was rewritten is gated by its command.
#include <algorithm>

#include "admission/review.h"
#include "fuzz/oracle.h"
#include "kube/json.h"
#include "support/base64.h"

namespace {

using namespace cronlatch;
using kube::Json;

op::Settings settings() {
  op::Settings s;
  s.image = "registry.example/cronlatch:1";
  s.store = "rediss://redis.cronlatch.svc:6379";
  s.image_pull_secrets = {"registry"};
  s.defaults = {{"ttl", "3m"}, {"key-prefix", "prod:"}};
  s.cluster_lock_namespaces = {"demo"};
  s.image_index = {{"pg", {"/docker-entrypoint.sh"}}};
  s.select = {{"demo", "night*", {}, {{"lock", "true"}}}};
  return s;
}

struct Answer {
  Json response;
  Json patch = Json::array();
};

Answer answer_of(const op::ReviewResponse& reviewed) {
  const Result<Json> body = kube::parse_json(reviewed.body);
  fuzz::must(body.ok(), "the response is JSON");
  fuzz::must(kube::string_at(*body, {"kind"}) == "AdmissionReview",
             "the response is an AdmissionReview");
  Answer answer;
  const Json* const response = kube::find(*body, {"response"});
  fuzz::must(response != nullptr, "the AdmissionReview has a response");
  answer.response = *response;
  const std::string patch = kube::string_at(answer.response, {"patch"});
  if (!patch.empty()) answer.patch = *kube::parse_json(from_base64(patch));
  const bool allowed = answer.response["allowed"] == true;
  fuzz::must(allowed || patch.empty(), "only an allowed request has a patch");
  fuzz::must(allowed == (reviewed.result == "mutated" || reviewed.result == "skipped"),
             "the result is that of the response");
  const std::string message = kube::string_at(answer.response, {"status", "message"});
  fuzz::must(fuzz::is_one_line(message), "a message is one line");
  fuzz::must(allowed || !message.empty(), "a denial has a reason");
  return answer;
}

bool is_gated(const Json& object) {
  const Json* const containers = kube::find(object, {"spec", "template", "spec", "containers"});
  if (containers == nullptr || !containers->is_array()) return false;
  return std::any_of(containers->begin(), containers->end(), [](const Json& container) {
    const Json* const command = kube::find(container, {"command"});
    return command != nullptr && command->is_array() && command->size() > 3 &&
           (*command)[0] == "/cronlatch-bin/cronlatch" && (*command)[2] == "--isolated";
  });
}

// Only the copies on a CronJob, and spec on a Job.
void changes_only_own_fields(const Answer& answer, const Json& object, bool job) {
  for (const Json& operation : answer.patch) {
    const std::string path = kube::string_at(operation, {"path"});
    // A parent that is missing or null is created as an empty object.
    const Json::json_pointer pointer(path);
    const bool is_parent =
        (path == "/spec" || path == (job ? "/spec/template" : "/spec/jobTemplate")) &&
        operation["value"] == Json::object() &&
        (!object.contains(pointer) || object[pointer].is_null());
    const bool is_own = is_parent || (job ? path.starts_with("/spec/template/") ||
                                                path == "/spec/podReplacementPolicy"
                                          : path.starts_with("/spec/jobTemplate/metadata"));
    fuzz::must(is_own, "the patch changes only the operator's fields");
  }
}

void check(const Json& review, bool job) {
  static const op::Settings kSettings = settings();
  const auto ask = [&](const Json& one) {
    const std::string text = kube::to_text(one);
    return answer_of(job ? op::review_job(text, kSettings) : op::review_cronjob(text, kSettings));
  };
  const Answer first = ask(review);
  fuzz::must(
      kube::string_at(first.response, {"uid"}) == kube::string_at(review, {"request", "uid"}),
      "the response has the request's uid");
  if (first.patch.empty()) return;
  changes_only_own_fields(first, review["request"]["object"], job);
  Json again = review;
  again["request"]["object"] = review["request"]["object"].patch(first.patch);
  if (job) fuzz::must(is_gated(again["request"]["object"]), "a Job that was rewritten is gated");
  const Answer second = ask(again);
  fuzz::must(second.response["allowed"] == true, "a patched object is allowed");
  fuzz::must(second.patch.empty(), "a second call changes nothing");
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* bytes, std::size_t size) {
  const std::string_view text = fuzz::text_of(bytes, size);
  static const op::Settings kSettings = settings();
  (void)answer_of(op::review_job(text, kSettings));
  (void)answer_of(op::review_cronjob(text, kSettings));
  const Result<Json> review = kube::parse_json(text);
  if (!review.ok()) return 0;
  check(*review, true);
  check(*review, false);
  return 0;
}

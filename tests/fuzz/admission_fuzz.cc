// SPDX-License-Identifier: Apache-2.0
// AdmissionReviews from any client of the port. Oracles: the answer is an AdmissionReview with the
// request's uid; a patch can be applied, changes only the permitted paths, and a second review of
// the result needs no patch; an allowed Job with a lock is gated by its command.
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
  s.image_pull_secrets = {"mirror"};
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

Answer answer_of(const op::Reviewed& reviewed) {
  const Result<Json> body = kube::parse_json(reviewed.body);
  fuzz::must(body.ok(), "the answer is JSON");
  fuzz::must(kube::string_at(*body, {"kind"}) == "AdmissionReview",
             "the answer is an AdmissionReview");
  Answer answer;
  const Json* const response = kube::find(*body, {"response"});
  fuzz::must(response != nullptr, "the answer has a response");
  answer.response = *response;
  const std::string patch = kube::string_at(answer.response, {"patch"});
  if (!patch.empty()) answer.patch = *kube::parse_json(from_base64(patch));
  const bool allowed = answer.response["allowed"] == true;
  fuzz::must(allowed || patch.empty(), "only an allowed review has a patch");
  fuzz::must(allowed == (reviewed.result == "mutated" || reviewed.result == "skipped"),
             "the result agrees with the answer");
  const std::string message = kube::string_at(answer.response, {"status", "message"});
  fuzz::must(fuzz::is_one_line(message), "a message is one line");
  fuzz::must(allowed || !message.empty(), "a refusal has a message");
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

// Only the permitted paths: the copies on a CronJob, spec on a Job.
void only_permitted_is_touched(const Answer& answer, bool job) {
  for (const Json& operation : answer.patch) {
    const std::string path = kube::string_at(operation, {"path"});
    const bool permitted = job ? path.starts_with("/spec/template/") ||
                                     path == "/spec/podReplacementPolicy" ||
                                     path == "/spec/template"
                               : path.starts_with("/spec/jobTemplate/metadata");
    fuzz::must(permitted, "the patch changes permitted paths only");
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
      "the answer has the uid of the request");
  only_permitted_is_touched(first, job);
  if (first.patch.empty()) return;
  Json again = review;
  again["request"]["object"] = review["request"]["object"].patch(first.patch);
  if (job) fuzz::must(is_gated(again["request"]["object"]), "a changed Job is gated");
  const Answer second = ask(again);
  fuzz::must(second.response["allowed"] == true, "a changed object is allowed");
  fuzz::must(second.patch.empty(), "a second review needs no patch");
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

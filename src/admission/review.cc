// SPDX-License-Identifier: Apache-2.0
// The AdmissionReview around a decision. Every response has the request's uid: the API server
// treats a response without it as a failed webhook.
#include "admission/review.h"

#include "admission/admission_result.h"
#include "base/base64.h"
#include "base/text.h"

namespace cronlatch::op {
namespace {

using kube::Json;

Json status_of(const AdmissionResult& result) {
  const bool denied = result.kind == AdmissionResult::Kind::denied;
  return {{"code", denied ? 403 : 500},
          {"reason", denied ? "Forbidden" : "InternalError"},
          {"message", printable(result.message, 8'000)}};
}

// Not built as a Json value: that would copy the patch, and check its base64 for valid UTF-8.
std::string review_of(const AdmissionResult& result, const std::string& uid) {
  const bool allowed = result.kind == AdmissionResult::Kind::allowed;
  std::string out =
      R"({"apiVersion":"admission.k8s.io/v1","kind":"AdmissionReview","response":{"uid":)";
  out += kube::to_text(uid) + R"(,"allowed":)" + (allowed ? "true" : "false");
  if (!allowed) out += R"(,"status":)" + kube::to_text(status_of(result));
  if (allowed && !result.patch.empty()) {
    out += R"(,"patchType":"JSONPatch","patch":")";
    out += encode_base64(kube::to_text(result.patch));
    out += '"';
  }
  if (allowed && !result.warnings.empty()) {
    Json warnings = Json::array();
    for (const Finding& warning : result.warnings)
      warnings.push_back(printable(warning.text(), kMaxWarning));
    out += R"(,"warnings":)" + kube::to_text(warnings);
  }
  return out + "}}";
}

std::string_view result_of(const AdmissionResult& result) {
  switch (result.kind) {
    case AdmissionResult::Kind::allowed:
      return result.patch.empty() ? "skipped" : "mutated";
    case AdmissionResult::Kind::denied:
      return "denied";
    case AdmissionResult::Kind::error:
      return "error";
  }
  return "error";
}

AdmissionResult error_result(std::string message) {
  AdmissionResult result;
  result.kind = AdmissionResult::Kind::error;
  result.message = std::move(message);
  return result;
}

using Admit = AdmissionResult (*)(AdmissionRequest&, const Settings&, const EntrypointSource&);

AdmissionResult decide(Json& review, const Settings& settings, const EntrypointSource& images,
                       Admit admit) {
  const Json* const object = kube::find(review, {"request", "object"});
  const std::string operation = kube::string_at(review, {"request", "operation"});
  if (operation == "DELETE" || operation == "CONNECT") return {};
  if (object == nullptr || !object->is_object())
    return error_result("the AdmissionReview has no request.object");
  Json& request = review["request"];
  AdmissionRequest admission;
  admission.namespace_name = kube::string_at(request, {"namespace"});
  admission.object = std::move(request["object"]);
  Json& metadata = admission.object["metadata"];
  if (metadata.is_null()) metadata = Json::object();
  if (metadata.is_object() && !metadata.contains("namespace"))
    metadata["namespace"] = admission.namespace_name;
  admission.operation = operation;
  const Json* const before = kube::find(request, {"oldObject"});
  if (before != nullptr && before->is_object()) admission.before = before;
  return admit(admission, settings, images);
}

ReviewResponse answer(std::string_view text, const Settings& settings,
                      const EntrypointSource& images, std::string_view resource, Admit admit) {
  Result<Json> review = kube::parse_json(text);
  const std::string uid = review.ok() ? kube::string_at(*review, {"request", "uid"}) : "";
  const AdmissionResult result =
      !review.ok() ? error_result("cannot read the AdmissionReview: " + review.error().message)
                   : decide(*review, settings, images, admit);
  return {review_of(result, uid), resource, result_of(result)};
}

}  // namespace

ReviewResponse review_cronjob(std::string_view admission_review_json, const Settings& settings,
                              const EntrypointSource& images) {
  return answer(admission_review_json, settings, images, "cronjob", admit_cronjob);
}

ReviewResponse review_job(std::string_view admission_review_json, const Settings& settings,
                          const EntrypointSource& images) {
  return answer(admission_review_json, settings, images, "job", admit_job);
}

ReviewResponse review_cronjob(std::string_view admission_review_json, const Settings& settings) {
  return review_cronjob(admission_review_json, settings, ImageIndex(settings));
}

ReviewResponse review_job(std::string_view admission_review_json, const Settings& settings) {
  return review_job(admission_review_json, settings, ImageIndex(settings));
}

}  // namespace cronlatch::op

// SPDX-License-Identifier: Apache-2.0
// Follows the validation of events.k8s.io/v1: eventTime with microseconds, a note of at most 1,024
// bytes, none of the deprecated fields.
#include "kube/events.h"

#include "base/digest.h"
#include "base/text.h"
#include "kube/micro_time.h"

namespace cronlatch::kube {
namespace {

constexpr std::size_t kMaxNote = 1'024;
constexpr std::size_t kMaxInstance = 128;
constexpr std::size_t kDigestDigits = 20;  // 80 bits
constexpr std::size_t kMaxName = 200;      // the limit of 253 minus the dot and the digest

std::string cut(const std::string& text, std::size_t max_bytes) {
  std::size_t end = 0;
  while (end < text.size()) {
    const std::size_t length = utf8_length(std::string_view(text).substr(end));
    if (length == 0 || end + length > max_bytes) break;
    end += length;
  }
  return text.substr(0, end);
}

Json reference(const ObjectRef& ref) {
  return {{"apiVersion", ref.api_version},
          {"kind", ref.kind},
          {"namespace", ref.namespace_name},
          {"name", ref.name},
          {"uid", ref.uid}};
}

Json series(unsigned count, WallTime last) {
  return {{"count", count}, {"lastObservedTime", micro_time(last)}};
}

}  // namespace

std::string event_name(const Event& event) {
  const ObjectRef& about = event.regarding;
  const std::string identity = about.uid + '\n' + std::string(event.reason) + '\n' + event.identity;
  return cut(about.name, kMaxName) + "." + short_digest(identity, kDigestDigits);
}

Request to_request(const Event& event, const std::string& name, unsigned count,
                   std::string_view instance, WallTime now) {
  const ObjectRef& about = event.regarding;
  Json body{{"apiVersion", "events.k8s.io/v1"},
            {"kind", "Event"},
            {"metadata", {{"name", name}, {"namespace", about.namespace_name}}},
            {"eventTime", micro_time(now)},
            {"type", event.type == EventType::normal ? "Normal" : "Warning"},
            {"reason", event.reason},
            {"action", event.action},
            {"note", cut(event.note, kMaxNote)},
            {"regarding", reference(about)},
            {"reportingController", "cronlatch.dev/operator"},
            {"reportingInstance", cut(std::string(instance), kMaxInstance)}};
  if (!event.related.kind.empty()) body["related"] = reference(event.related);
  if (count > 1) body["series"] = series(count, now);
  return {.method = Method::create,
          .path = "/apis/events.k8s.io/v1/namespaces/" + about.namespace_name + "/events",
          .body = std::move(body)};
}

Request to_repetition(const Event& event, const std::string& name, unsigned count, WallTime now) {
  Json body{{"message", cut(event.note, kMaxNote)}, {"series", series(count, now)}};
  if (!event.related.kind.empty()) body["related"] = reference(event.related);
  return {.method = Method::patch,
          .path = "/api/v1/namespaces/" + event.regarding.namespace_name + "/events/" + name,
          .body = std::move(body),
          .patch_type = PatchType::merge};
}

}  // namespace cronlatch::kube

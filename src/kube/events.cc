// SPDX-License-Identifier: Apache-2.0
// The Event as the API validates it: microseconds in eventTime, a note of at most 1,024 bytes cut
// between characters, no deprecated fields.
#include "kube/events.h"

#include "base/digest.h"
#include "base/text.h"
#include "kube/micro_time.h"

namespace cronlatch::kube {
namespace {

constexpr std::size_t kLongestNote = 1'024;
constexpr std::size_t kLongestInstance = 128;
constexpr std::size_t kDigestDigits = 20;  // 80 bits
constexpr std::size_t kLongestName = 200;  // 253 with dot and digest to spare

std::string cut(const std::string& text, std::size_t most) {
  std::size_t end = 0;
  while (end < text.size()) {
    const std::size_t length = utf8_length(std::string_view(text).substr(end));
    if (length == 0 || end + length > most) break;
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

}  // namespace

Request to_request(const Event& event, std::string_view instance, WallTime now) {
  const ObjectRef& about = event.regarding;
  const std::string identity = about.uid + '\n' + std::string(event.reason) + '\n' + event.identity;
  Json body{{"apiVersion", "events.k8s.io/v1"},
            {"kind", "Event"},
            {"metadata",
             {{"name", cut(about.name, kLongestName) + "." + short_digest(identity, kDigestDigits)},
              {"namespace", about.namespace_name}}},
            {"eventTime", micro_time(now)},
            {"type", event.tone == EventType::normal ? "Normal" : "Warning"},
            {"reason", event.reason},
            {"action", event.action},
            {"note", cut(event.note, kLongestNote)},
            {"regarding", reference(about)},
            {"reportingController", "cronlatch.dev/operator"},
            {"reportingInstance", cut(std::string(instance), kLongestInstance)}};
  if (!event.related.kind.empty()) body["related"] = reference(event.related);
  return {.method = Method::create,
          .path = "/apis/events.k8s.io/v1/namespaces/" + about.namespace_name + "/events",
          .body = std::move(body)};
}

}  // namespace cronlatch::kube

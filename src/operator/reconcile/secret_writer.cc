// SPDX-License-Identifier: Apache-2.0
// Server-side apply without force: the API server returns 409 if another client owns the fields.
#include "operator/reconcile/secret_writer.h"

#include "kube/secrets.h"
#include "labels/names.h"

namespace cronlatch::op {
namespace {

using kube::Json;

// An unchanged Secret is written again because it may have been deleted or changed.
constexpr Seconds kRewriteInterval{600};
// Without the UID, also because the namespace may have been created again. 300 namespaces are five
// requests per second.
constexpr Seconds kRewriteIntervalWithoutUid{60};

}  // namespace

SecretWriter::SecretWriter(const Settings& settings, kube::Api& api, const Clock& clock,
                           const Log& log)
    : settings_(settings), api_(api), clock_(clock), log_(log) {}

bool SecretWriter::fail(const std::string& namespace_name, const std::string& source,
                        const std::string& what) {
  if (last_errors_[namespace_name].set(what))
    log_({Level::warn,
          "secret_not_copied",
          "cannot copy Secret " + source + ": " + what,
          {{"namespace", namespace_name}}});
  return false;
}

bool SecretWriter::apply(const std::string& namespace_name, const Content& content) {
  const std::string& name = settings_.store_secret;
  Json body{{"apiVersion", "v1"},
            {"kind", "Secret"},
            {"metadata",
             {{"name", name},
              {"namespace", namespace_name},
              {"annotations",
               {{kCopiedFromAnnotation, settings_.namespace_name + "/" + content.source}}}}},
            {"type", content.type}};
  if (!content.data.is_null()) body["data"] = content.data;
  const auto answer = api_.call({.method = kube::Method::patch,
                                 .path = kube::secret_path(namespace_name, name),
                                 .query = {{"fieldManager", std::string(kFieldManager)}},
                                 .body = std::move(body),
                                 .patch_type = kube::PatchType::apply});
  if (!answer) return fail(namespace_name, content.source, answer.error().message);
  if (!answer->ok()) return fail(namespace_name, content.source, answer->error_text());
  last_errors_.erase(namespace_name);
  return true;
}

bool SecretWriter::write(const Namespace& target, const Content& content,
                         const std::function<bool()>& may_write) {
  const TimePoint now = clock_.now();
  std::erase_if(written_, [&](const auto& entry) {  // also those of deleted namespaces
    return now - entry.second.at >=
           (entry.second.uid.empty() ? kRewriteIntervalWithoutUid : kRewriteInterval);
  });
  const std::string text = content.data.is_null() ? "" : kube::to_text(content.data);
  const auto before = written_.find(target.name);
  const bool is_current = before != written_.end() && before->second.uid == target.uid &&
                          before->second.content == text;
  if (is_current || !may_write()) return true;
  if (!apply(target.name, content)) return false;
  written_.insert_or_assign(target.name, Written{target.uid, text, now});
  return true;
}

}  // namespace cronlatch::op

// SPDX-License-Identifier: Apache-2.0
#include "operator/lookup/pull_logins.h"

#include <algorithm>
#include <optional>

#include "admission/image_needed.h"
#include "kube/access.h"
#include "kube/secrets.h"

namespace cronlatch::op {
namespace {

// The name becomes a part of a path of the API, so it must be a DNS subdomain.
bool is_secret_name(const std::string& name) {
  return !name.empty() && name.size() <= 253 && name.front() != '.' &&
         name.find_first_not_of("abcdefghijklmnopqrstuvwxyz0123456789-.") == std::string::npos;
}

}  // namespace

std::vector<std::string> pull_secrets(const kube::Json& pod_spec) {
  constexpr std::size_t kMaxSecrets = 16;
  std::vector<std::string> names;
  for (const kube::Json& one : kube::items_at(pod_spec, {"imagePullSecrets"}))
    if (std::string name = kube::string_at(one, {"name"});
        is_secret_name(name) && names.size() < kMaxSecrets)
      names.push_back(std::move(name));
  return names;
}

bool PullLogins::may_read_secrets_of(const std::string& namespace_name) const {
  const auto& all = settings_.lookup_pull_secret_namespaces;
  return api_ != nullptr && std::find(all.begin(), all.end(), namespace_name) != all.end();
}

std::vector<registry::Login> PullLogins::find(const registry::LookupRequest& question) const {
  std::vector<registry::Login> all;
  const auto add = [&](const std::string& where, const Result<std::string>& text) {
    auto logins = text ? registry::logins_for(*text, question.image)
                       : Result<std::vector<registry::Login>>(text.error());
    if (logins)
      all.insert(all.end(), logins->begin(), logins->end());
    else
      log_({Level::warn, "logins_unreadable", logins.error().message, {{"from", where}}});
  };
  const Status confirmed = question.pull_secrets.empty() ? Status(Done{}) : confirm(question);
  if (!confirmed)
    log_({Level::warn,
          "logins_not_used",
          confirmed.error().message,
          {{"from", question.namespace_name}, {"cronjob", question.needed_by}}});
  for (const std::string& name : question.pull_secrets)
    if (confirmed)
      add(question.namespace_name + "/" + name, read_secret(question.namespace_name, name));
  if (!settings_.lookup_docker_config.empty())
    add(settings_.lookup_docker_config, kube::read_small_file(settings_.lookup_docker_config));
  return all;
}

Status PullLogins::confirm(const registry::LookupRequest& question) const {
  const auto answer = api_->call({.path = "/apis/batch/v1/namespaces/" + question.namespace_name +
                                          "/cronjobs/" + question.needed_by});
  if (!answer) return answer.error();
  if (!answer->ok()) return Error{Code::config, "the CronJob of this image: " + answer->message()};
  const std::optional<NeededImage> needed = image_needed(answer->body, settings_);
  const auto image = needed ? image::parse_reference(needed->image)
                            : Result<image::Reference>(Error{Code::config, "no image"});
  if (image && *image == question.image && pull_secrets(needed->placement) == question.pull_secrets)
    return Done{};
  return Error{Code::config, "the CronJob has another image or other imagePullSecrets now"};
}

Result<std::string> PullLogins::read_secret(const std::string& namespace_name,
                                            const std::string& name) const {
  const auto answer = api_->call({.path = kube::secret_path(namespace_name, name)});
  if (!answer) return answer.error();
  if (!answer->ok()) return Error{Code::config, answer->message()};
  for (const char* key : {".dockerconfigjson", ".dockercfg"})
    if (std::string text = kube::secret_value(answer->body, key); !text.empty()) return text;
  return Error{Code::config, "the Secret has neither .dockerconfigjson nor .dockercfg"};
}

}  // namespace cronlatch::op

// SPDX-License-Identifier: Apache-2.0
#include "operator/lookup/pull_logins.h"

#include <algorithm>
#include <optional>

#include "admission/image_needed.h"
#include "kube/access.h"
#include "kube/secrets.h"

namespace cronlatch::op {
namespace {

constexpr std::string_view kServiceAccount = "serviceaccount/";  // no name contains a slash

// The name becomes a part of a path of the API, so it must be a DNS subdomain.
bool is_name(const std::string& name) {
  return !name.empty() && name.size() <= 253 && name.front() != '.' &&
         name.find_first_not_of("abcdefghijklmnopqrstuvwxyz0123456789-.") == std::string::npos;
}

// A pod's spec and a ServiceAccount have the same list.
std::vector<std::string> names_in(const kube::Json& object) {
  constexpr std::size_t kMaxSecrets = 16;
  std::vector<std::string> names;
  for (const kube::Json& one : kube::items_at(object, {"imagePullSecrets"}))
    if (std::string name = kube::string_at(one, {"name"});
        is_name(name) && names.size() < kMaxSecrets)
      names.push_back(std::move(name));
  return names;
}

}  // namespace

std::vector<std::string> pull_secrets(const kube::Json& pod_spec) {
  if (!kube::items_at(pod_spec, {"imagePullSecrets"}).empty()) return names_in(pod_spec);
  std::string account = kube::string_at(pod_spec, {"serviceAccountName"});
  if (account.empty()) account = kube::string_at(pod_spec, {"serviceAccount"});  // deprecated
  if (account.empty()) account = "default";
  if (!is_name(account)) return {};
  return {std::string(kServiceAccount) + account};
}

bool PullLogins::may_read_secrets_of(const std::string& namespace_name) const {
  const auto& all = settings_.lookup_pull_secret_namespaces;
  return api_ != nullptr && std::find(all.begin(), all.end(), namespace_name) != all.end();
}

std::vector<registry::RegistryLogin> PullLogins::find(
    const registry::LookupRequest& question) const {
  std::vector<registry::RegistryLogin> all;
  const auto add = [&](const std::string& where, const Result<std::string>& text) {
    auto logins = text ? registry::logins_for(*text, question.image)
                       : Result<std::vector<registry::RegistryLogin>>(text.error());
    if (logins)
      all.insert(all.end(), logins->begin(), logins->end());
    else
      log_({Level::warn, "logins_unreadable", logins.error().message, {{"from", where}}});
  };
  const auto names = secret_names(question);
  if (!names)
    log_({Level::warn,
          "logins_not_used",
          names.error().message,
          {{"from", question.namespace_name}, {"cronjob", question.needed_by}}});
  for (const std::string& name : names ? *names : std::vector<std::string>())
    add(question.namespace_name + "/" + name, read_secret(question.namespace_name, name));
  if (!settings_.lookup_docker_config.empty())
    add(settings_.lookup_docker_config, kube::read_small_file(settings_.lookup_docker_config));
  return all;
}

Result<std::vector<std::string>> PullLogins::secret_names(
    const registry::LookupRequest& question) const {
  if (question.pull_secrets.empty()) return question.pull_secrets;
  if (Status confirmed = confirm(question); !confirmed) return confirmed.error();
  const std::string& first = question.pull_secrets.front();
  if (!first.starts_with(kServiceAccount)) return question.pull_secrets;
  const std::string account = first.substr(kServiceAccount.size());
  const auto answer = api_->call(
      {.path = "/api/v1/namespaces/" + question.namespace_name + "/serviceaccounts/" + account});
  if (!answer) return answer.error();
  if (!answer->ok())
    return Error{Code::config, "the ServiceAccount " + account + ": " + answer->message()};
  return names_in(answer->body);
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
  return Error{Code::config, "the CronJob has another image or other pull secrets now"};
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

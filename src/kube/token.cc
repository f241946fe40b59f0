// SPDX-License-Identifier: Apache-2.0
#include "kube/token.h"

#include "kube/access.h"

namespace cronlatch::kube {
namespace {

constexpr std::chrono::minutes kReadEvery{1};

}  // namespace

TokenSource::TokenSource(std::string file, Secret fixed)
    : file_(std::move(file)), token_(std::move(fixed)) {}

void TokenSource::read(Time now) {
  next_ = now + kReadEvery;
  auto text = read_small_file(file_);
  if (!text) return;
  const auto end = text->find_last_not_of(" \t\r\n");
  if (end == std::string::npos) return;
  token_ = Secret(text->substr(0, end + 1));
}

Secret TokenSource::current(Time now) {
  const std::lock_guard lock(mutex_);
  if (!file_.empty() && now >= next_) read(now);
  return token_;
}

bool TokenSource::renewed_after_refusal(const Secret& used, Time now) {
  const std::lock_guard lock(mutex_);
  if (file_.empty()) return false;
  if (token_ == used) read(now);
  return !(token_ == used);
}

}  // namespace cronlatch::kube

// SPDX-License-Identifier: Apache-2.0
// Derived defaults.
#include "config/default_lock.h"

#include <openssl/sha.h>

#include <array>

namespace cronlatch {
namespace {

constexpr std::size_t kDigestBytesShown = 8;

// The low-level calls are deprecated in OpenSSL 3.0, but the EVP ones fetch algorithms first, which
// costs a millisecond at every start; the digest only names a lock.
#pragma GCC diagnostic push
#pragma GCC diagnostic ignored "-Wdeprecated-declarations"
std::array<unsigned char, SHA256_DIGEST_LENGTH> sha256(const std::string& text) {
  std::array<unsigned char, SHA256_DIGEST_LENGTH> digest{};
  SHA256_CTX context;
  SHA256_Init(&context);
  SHA256_Update(&context, text.data(), text.size());
  SHA256_Final(digest.data(), &context);
  return digest;
}
#pragma GCC diagnostic pop

}  // namespace

std::string default_lock(std::span<const std::string> command) {
  std::string joined;
  for (std::size_t i = 0; i < command.size(); ++i) {
    if (i > 0) joined += '\0';
    joined += command[i];
  }
  const auto digest = sha256(joined);
  std::string name = "_cmd/";
  for (std::size_t i = 0; i < kDigestBytesShown; ++i) {
    name += "0123456789abcdef"[digest[i] >> 4U];
    name += "0123456789abcdef"[digest[i] & 0xFU];
  }
  return name;
}

std::string default_holder(const Host& host, const Files& files) {
  std::string boot = files.read("/proc/sys/kernel/random/boot_id").text;
  if (boot.ends_with('\n')) boot.pop_back();
  return host.name + ":" + std::to_string(host.pid) + (boot.empty() ? "" : ":" + boot);
}

std::string default_store(const Host& host) {
  return host.uid == 0 ? "file:///run/cronlatch"
                       : "file:///tmp/cronlatch-" + std::to_string(host.uid);
}

void fill_in(Options& options, std::span<const std::string> command, const Host& host,
             const Files& files) {
  if (options.lock.empty() && !command.empty()) options.lock = default_lock(command);
  if (options.store.empty()) options.store = default_store(host);
  if (options.holder.empty()) options.holder = default_holder(host, files);
}

}  // namespace cronlatch

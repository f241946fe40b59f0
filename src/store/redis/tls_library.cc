// SPDX-License-Identifier: Apache-2.0
// A provider with a part of the default provider's algorithms. The default provider is loaded for
// its tables and deactivated before the first lookup, which would set up all of them. OpenSSL keeps
// it, and the data of its algorithms, until the library is freed.
#include "store/redis/tls_library.h"

#include <openssl/core_dispatch.h>
#include <openssl/core_names.h>
#include <openssl/crypto.h>
#include <openssl/evp.h>
#include <openssl/params.h>
#include <openssl/provider.h>
#include <openssl/ssl.h>

#include <algorithm>
#include <array>
#include <memory>
#include <span>
#include <string_view>
#include <vector>

namespace cronlatch::redis {
namespace {

using Names = std::span<const std::string_view>;

// The defaults of TLS 1.2 and 1.3, and the algorithms of common certificates and keys. Each by its
// first name in the default provider.
constexpr std::string_view kCiphers[] = {
    "AES-256-GCM", "AES-128-GCM", "ChaCha20-Poly1305", "AES-256-CCM", "AES-128-CCM",
    "AES-256-CBC", "AES-128-CBC", "AES-256-CTR",       "AES-256-ECB", "NULL"};
constexpr std::string_view kDigests[] = {"SHA2-256", "SHA2-384", "SHA2-512", "SHA2-224",
                                         "SHA1",     "MD5",      "MD5-SHA1", "SHAKE-256"};
constexpr std::string_view kMacs[] = {"HMAC"};
constexpr std::string_view kDerivations[] = {"HKDF", "TLS13-KDF", "TLS1-PRF"};
constexpr std::string_view kKeys[] = {"RSA",     "RSA-PSS", "EC",    "X25519",
                                      "ED25519", "X448",    "ED448", "HMAC"};
constexpr std::string_view kExchanges[] = {"ECDH", "X25519", "X448"};
constexpr std::string_view kSignatures[] = {"RSA", "ECDSA", "ED25519", "ED448", "HMAC"};
constexpr std::string_view kGroups[] = {"secp256r1", "P-256", "secp384r1", "P-384",
                                        "secp521r1", "P-521", "x25519",    "x448"};

// Empty: all algorithms. These operations have few, or a client does not use them.
Names wanted(int operation) {
  switch (operation) {
    case OSSL_OP_CIPHER:
      return kCiphers;
    case OSSL_OP_DIGEST:
      return kDigests;
    case OSSL_OP_MAC:
      return kMacs;
    case OSSL_OP_KDF:
      return kDerivations;
    case OSSL_OP_KEYEXCH:
      return kExchanges;
    case OSSL_OP_SIGNATURE:
      return kSignatures;
    case OSSL_OP_KEYMGMT:
    case OSSL_OP_DECODER:
      return kKeys;
    default:
      return {};
  }
}

bool among(Names names, std::string_view name) {
  return std::find(names.begin(), names.end(), name) != names.end();
}

std::string_view first_name(const OSSL_ALGORITHM& algorithm) {
  const std::string_view all = algorithm.algorithm_names;
  return all.substr(0, all.find(':'));
}

// The default provider's functions and tables, which are constants of the linked OpenSSL
// with: read once in a process.
struct Tables {
  explicit Tables(const OSSL_PROVIDER* whole) {
    for (int operation = 0; operation <= OSSL_OP__HIGHEST; ++operation) {
      int no_cache = 0;
      const OSSL_ALGORITHM* all = OSSL_PROVIDER_query_operation(whole, operation, &no_cache);
      if (all != nullptr) keep(operation, all);
    }
    for (const OSSL_DISPATCH* at = OSSL_PROVIDER_get0_dispatch(whole); at->function_id != 0; ++at)
      if (at->function_id == OSSL_FUNC_PROVIDER_GET_CAPABILITIES)
        capabilities = OSSL_FUNC_provider_get_capabilities(at);
  }

  void keep(int operation, const OSSL_ALGORITHM* all) {
    const Names names = wanted(operation);
    std::vector<OSSL_ALGORITHM>& kept = algorithms[static_cast<std::size_t>(operation)];
    for (; all->algorithm_names != nullptr; ++all)
      if (names.empty() || among(names, first_name(*all))) kept.push_back(*all);
    kept.push_back({});  // ends the list
  }

  std::array<std::vector<OSSL_ALGORITHM>, OSSL_OP__HIGHEST + 1> algorithms;
  OSSL_FUNC_provider_get_capabilities_fn* capabilities = nullptr;
};

const Tables& tables(const OSSL_PROVIDER* whole = nullptr) {
  static const Tables read(whole);
  return read;
}

const OSSL_ALGORITHM* query(void*, int operation, int* no_cache) {
  *no_cache = 0;
  if (operation < 0 || operation > OSSL_OP__HIGHEST) return nullptr;
  const auto& kept = tables().algorithms[static_cast<std::size_t>(operation)];
  return kept.empty() ? nullptr : kept.data();
}

struct GroupCallback {
  OSSL_CALLBACK* call;
  void* argument;
};

int forward_listed_group(const OSSL_PARAM group[], void* callback) {
  const OSSL_PARAM* name = OSSL_PARAM_locate_const(group, OSSL_CAPABILITY_TLS_GROUP_NAME);
  const char* text = nullptr;
  if (name != nullptr && OSSL_PARAM_get_utf8_string_ptr(name, &text) != 1)
    text = static_cast<const char*>(name->data);
  if (text != nullptr && !among(kGroups, text)) return 1;
  const auto* to = static_cast<const GroupCallback*>(callback);
  return to->call(group, to->argument);
}

int capabilities(void* context, const char* capability, OSSL_CALLBACK* call, void* argument) {
  GroupCallback callback{call, argument};
  return tables().capabilities(context, capability, forward_listed_group, &callback);
}

// The context of the default provider, which its algorithms need. OpenSSL has no other way to pass
// a pointer to a built-in provider.
thread_local void* default_context = nullptr;

int start(const OSSL_CORE_HANDLE*, const OSSL_DISPATCH*, const OSSL_DISPATCH** functions,
          void** context) {
  static const OSSL_DISPATCH kFunctions[] = {
      {OSSL_FUNC_PROVIDER_QUERY_OPERATION, reinterpret_cast<void (*)()>(query)},
      {OSSL_FUNC_PROVIDER_GET_CAPABILITIES, reinterpret_cast<void (*)()>(capabilities)},
      {0, nullptr}};
  *functions = kFunctions;
  *context = default_context;
  return 1;
}

// Must precede every other call: a configuration file in the container can make OpenSSL load
// modules. Of the lists of all names, only the digests of certificate signatures are added.
void start_openssl() {
  OPENSSL_init_crypto(OPENSSL_INIT_NO_LOAD_CONFIG | OPENSSL_INIT_NO_LOAD_CRYPTO_STRINGS |
                          OPENSSL_INIT_NO_ADD_ALL_CIPHERS | OPENSSL_INIT_NO_ADD_ALL_DIGESTS,
                      nullptr);
  OPENSSL_init_ssl(OPENSSL_INIT_NO_LOAD_CONFIG | OPENSSL_INIT_NO_LOAD_SSL_STRINGS, nullptr);
  for (const EVP_MD* digest : {EVP_sha1(), EVP_sha224(), EVP_sha256(), EVP_sha384(), EVP_sha512()})
    EVP_add_digest(digest);
}

}  // namespace

void TlsLibrary::Deleter::operator()(OSSL_LIB_CTX* context) const { OSSL_LIB_CTX_free(context); }
void TlsLibrary::Deleter::operator()(OSSL_PROVIDER* provider) const {
  OSSL_PROVIDER_unload(provider);
}

TlsLibrary::TlsLibrary() {
  start_openssl();
  context_.reset(OSSL_LIB_CTX_new());
  OSSL_LIB_CTX* const context = context_.get();
  if (context == nullptr) return;
  const std::unique_ptr<OSSL_PROVIDER, Deleter> whole(OSSL_PROVIDER_load(context, "default"));
  if (whole != nullptr) {
    tables(whole.get());
    default_context = OSSL_PROVIDER_get0_provider_ctx(whole.get());
    if (OSSL_PROVIDER_add_builtin(context, "tls-client", start) == 1)
      provider_.reset(OSSL_PROVIDER_load(context, "tls-client"));
  }
  if (provider_ == nullptr) context_.reset();
}

}  // namespace cronlatch::redis

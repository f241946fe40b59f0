// SPDX-License-Identifier: Apache-2.0
// The reduced OpenSSL library must work with common servers: a client with it connects to a server
// with all of OpenSSL, in memory.
#include "store/redis/tls_library.h"

#include <gtest/gtest.h>
#include <openssl/ec.h>
#include <openssl/evp.h>
#include <openssl/rsa.h>
#include <openssl/ssl.h>
#include <openssl/x509v3.h>

#include <memory>
#include <ostream>
#include <string>

namespace cronlatch::redis {
namespace {

template <auto free>
struct Released {
  template <class T>
  void operator()(T* thing) const {
    free(thing);
  }
};
using Context = std::unique_ptr<SSL_CTX, Released<SSL_CTX_free>>;
using Connection = std::unique_ptr<SSL, Released<SSL_free>>;
using Key = std::unique_ptr<EVP_PKEY, Released<EVP_PKEY_free>>;
using Cert = std::unique_ptr<X509, Released<X509_free>>;

struct Case {
  const char* name;
  const char* key;     // EVP_PKEY_Q_keygen's
  const char* detail;  // its curve; "" for none
  int version = TLS1_3_VERSION;
  const char* ciphers = nullptr;  // of TLS 1.2
  const char* suites = nullptr;   // of TLS 1.3
};
std::ostream& operator<<(std::ostream& out, const Case& c) { return out << c.name; }

Key make_key(const Case& c) {
  const std::string kind = c.key;
  if (kind == "EC") return Key(EVP_EC_gen(c.detail));
  if (kind == "RSA") return Key(EVP_RSA_gen(2048));
  if (kind == "RSA-PSS") {
    const std::unique_ptr<EVP_PKEY_CTX, Released<EVP_PKEY_CTX_free>> making(
        EVP_PKEY_CTX_new_from_name(nullptr, c.key, nullptr));
    EVP_PKEY* key = nullptr;
    EVP_PKEY_keygen_init(making.get());
    EVP_PKEY_CTX_set_rsa_keygen_bits(making.get(), 2048);
    EVP_PKEY_generate(making.get(), &key);
    return Key(key);
  }
  return Key(EVP_PKEY_Q_keygen(nullptr, nullptr, c.key));
}

Cert self_signed(EVP_PKEY* key) {
  Cert cert(X509_new());
  X509_set_version(cert.get(), X509_VERSION_3);
  ASN1_INTEGER_set(X509_get_serialNumber(cert.get()), 1);
  X509_gmtime_adj(X509_getm_notBefore(cert.get()), -60);
  X509_gmtime_adj(X509_getm_notAfter(cert.get()), 3600);
  X509_NAME* name = X509_get_subject_name(cert.get());
  X509_NAME_add_entry_by_txt(name, "CN", MBSTRING_ASC,
                             reinterpret_cast<const unsigned char*>("peer"), -1, -1, 0);
  X509_set_issuer_name(cert.get(), name);
  X509_set_pubkey(cert.get(), key);
  const bool names_its_digest = EVP_PKEY_is_a(key, "ED25519") || EVP_PKEY_is_a(key, "ED448");
  EXPECT_GT(X509_sign(cert.get(), key, names_its_digest ? nullptr : EVP_sha256()), 0);
  return cert;
}

// Each side sends `cert` and accepts only `cert`.
Context make_side(OSSL_LIB_CTX* library, const SSL_METHOD* method, X509* cert, EVP_PKEY* key) {
  Context context(SSL_CTX_new_ex(library, nullptr, method));
  if (!context) return context;
  SSL_CTX_use_certificate(context.get(), cert);
  SSL_CTX_use_PrivateKey(context.get(), key);
  X509_STORE_add_cert(SSL_CTX_get_cert_store(context.get()), cert);
  SSL_CTX_set_verify(context.get(), SSL_VERIFY_PEER | SSL_VERIFY_FAIL_IF_NO_PEER_CERT, nullptr);
  return context;
}

bool shake_hands(SSL* client, SSL* server) {
  BIO *here = nullptr, *there = nullptr;
  BIO_new_bio_pair(&here, 0, &there, 0);
  SSL_set_bio(client, here, here);
  SSL_set_bio(server, there, there);
  SSL_set_connect_state(client);
  SSL_set_accept_state(server);
  for (int turn = 0; turn < 20; ++turn) {
    const int client_result = SSL_do_handshake(client), server_result = SSL_do_handshake(server);
    if (client_result == 1 && server_result == 1) return true;
  }
  return false;
}

class NarrowedLibrary : public ::testing::TestWithParam<Case> {};

TEST_P(NarrowedLibrary, ConnectsToAServerWithAllOfOpenSsl) {
  const Case& c = GetParam();
  const TlsLibrary library;
  ASSERT_NE(library.get(), nullptr);
  const Key key = make_key(c);
  ASSERT_NE(key, nullptr);
  const Cert cert = self_signed(key.get());
  const Context server_side = make_side(nullptr, TLS_server_method(), cert.get(), key.get());
  const Context client_side = make_side(library.get(), TLS_client_method(), cert.get(), key.get());
  ASSERT_NE(server_side, nullptr);
  ASSERT_NE(client_side, nullptr);
  SSL_CTX_set_max_proto_version(server_side.get(), c.version);
  if (c.ciphers != nullptr) {
    ASSERT_EQ(1, SSL_CTX_set_cipher_list(server_side.get(), c.ciphers));
  }
  if (c.suites != nullptr) {
    ASSERT_EQ(1, SSL_CTX_set_ciphersuites(server_side.get(), c.suites));
  }

  const Connection server(SSL_new(server_side.get())), client(SSL_new(client_side.get()));
  ASSERT_TRUE(shake_hands(client.get(), server.get()));
  EXPECT_EQ(SSL_version(client.get()), c.version);
  EXPECT_EQ(SSL_get_verify_result(client.get()), X509_V_OK);
  ASSERT_EQ(SSL_write(client.get(), "ping", 4), 4);
  char received[8] = {};
  EXPECT_EQ(SSL_read(server.get(), received, sizeof received), 4);
  EXPECT_STREQ(received, "ping");
}

INSTANTIATE_TEST_SUITE_P(
    ServersOfToday, NarrowedLibrary,
    ::testing::Values(
        Case{"P256", "EC", "P-256"}, Case{"P384", "EC", "P-384"}, Case{"P521", "EC", "P-521"},
        Case{"Rsa", "RSA", ""}, Case{"RsaPss", "RSA-PSS", ""}, Case{"Ed25519", "ED25519", ""},
        Case{"Ed448", "ED448", ""},
        Case{"Aes128", "EC", "P-256", TLS1_3_VERSION, nullptr, "TLS_AES_128_GCM_SHA256"},
        Case{"ChaCha20", "EC", "P-256", TLS1_3_VERSION, nullptr, "TLS_CHACHA20_POLY1305_SHA256"},
        Case{"Tls12P256", "EC", "P-256", TLS1_2_VERSION},
        Case{"Tls12Ed25519", "ED25519", "", TLS1_2_VERSION},
        Case{"Tls12Rsa", "RSA", "", TLS1_2_VERSION},
        Case{"Tls12RsaChaCha20", "RSA", "", TLS1_2_VERSION, "ECDHE-RSA-CHACHA20-POLY1305"},
        Case{"Tls12RsaCbc", "RSA", "", TLS1_2_VERSION, "ECDHE-RSA-AES256-SHA384"},
        Case{"Tls12RsaCbcSha1", "RSA", "", TLS1_2_VERSION, "ECDHE-RSA-AES128-SHA"},
        Case{"Tls12RsaWithoutForwardSecrecy", "RSA", "", TLS1_2_VERSION, "AES128-GCM-SHA256"}),
    [](const auto& param) { return std::string(param.param.name); });

TEST(TlsLibrary, OmitsAlgorithmsThatAClientDoesNotUse) {
  const TlsLibrary library;
  ASSERT_NE(library.get(), nullptr);
  const auto has = [&](const char* cipher) {
    EVP_CIPHER* found = EVP_CIPHER_fetch(library.get(), cipher, nullptr);
    EVP_CIPHER_free(found);
    return found != nullptr;
  };
  EXPECT_TRUE(has("AES-256-GCM"));
  EXPECT_FALSE(has("ARIA-256-GCM"));
  EXPECT_FALSE(has("DES-EDE3-CBC"));
}

TEST(TlsLibrary, CanBeOpenedRepeatedly) {
  const TlsLibrary first;
  { const TlsLibrary second; }
  EVP_MD* digest = EVP_MD_fetch(first.get(), "SHA2-256", nullptr);
  EXPECT_NE(digest, nullptr);
  EVP_MD_free(digest);
}

}  // namespace
}  // namespace cronlatch::redis

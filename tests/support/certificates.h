// SPDX-License-Identifier: Apache-2.0
// Certificates: a CA of its own and the certificates, good and bad, that TLS tests need, as PEM
// files in a directory that goes away with the object. Made in memory by OpenSSL; nothing here is
// secret.
#pragma once

#include <string>

namespace cronlatch::testing {

struct CertFiles {
  std::string cert;  // paths of PEM files
  std::string key;
};

class Certificates {
 public:
  Certificates();
  ~Certificates();
  Certificates(const Certificates&) = delete;
  Certificates& operator=(const Certificates&) = delete;

  const std::string& dir() const { return dir_; }
  const std::string& ca() const { return ca_; }              // PEM of the CA
  const std::string& other_ca() const { return other_ca_; }  // a CA that signed only `unknown_ca`
  // A bundle of 60 CAs, ours among them, as systems have them.
  const std::string& bundle() const { return bundle_; }

  // Names: localhost, redis.test, registry.test, 127.0.0.1, ::1. P-256 unless said otherwise;
  // signed by ca().
  const CertFiles& good() const { return good_; }
  const CertFiles& rsa() const { return rsa_; }                  // RSA-2048
  const CertFiles& wrong_name() const { return wrong_name_; }    // elsewhere.example only
  const CertFiles& expired() const { return expired_; }          // ended a day ago
  const CertFiles& self_signed() const { return self_signed_; }  // right names, signed by itself
  const CertFiles& unknown_ca() const { return unknown_ca_; }  // right names, signed by other_ca()
  const CertFiles& client() const { return client_; }          // for the client side

 private:
  std::string dir_, ca_, other_ca_, bundle_;
  CertFiles good_, rsa_, wrong_name_, expired_, self_signed_, unknown_ca_, client_;
};

}  // namespace cronlatch::testing

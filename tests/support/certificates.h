// SPDX-License-Identifier: Apache-2.0
// Certificates: a CA, and the valid and invalid certificates that TLS tests need. They are PEM
// files in a directory that is deleted with the object. OpenSSL creates them in memory.
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
  // A bundle of 60 CAs that contains ca(), like the bundle of an operating system.
  const std::string& bundle() const { return bundle_; }

  // Names: localhost, redis.test, registry.test, 127.0.0.1, ::1. P-256 unless another key type is
  // named; signed by ca().
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

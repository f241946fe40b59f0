// SPDX-License-Identifier: Apache-2.0
// The CA certificates of one PEM file. OpenSSL gets only those that a chain needs: parsing the
// whole bundle of a system costs twenty times as much as the rest of a handshake.
#pragma once

#include <openssl/x509_vfy.h>

#include <memory>
#include <string>
#include <vector>

#include "base/result.h"

namespace cronlatch::redis {

class CaLookup {
 public:
  // Reads the file; Code::config when it cannot be read or contains no certificate.
  static Result<std::unique_ptr<CaLookup>> from_file(const std::string& path);
  // The system's bundle, from the paths of common distributions; Code::config when there is none.
  static Result<std::unique_ptr<CaLookup>> from_system();
  // The files that are read: `ca`, or for "" the possible paths of the system's bundle.
  static std::vector<std::string> paths(const std::string& ca);
  ~CaLookup();
  CaLookup(const CaLookup&) = delete;
  CaLookup& operator=(const CaLookup&) = delete;

  // Makes `store` use this lookup; certificates are created with `library`. The library must
  // outlive this object, and this object must outlive the store.
  void attach(X509_STORE* store, OSSL_LIB_CTX* library);

 private:
  explicit CaLookup(std::string pem);
  static int by_subject(X509_LOOKUP* lookup, X509_LOOKUP_TYPE type, const X509_NAME* name,
                        X509_OBJECT* found);
  X509* add_matching(X509_STORE* store, const X509_NAME* name);

  std::string pem_;
  OSSL_LIB_CTX* library_ = nullptr;
  std::unique_ptr<X509_LOOKUP_METHOD, void (*)(X509_LOOKUP_METHOD*)> method_;
};

}  // namespace cronlatch::redis

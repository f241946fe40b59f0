// SPDX-License-Identifier: Apache-2.0
// TrustedCas: the CAs that a client of registries trusts: those of the system, and of one file.
#pragma once

#include <memory>
#include <string>

#include "base/result.h"

struct ssl_ctx_st;

namespace cronlatch::registry {

class TrustedCas {
 public:
  // `ca_file` is PEM; "": none.
  static Result<TrustedCas> load(const std::string& ca_file);
  ssl_ctx_st* get() const { return context_.get(); }

 private:
  std::shared_ptr<ssl_ctx_st> context_;
};

}  // namespace cronlatch::registry

// SPDX-License-Identifier: Apache-2.0
// Credentials: a new connection uses the present content of the files, so a store never refuses a
// run whose files are valid.
#include "model/rules/rule.h"

namespace cronlatch::model {
namespace {

class CredentialsRule : public Rule {
 public:
  void logged_in(const RunFacts& run, const Login& login) override {
    if (!login.accepted && login.file_was_valid)
      report(run, "credentials: a login was refused while the file was valid");
  }
};

}  // namespace

std::unique_ptr<Rule> credentials_rule() { return std::make_unique<CredentialsRule>(); }

}  // namespace cronlatch::model

// SPDX-License-Identifier: Apache-2.0
// Kubectl: asks the cluster by running kubectl, so that every kind of login and every kubeconfig
// works. Calls of one batch run at the same time. Standard input is for what a call is given;
// kubectl's own words (logins, warnings, errors) go to the terminal unless the caller wants them.
#pragma once

#include <string>
#include <vector>

#include "base/result.h"
#include "base/time.h"

namespace cronlatch::plugin {

struct KubectlCall {
  std::vector<std::string> words;  // behind `kubectl` and the flags that name the cluster
  enum class Complaints { shown, kept } complaints = Complaints::shown;
  std::string input{};  // for standard input; empty: it is the terminal's, for logins that ask
};

struct KubectlAnswer {
  int exit_code = 0;
  std::string out;
  std::string complaints;  // standard error, where it was kept
  bool ok() const { return exit_code == 0; }
};

class Kubectl {
 public:
  virtual ~Kubectl() = default;
  // One answer for each call, in order. An error when kubectl cannot be run, prints more than is
  // sane, or has not ended in time; what still runs then is killed.
  virtual Result<std::vector<KubectlAnswer>> ask(const std::vector<KubectlCall>& calls) = 0;
};

// A call whose complaints are for us, and one call on its own.
KubectlCall quietly(std::vector<std::string> words, std::string input = {});
Result<KubectlAnswer> ask_one(Kubectl& kubectl, KubectlCall call);

struct KubectlSpec {
  std::string program = "kubectl";  // looked up in PATH
  std::vector<std::string> flags;   // --context ..., in front of every call
  Millis deadline{120'000};         // of one batch: a login may take somebody's minute
  std::size_t most = 256U << 20;    // bytes of one answer
};

class RealKubectl final : public Kubectl {
 public:
  RealKubectl(KubectlSpec spec, const Clock& clock) : spec_(std::move(spec)), clock_(clock) {}
  Result<std::vector<KubectlAnswer>> ask(const std::vector<KubectlCall>& calls) override;

 private:
  KubectlSpec spec_;
  const Clock& clock_;
};

}  // namespace cronlatch::plugin

// SPDX-License-Identifier: Apache-2.0
// Kubectl: accesses the cluster by running kubectl, so that every login method and every kubeconfig
// works. The calls of one batch run at the same time. kubectl's standard error (logins, warnings,
// errors) is the terminal, unless the call captures it.
#pragma once

#include <string>
#include <vector>

#include "base/result.h"
#include "base/time.h"

namespace cronlatch::plugin {

struct KubectlCall {
  std::vector<std::string> args;  // after `kubectl` and its global flags
  enum class ErrorOutput { inherited, captured } error_output = ErrorOutput::inherited;
  std::string input{};  // for standard input; empty: the terminal's, for a login that prompts
};

struct KubectlResult {
  int exit_code = 0;
  std::string out;
  std::string error_output;  // standard error, if it was captured
  bool ok() const { return exit_code == 0; }
};

class Kubectl {
 public:
  virtual ~Kubectl() = default;
  // One result for each call, in order. An error if kubectl cannot be run, prints too much, or does
  // not end in time; calls that still run then are killed.
  virtual Result<std::vector<KubectlResult>> run(const std::vector<KubectlCall>& calls) = 0;
};

// kubectl's error message, printable: its first line, without log lines of -v before it.
std::string error_line(const KubectlResult& result);

// A call whose standard error is captured.
KubectlCall captured(std::vector<std::string> args, std::string input = {});
// A batch of one call.
Result<KubectlResult> run_one(Kubectl& kubectl, KubectlCall call);

// Bytes of the output of one call.
inline constexpr std::size_t kMaxKubectlOutput = std::size_t{256} << 20;

struct KubectlSpec {
  std::string program = "kubectl";  // searched in PATH
  std::vector<std::string> flags;   // --context=..., before the arguments of every call
  Millis deadline{120'000};         // of one batch; a user may need a minute to log in
  std::size_t max_output = kMaxKubectlOutput;
};

class RealKubectl final : public Kubectl {
 public:
  RealKubectl(KubectlSpec spec, const Clock& clock) : spec_(std::move(spec)), clock_(clock) {}
  Result<std::vector<KubectlResult>> run(const std::vector<KubectlCall>& calls) override;

 private:
  KubectlSpec spec_;
  const Clock& clock_;
};

}  // namespace cronlatch::plugin

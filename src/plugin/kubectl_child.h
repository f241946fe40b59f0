// SPDX-License-Identifier: Apache-2.0
// A running kubectl: its process and the plugin's ends of its pipes. The destructor kills and reaps
// the process.
#pragma once

#include <sys/types.h>

#include <string_view>
#include <utility>

#include "base/fd.h"
#include "plugin/kubectl.h"

namespace cronlatch::plugin {

class KubectlChild {
 public:
  KubectlChild() = default;
  KubectlChild(KubectlChild&& other) noexcept
      : pid(std::exchange(other.pid, 0)),
        in(std::move(other.in)),
        out(std::move(other.out)),
        error_output(std::move(other.error_output)),
        unwritten_input(other.unwritten_input),
        result(std::move(other.result)) {}
  KubectlChild& operator=(KubectlChild&&) = delete;
  ~KubectlChild();  // kills and reaps the process if it still runs
  void reap();      // waits for its end and stores the exit code
  bool has_open_output() const { return out || error_output; }

  pid_t pid = 0;
  Fd in, out, error_output;
  std::string_view unwritten_input;
  KubectlResult result;
};

// The environment is inherited. The call must outlive the child, which reads the call's input.
Result<KubectlChild> start_kubectl(const KubectlSpec& spec, const KubectlCall& call);

}  // namespace cronlatch::plugin

// SPDX-License-Identifier: Apache-2.0
// One poll loop over the pipes of all calls. The program ignores SIGPIPE: a call need not read its
// input.
#include "plugin/kubectl.h"

#include <poll.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <utility>

#include "base/text.h"
#include "plugin/kubectl_child.h"

namespace cronlatch::plugin {
namespace {

constexpr std::size_t kReadSize = 65'536;
constexpr std::size_t kMaxErrorOutput = 65'536;

void write_some(KubectlChild& child) {
  const ssize_t written =
      write(child.in.get(), child.unwritten_input.data(), child.unwritten_input.size());
  if (written < 0 && (errno == EAGAIN || errno == EINTR)) return;
  if (written > 0) child.unwritten_input.remove_prefix(static_cast<std::size_t>(written));
  if (written <= 0 || child.unwritten_input.empty()) child.in.reset();
}

void read_some(Fd& end, std::string& text) {
  std::array<char, kReadSize> buffer;
  const ssize_t got = read(end.get(), buffer.data(), buffer.size());
  if (got > 0)
    text.append(buffer.data(), static_cast<std::size_t>(got));
  else if (got == 0 || errno != EINTR)
    end.reset();
}

// Waits until a pipe is ready, or until the timeout, and moves the available bytes.
void poll_once(std::vector<KubectlChild>& children, Millis timeout) {
  std::vector<pollfd> fds;
  const auto add = [&fds](const Fd& end, short events) {
    if (end) fds.push_back({end.get(), events, 0});
  };
  for (const KubectlChild& child : children) {
    add(child.in, POLLOUT);
    add(child.out, POLLIN);
    add(child.error_output, POLLIN);
  }
  if (poll(fds.data(), fds.size(), static_cast<int>(timeout.count())) <= 0) return;
  const auto ready = [&fds](const Fd& end) {
    return end && std::any_of(fds.begin(), fds.end(),
                              [&](const pollfd& f) { return f.fd == end.get() && f.revents != 0; });
  };
  for (KubectlChild& child : children) {
    if (ready(child.in)) write_some(child);
    if (ready(child.out)) read_some(child.out, child.result.out);
    if (ready(child.error_output)) {
      read_some(child.error_output, child.result.error_output);
      // Further output is read and dropped: a full pipe would block kubectl.
      if (child.result.error_output.size() > kMaxErrorOutput)
        child.result.error_output.resize(kMaxErrorOutput);
    }
  }
}

}  // namespace

std::string error_line(const KubectlResult& result) {
  constexpr std::size_t kMaxLine = 500;
  std::string_view message(result.error_output);
  for (std::string_view rest = message; !rest.empty();) {
    const std::string_view line = rest.substr(0, rest.find('\n'));
    rest.remove_prefix(std::min(line.size() + 1, rest.size()));
    if (!line.starts_with("Error") && !line.starts_with("error:")) continue;
    message = line;
    break;
  }
  return printable(message.substr(0, message.find('\n')), kMaxLine);
}

KubectlCall captured(std::vector<std::string> args, std::string input) {
  return {std::move(args), KubectlCall::ErrorOutput::captured, std::move(input)};
}

Result<KubectlResult> run_one(Kubectl& kubectl, KubectlCall call) {
  auto answers = kubectl.run({std::move(call)});
  if (!answers) return answers.error();
  return std::move(answers->front());
}

Result<std::vector<KubectlResult>> RealKubectl::run(const std::vector<KubectlCall>& calls) {
  const TimePoint give_up = clock_.now() + spec_.deadline;
  std::vector<KubectlChild> children;
  for (const KubectlCall& call : calls) {
    Result<KubectlChild> child = start_kubectl(spec_, call);
    if (!child) return child.error();
    children.push_back(std::move(child).value());
  }
  const auto has_open_output = [](const KubectlChild& child) { return child.has_open_output(); };
  while (std::any_of(children.begin(), children.end(), has_open_output)) {
    const auto left = std::chrono::duration_cast<Millis>(give_up - clock_.now());
    if (left.count() <= 0)
      return Error{Code::unreachable,
                   spec_.program + " did not end within " +
                       std::to_string(spec_.deadline.count() / 1'000) + " s",
                   "check the connection: kubectl get namespaces"};
    poll_once(children, left);
    for (const KubectlChild& child : children)
      if (child.result.out.size() > spec_.max_output)
        return Error{
            Code::config,
            spec_.program + " printed more than " + std::to_string(spec_.max_output >> 20) + " MiB",
            "read one namespace: -n NAMESPACE"};
  }
  std::vector<KubectlResult> answers;
  for (KubectlChild& child : children) {
    child.reap();
    answers.push_back(std::move(child.result));
  }
  return answers;
}

}  // namespace cronlatch::plugin

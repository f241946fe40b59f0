// SPDX-License-Identifier: Apache-2.0
// One poll loop over the pipes of all calls. SIGPIPE is ignored by the program already: a call that
// does not read its input is its own business.
#include "plugin/kubectl.h"

#include <poll.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <utility>

#include "plugin/kubectl_child.h"

namespace cronlatch::plugin {
namespace {

constexpr std::size_t kBlock = 65'536;
constexpr std::size_t kMostComplaints = 65'536;

void write_some(Running& running) {
  const ssize_t written =
      write(running.in.get(), running.left_to_write.data(), running.left_to_write.size());
  if (written < 0 && (errno == EAGAIN || errno == EINTR)) return;
  if (written > 0) running.left_to_write.remove_prefix(static_cast<std::size_t>(written));
  if (written <= 0 || running.left_to_write.empty()) running.in.shut();
}

void read_some(End& end, std::string& text) {
  std::array<char, kBlock> block;
  const ssize_t got = read(end.get(), block.data(), block.size());
  if (got > 0)
    text.append(block.data(), static_cast<std::size_t>(got));
  else if (got == 0 || errno != EINTR)
    end.shut();
}

// Waits for any of them and moves the bytes that are there.
void turn(std::vector<Running>& all, Millis patience) {
  std::vector<pollfd> fds;
  const auto add = [&fds](const End& end, short events) {
    if (end.open()) fds.push_back({end.get(), events, 0});
  };
  for (const Running& running : all) {
    add(running.in, POLLOUT);
    add(running.out, POLLIN);
    add(running.complaints, POLLIN);
  }
  if (poll(fds.data(), fds.size(), static_cast<int>(patience.count())) <= 0) return;
  const auto ready = [&fds](const End& end) {
    return end.open() && std::any_of(fds.begin(), fds.end(), [&](const pollfd& f) {
             return f.fd == end.get() && f.revents != 0;
           });
  };
  for (Running& running : all) {
    if (ready(running.in)) write_some(running);
    if (ready(running.out)) read_some(running.out, running.answer.out);
    if (ready(running.complaints)) {
      read_some(running.complaints, running.answer.complaints);
      // The rest of a flood is read and dropped: a full pipe would stop it half way.
      if (running.answer.complaints.size() > kMostComplaints)
        running.answer.complaints.resize(kMostComplaints);
    }
  }
}

}  // namespace

KubectlCall quietly(std::vector<std::string> words, std::string input) {
  return {std::move(words), KubectlCall::Complaints::kept, std::move(input)};
}

Result<KubectlAnswer> ask_one(Kubectl& kubectl, KubectlCall call) {
  auto answers = kubectl.ask({std::move(call)});
  if (!answers) return answers.error();
  return std::move(answers->front());
}

Result<std::vector<KubectlAnswer>> RealKubectl::ask(const std::vector<KubectlCall>& calls) {
  const TimePoint give_up = clock_.now() + spec_.deadline;
  std::vector<Running> all;
  for (const KubectlCall& call : calls) {
    Result<Running> running = start_kubectl(spec_, call);
    if (!running) return running.error();
    all.push_back(std::move(running).value());
  }
  const auto talks = [](const Running& running) { return running.talks(); };
  while (std::any_of(all.begin(), all.end(), talks)) {
    const auto left = std::chrono::duration_cast<Millis>(give_up - clock_.now());
    if (left.count() <= 0)
      return Error{Code::unreachable,
                   spec_.program + " has not answered within " +
                       std::to_string(spec_.deadline.count() / 1'000) + " s",
                   "does `kubectl get namespaces` answer?"};
    turn(all, left);
    for (const Running& running : all)
      if (running.answer.out.size() > spec_.most)
        return Error{
            Code::config,
            spec_.program + " prints more than " + std::to_string(spec_.most >> 20) + " MiB",
            "look at one namespace: -n NAMESPACE"};
  }
  std::vector<KubectlAnswer> answers;
  for (Running& running : all) {
    running.reap();
    answers.push_back(std::move(running.answer));
  }
  return answers;
}

}  // namespace cronlatch::plugin

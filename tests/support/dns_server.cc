// SPDX-License-Identifier: Apache-2.0
// The part of RFC 1035 that the tests need: one question, A records or none, NXDOMAIN for unknown
// names.
#include "support/dns_server.h"

#include <arpa/inet.h>
#include <poll.h>
#include <sys/socket.h>
#include <unistd.h>

#include <cstdint>
#include <cstdlib>

namespace cronlatch::testing {
namespace {

constexpr std::size_t kHeader = 12;
constexpr unsigned char kTypeA = 1;
constexpr char kNoSuchName = 3;

// The name at the start of the question; `end` is set to the position after it.
std::string name_at(const std::string& query, std::size_t& end) {
  std::string name;
  end = kHeader;
  while (end < query.size() && query[end] != 0) {
    const auto size = static_cast<unsigned char>(query[end]);
    if (!name.empty()) name += '.';
    name += query.substr(end + 1, size);
    end += 1 + size;
  }
  ++end;
  return name;
}

}  // namespace

DnsServer::DnsServer(Records records) : DnsServer(Mood::talking, std::move(records)) {}

DnsServer::DnsServer(Mood mood, Records records) : mood_(mood), records_(std::move(records)) {
  socket_ = socket(AF_INET, SOCK_DGRAM | SOCK_CLOEXEC, 0);
  sockaddr_in address{};
  address.sin_family = AF_INET;
  address.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
  socklen_t size = sizeof address;
  if (bind(socket_, reinterpret_cast<sockaddr*>(&address), size) != 0 ||
      getsockname(socket_, reinterpret_cast<sockaddr*>(&address), &size) != 0 || pipe(stop_) != 0)
    std::abort();
  port_ = ntohs(address.sin_port);
  thread_ = std::thread([this] { serve(); });
}

DnsServer::~DnsServer() {
  close(stop_[1]);
  thread_.join();
  close(stop_[0]);
  close(socket_);
}

std::vector<std::string> DnsServer::questions() const {
  const std::lock_guard lock(mutex_);
  return questions_;
}

void DnsServer::set(Records records) {
  const std::lock_guard lock(mutex_);
  records_ = std::move(records);
}

void DnsServer::serve() {
  while (true) {
    pollfd fds[] = {{stop_[0], POLLIN, 0}, {socket_, POLLIN, 0}};
    poll(fds, 2, -1);
    if (fds[0].revents != 0) return;
    char block[1'500];
    sockaddr_in from{};
    socklen_t size = sizeof from;
    const ssize_t got =
        recvfrom(socket_, block, sizeof block, 0, reinterpret_cast<sockaddr*>(&from), &size);
    if (got < static_cast<ssize_t>(kHeader)) continue;
    const std::string answer = answer_to({block, static_cast<std::size_t>(got)});
    if (mood_ == Mood::talking)
      sendto(socket_, answer.data(), answer.size(), 0, reinterpret_cast<sockaddr*>(&from), size);
  }
}

std::string DnsServer::answer_to(const std::string& query) {
  std::size_t end = 0;
  const std::string name = name_at(query, end);
  if (query.size() < end + 4) return {};
  const bool wants_a = query[end + 1] == kTypeA;
  const std::lock_guard lock(mutex_);
  if (wants_a) questions_.push_back(name);
  const auto found = records_.find(name);
  std::string answer = query.substr(0, end + 4);
  answer[2] = static_cast<char>(0x85);  // a response, authoritative, recursion desired
  answer[3] = static_cast<char>(0x80 | (found == records_.end() ? kNoSuchName : 0));
  answer[10] = answer[11] = 0;  // the query's additional records (EDNS) are left out
  std::uint8_t count = 0;
  if (wants_a && found != records_.end()) {
    for (const std::string& ip : found->second) {
      in_addr address{};
      inet_pton(AF_INET, ip.c_str(), &address);
      answer +=
          std::string("\xc0\x0c\0\x01\0\x01\0\0\0\x05\0\x04", 12);  // the name above, A, IN, 5 s
      answer.append(reinterpret_cast<const char*>(&address), sizeof address);
      ++count;
    }
  }
  answer[7] = static_cast<char>(count);
  return answer;
}

}  // namespace cronlatch::testing

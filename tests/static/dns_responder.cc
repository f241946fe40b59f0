// SPDX-License-Identifier: Apache-2.0
// A DNS server over UDP for the test of the empty root. It returns an A record for one name and
// NXDOMAIN for every other name. usage: dns_responder ADDRESS NAME IPV4   (port 53; with the NAME
// "-" it does not answer)
#include <arpa/inet.h>
#include <netinet/in.h>
#include <sys/socket.h>
#include <unistd.h>

#include <cstdint>
#include <cstdio>
#include <string>

namespace {

constexpr std::size_t kHeader = 12;
constexpr std::uint8_t kNoSuchName = 3;
constexpr int kTypeA = 1;

// The name of the first question in lower case, and the end of the question; empty when the packet
// is not a query.
std::string question_name(const std::string& packet, std::size_t& end) {
  std::string name;
  std::size_t at = kHeader;
  while (at < packet.size() && packet[at] != 0) {
    const auto length = static_cast<std::uint8_t>(packet[at]);
    if (length > 63 || at + length + 1 >= packet.size()) return {};
    if (!name.empty()) name += '.';
    for (std::size_t i = 1; i <= length; ++i)
      name += static_cast<char>(packet[at + i] |
                                (packet[at + i] >= 'A' && packet[at + i] <= 'Z' ? 32 : 0));
    at += length + 1U;
  }
  end = at + 5;
  return end <= packet.size() ? name : std::string{};
}

std::string answer_to(const std::string& query, const std::string& known, const in_addr& address) {
  std::size_t end = 0;
  if (query.size() < kHeader) return {};
  const std::string name = question_name(query, end);
  if (name.empty()) return {};
  const bool is_known = name == known;
  const int type =
      static_cast<std::uint8_t>(query[end - 4]) * 256 + static_cast<std::uint8_t>(query[end - 3]);
  const bool found = is_known && type == kTypeA;
  std::string reply = query.substr(0, 2);
  reply += static_cast<char>(0x85);                                  // a response, authoritative
  reply += static_cast<char>(0x80 | (is_known ? 0 : kNoSuchName));   // recursion available
  reply += {0, 1, 0, static_cast<char>(found ? 1 : 0), 0, 0, 0, 0};  // one question, the answers
  reply += query.substr(kHeader, end - kHeader);
  if (found) {
    const std::string record{'\xc0', 12, 0, 1, 0, 1,
                             0,      0,  0, 5, 0, 4};  // that name, A, IN, 5 seconds, 4 bytes
    reply += record;
    reply.append(reinterpret_cast<const char*>(&address.s_addr), 4);
  }
  std::printf("%s %d -> %s\n", name.c_str(), type,
              found      ? "address"
              : is_known ? "nothing"
                         : "no such name");
  std::fflush(stdout);
  return reply;
}

}  // namespace

int main(int argc, char** argv) {
  if (argc != 4) return 64;
  sockaddr_in here{};
  here.sin_family = AF_INET;
  here.sin_port = htons(53);
  in_addr address{};
  const int fd = socket(AF_INET, SOCK_DGRAM, 0);
  if (inet_pton(AF_INET, argv[1], &here.sin_addr) != 1 ||
      inet_pton(AF_INET, argv[3], &address) != 1 ||
      bind(fd, reinterpret_cast<sockaddr*>(&here), sizeof here) != 0) {
    std::perror("dns_responder");
    return 1;
  }
  std::puts("ready");
  std::fflush(stdout);
  while (true) {
    char buffer[1500];
    sockaddr_in from{};
    socklen_t size = sizeof from;
    const ssize_t got =
        recvfrom(fd, buffer, sizeof buffer, 0, reinterpret_cast<sockaddr*>(&from), &size);
    if (got <= 0 || std::string(argv[2]) == "-") continue;
    const std::string reply = answer_to({buffer, static_cast<std::size_t>(got)}, argv[2], address);
    if (!reply.empty())
      sendto(fd, reply.data(), reply.size(), 0, reinterpret_cast<sockaddr*>(&from), size);
  }
}

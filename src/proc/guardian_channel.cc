// SPDX-License-Identifier: Apache-2.0
// SOCK_SEQPACKET keeps the limits of messages and reports the end of the peer.
#include "proc/guardian_channel.h"

#include <sys/socket.h>

#include <array>
#include <cerrno>

namespace cronlatch {

std::optional<GuardianChannelEnds> open_guardian_channel() {
  std::array<int, 2> ends{};
  if (::socketpair(AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC | SOCK_NONBLOCK, 0, ends.data()) != 0)
    return std::nullopt;
  return GuardianChannelEnds{GuardianChannel(Fd(ends[0])), GuardianChannel(Fd(ends[1]))};
}

void GuardianChannel::send_packet(int fd, const void* packet, std::size_t size) {
  ssize_t sent = 0;
  do sent = ::send(fd, packet, size, MSG_NOSIGNAL | MSG_DONTWAIT);
  while (sent < 0 && errno == EINTR);
}

bool GuardianChannel::receive_packet(void* packet, std::size_t size) {
  for (;;) {
    // MSG_TRUNC: the result is the whole length of the packet.
    const ssize_t n = ::recv(fd_.get(), packet, size, MSG_DONTWAIT | MSG_TRUNC);
    if (n == static_cast<ssize_t>(size)) return true;
    if (n > 0 || (n < 0 && errno == EINTR)) continue;
    if (n == 0 || (errno != EAGAIN && errno != EWOULDBLOCK)) ended_ = true;
    return false;
  }
}

}  // namespace cronlatch

// SPDX-License-Identifier: Apache-2.0
// The messages between the wrapper and its guardian (guardian.h): packets of fixed size on one
// socket pair. No call blocks. A process that has ended is the end of the channel.
#pragma once

#include <sys/types.h>

#include <optional>

#include "base/fd.h"
#include "core/supervisor.h"
#include "proc/child.h"
#include "proc/signal_reader.h"

namespace cronlatch {

// The first message of the wrapper: start the command. The descriptors are numbers that the
// guardian inherits.
struct GuardianPlan {
  OriginalSignals signals;  // of the command
  Placement placement = Placement::new_session;
  int kill_timer = -1;  // readable from the kill time on
  int cgroup = -1;      // directory of the command's cgroup, or -1
  int command = -1;     // command_file.h
};

// The other messages of the wrapper: a signal to the target. SIGKILL to the tree is answered with
// GuardianReport::Kind::killed.
struct GuardianOrder {
  int signo = 0;
  Target target = Target::group;
};

// The messages of the guardian.
struct GuardianReport {
  enum class Kind {
    no_guardian,  // it could not be executed; the value is errno
    no_fork,      // the command could not be started; errno
    started,      // with the command's pid
    not_started,  // the command could not be executed; errno, and the pid
    stopped,      // the signal that stopped the command
    exited,       // the exit code of the command, which is not reaped yet
    reaped,       // the command is reaped; 1: no descendant is left
    tree_empty,   // after `reaped` with 0
    killed,       // a round of SIGKILL was sent
  };
  Kind kind = Kind::started;
  int value = 0;
  pid_t command = 0;
};

// One end. A packet that is not of the expected type has another size and is dropped.
class GuardianChannel {
 public:
  GuardianChannel() = default;
  explicit GuardianChannel(Fd fd) : fd_(std::move(fd)) {}

  int fd() const { return fd_.get(); }
  // Lost when the peer has ended, or has not read for long.
  template <class Message>
  void send(const Message& message) const {
    send_packet(fd_.get(), &message, sizeof message);
  }
  // The next message; nothing: none has arrived, or the peer has ended (has_ended()).
  template <class Message>
  std::optional<Message> receive() {
    Message message{};
    if (!receive_packet(&message, sizeof message)) return std::nullopt;
    return message;
  }
  bool has_ended() const { return ended_; }

  // Async-signal-safe.
  static void send_packet(int fd, const void* packet, std::size_t size);

 private:
  bool receive_packet(void* packet, std::size_t size);

  Fd fd_;
  bool ended_ = false;
};

struct GuardianChannelEnds {
  GuardianChannel wrapper;
  GuardianChannel guardian;
};
// std::nullopt with errno.
std::optional<GuardianChannelEnds> open_guardian_channel();

}  // namespace cronlatch

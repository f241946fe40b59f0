// SPDX-License-Identifier: Apache-2.0
// MessageProxy: a proxy between a client and a PostgreSQL server, on a free port of 127.0.0.1. It
// counts the messages of the server over all connections, and spoils one of them. Plain bytes: the
// client sets sslmode=disable.
#pragma once

#include <atomic>
#include <chrono>
#include <string>
#include <thread>
#include <vector>

namespace cronlatch::testing {

enum class MessageFault {
  lost,    // it and all later messages of the connection are dropped; the connection stays open
  late,    // it arrives after `delay`, and later messages follow it
  closed,  // the connection is closed instead
};

class MessageProxy {
 public:
  // `number` of the message that is spoiled: the first is 1; 0 for none.
  MessageProxy(int server_port, MessageFault fault, int number, std::chrono::milliseconds delay);
  ~MessageProxy();
  MessageProxy(const MessageProxy&) = delete;
  MessageProxy& operator=(const MessageProxy&) = delete;

  int port() const { return port_; }
  int seen() const { return seen_; }

 private:
  void serve();
  void pass_requests(int client, int server);
  void pass_messages(int client, int server);
  // False when the connection ends.
  bool pass_message(int client, const std::string& message, bool& is_silent);

  int server_port_;
  MessageFault fault_;
  int number_;
  std::chrono::milliseconds delay_;
  int listener_;
  int port_ = 0;
  std::atomic<int> seen_ = 0;
  std::vector<int> sockets_;  // closed at the end
  std::vector<std::thread> threads_;
  std::thread accepting_;
};

}  // namespace cronlatch::testing

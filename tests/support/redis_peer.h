// SPDX-License-Identifier: Apache-2.0
// RedisPeer: a TCP peer with scripted answers, for answers that a real server does not send on
// request. One thread of its own; one client after the other.
#pragma once

#include <atomic>
#include <functional>
#include <mutex>
#include <string>
#include <thread>
#include <vector>

namespace cronlatch::testing {

class RedisPeer {
 public:
  using Command = std::vector<std::string>;
  // What to send as the answer to a command, as bytes; kSilence sends nothing, kHangUp closes.
  using Script = std::function<std::string(const Command&)>;
  static const std::string kSilence;
  static const std::string kHangUp;

  enum class Pace { at_once, byte_by_byte };
  struct At {
    const char* ip;
    int port;  // 0: any free one
  };
  // `greeting` is sent to each client before its first command.
  explicit RedisPeer(Script script, Pace pace = Pace::at_once, std::string greeting = "",
                     At at = {"127.0.0.1", 0});
  ~RedisPeer();
  RedisPeer(const RedisPeer&) = delete;
  RedisPeer& operator=(const RedisPeer&) = delete;

  int port() const { return port_; }
  std::string url() const { return "redis://127.0.0.1:" + std::to_string(port_); }
  int connections() const { return connections_; }
  std::vector<Command> commands() const;

  // HELLO, TIME and SELECT as Redis 7 answers them; nothing special otherwise: "+OK".
  static std::string usual(const Command& command);
  // `usual`, with this answer to every EVAL.
  static Script to_eval(std::string answer);

 private:
  void serve();
  void talk(int client);
  bool reply(int client, const std::string& answer);
  bool stopping(int also, short events);

  Script script_;
  Pace pace_;
  std::string greeting_;
  int listener_;
  int port_ = 0;
  int stop_[2];
  std::atomic<int> connections_{0};
  mutable std::mutex mutex_;
  std::vector<Command> commands_;
  std::thread thread_;
};

}  // namespace cronlatch::testing

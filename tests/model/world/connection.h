// SPDX-License-Identifier: Apache-2.0
// Connection: the way of one client to the store. Requests and replies are lost, delayed, repeated
// and executed late; logins are refused; at times all messages are dropped.
#pragma once

#include "core/store.h"
#include "model/rules/facts.h"

namespace cronlatch::model {

struct World;
class Client;

class Connection {
 public:
  Connection(World& world, Client& client);
  void send(const Request& request);
  // The server closes the connection.
  void drop();
  // True time at which the last request was sent.
  Us sent_at() const { return sent_at_; }

 private:
  void open(std::uint64_t number, const Request& request);
  void log_in(std::uint64_t number, const Request& request, int password, int file_version);
  void transmit(std::uint64_t number, const Request& request);
  void receive(std::uint64_t number, Reply reply, ServerTime store_time, TimePoint sent_at);
  void close(std::uint64_t number, bool unsent);
  void fail(std::uint64_t number, Code code);
  void read_store_time(ServerTime t);
  Us random_delay();
  bool loses_message();
  bool is_cut_off();
  bool has_faults() const;

  World& world_;
  Client& client_;
  bool is_open_ = false, is_sent_ = false;
  Us cut_until_ = 0;
  Us sent_at_ = 0;
  std::uint64_t number_ = 0;  // of the open request: replies to earlier ones are dropped
  std::uint64_t opened_ = 0;  // connections so far
  bool in_flight_ = false;
  int first_password_ = 0;
  ServerTime store_time_{};  // the last known time of the store
  TimePoint store_time_at_{};
};

}  // namespace cronlatch::model

// SPDX-License-Identifier: Apache-2.0
#include "model/world/connection.h"

#include "model/world/client.h"
#include "model/world/world.h"

namespace cronlatch::model {
namespace {

TimePoint give_up_of(const Request& request) {
  return std::visit([](const auto& r) { return r.give_up; }, request);
}

}  // namespace

Connection::Connection(World& world, Client& client)
    : world_(world), client_(client), first_password_(world.server.passwords.file) {}

bool Connection::has_faults() const { return world_.plan.has_faults && !world_.are_faults_over(); }

Us Connection::random_delay() {
  Random& random = world_.random;
  if (!has_faults()) return random.between(200, 3 * kMs);
  if (random.percent(85)) return random.between(200, 20 * kMs);
  return random.percent(70) ? random.between(20 * kMs, 4 * kSecond)
                            : random.between(4 * kSecond, 40 * kSecond);
}

// At times all messages are dropped: a lease of a live holder expires while other runs wait.
bool Connection::is_cut_off() {
  Random& random = world_.random;
  if (world_.now() >= cut_until_ && random.one_in(25))
    cut_until_ = world_.now() +
                 (random.one_in(10) ? 150 * kSecond : random.between(kSecond, world_.plan.ttl * 3));
  return world_.now() < cut_until_;
}

bool Connection::loses_message() {
  // An interruption may last longer than the other faults.
  if (world_.now() < cut_until_) return true;
  return has_faults() && (is_cut_off() || world_.random.percent(8));
}

void Connection::send(const Request& request) {
  const std::uint64_t number = ++number_;
  in_flight_ = true;
  is_sent_ = false;
  world_.note(client_.facts.id, "requests", static_cast<std::int64_t>(request.index()));
  world_.later(client_.clock.true_at(give_up_of(request)) - world_.now(),
               [this, number] { close(number, !is_sent_); });
  if (is_open_) return transmit(number, request);
  open(number, request);
}

void Connection::open(std::uint64_t number, const Request& request) {
  if (loses_message()) return;
  if (has_faults() && world_.random.one_in(20))  // refused at once, or reset later
    return world_.later(random_delay(), [this, number] { close(number, true); });
  const Server& server = world_.server;
  const bool reads_once = world_.defect == Defect::credentials_once;
  const int password = reads_once ? first_password_ : server.passwords.file;
  world_.later(random_delay(), [this, number, request, password, file = server.passwords.file] {
    log_in(number, request, password, file);
  });
}

void Connection::log_in(std::uint64_t number, const Request& request, int password,
                        int file_version) {
  const Server& server = world_.server;
  const bool tls = world_.now() < server.certificate_invalid_until;
  const bool accepted = server.passwords.accepts(password);
  if (tls || !accepted) {
    if (!tls)
      world_.fact(&Rule::logged_in, client_.facts,
                  Login{.accepted = false,
                        .file_was_valid = file_version == server.passwords.file &&
                                          server.passwords.accepts(file_version)});
    return world_.later(random_delay(),
                        [this, number, tls] { fail(number, tls ? Code::tls : Code::auth); });
  }
  const ServerTime store_time = server.time();
  world_.later(random_delay(), [this, number, request, store_time] {
    if (number != number_ || client_.facts.is_over()) return;
    is_open_ = true;
    ++opened_;
    read_store_time(store_time);
    transmit(number, request);
  });
}

void Connection::transmit(std::uint64_t number, const Request& request) {
  const TimePoint sent_at = client_.clock.at(world_.now());
  const TimePoint give_up = give_up_of(request);
  is_sent_ = true;
  sent_at_ = world_.now();
  const ServerTime not_after =
      store_time_ + std::chrono::duration_cast<Micros>(give_up - store_time_at_);
  // The permitted difference between the clocks since the client last read the store's time.
  const Us drift = Micros(give_up - store_time_at_).count() / 50 + 600 * kMs;
  const Us deadline = client_.clock.true_at(give_up) + drift;
  if (has_faults() && world_.random.one_in(30))
    world_.later(random_delay(), [this, number] { close(number, false); });
  if (loses_message()) return;
  world_.later(random_delay(), [this, number, request, sent_at, not_after, deadline] {
    const bool late = !world_.plan.steps_back && world_.now() > deadline;
    const Reply reply = world_.server.execute(client_, request, not_after, late);
    const ServerTime store_time = world_.server.time();
    if (loses_message()) return;
    world_.later(random_delay(), [this, number, reply, store_time, sent_at] {
      receive(number, reply, store_time, sent_at);
    });
  });
}

void Connection::receive(std::uint64_t number, Reply reply, ServerTime store_time,
                         TimePoint sent_at) {
  if (number != number_ || !in_flight_ || client_.facts.is_over()) return;
  in_flight_ = false;
  read_store_time(store_time);
  if (world_.defect == Defect::dated_at_reply) sent_at = client_.clock.at(world_.now());
  if (Granted* granted = std::get_if<Granted>(&reply)) granted->sent_at = sent_at;
  if (Renewed* renewed = std::get_if<Renewed>(&reply)) renewed->sent_at = sent_at;
  if (has_faults() && world_.random.one_in(60))  // the reply arrives twice: the client closes
    world_.later(random_delay(), [this, connection = opened_] {
      if (!is_open_ || connection != opened_) return;
      world_.seen.add(Case::duplicate_reply);
      close(number_, !is_sent_);
    });
  world_.note(client_.facts.id, "receives", static_cast<std::int64_t>(reply.index()));
  std::visit([this](const auto& r) { client_.handle(r); }, reply);
}

void Connection::close(std::uint64_t number, bool unsent) {
  if (number != number_ || client_.facts.is_over()) return;
  if (!in_flight_) return;
  is_open_ = false;
  in_flight_ = false;
  ++number_;
  world_.seen.add(Case::unavailable);
  client_.handle(Unavailable{{Code::unreachable, "disconnected"}, true, unsent});
}

void Connection::fail(std::uint64_t number, Code code) {
  if (number != number_ || !in_flight_ || client_.facts.is_over()) return;
  in_flight_ = false;
  ++number_;
  world_.seen.add(code == Code::tls ? Case::refused_certificate : Case::refused_login);
  client_.handle(Unavailable{{code, "refused"}, false, true});
}

void Connection::drop() {
  is_open_ = false;
  close(number_, !is_sent_);
}

void Connection::read_store_time(ServerTime t) {
  store_time_ = t;
  store_time_at_ = client_.clock.at(world_.now());
}

}  // namespace cronlatch::model

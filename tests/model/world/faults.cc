// SPDX-License-Identifier: Apache-2.0
#include "model/world/faults.h"

#include <csignal>

#include "model/world/world.h"

namespace cronlatch::model {
namespace {

constexpr int kRunsAtOnce = 4;

void new_client(World& world);

// The next run, after the end of this one.
void watch(World& world, Client& client) {
  world.later(world.random.between(500 * kMs, 3 * kSecond), [&world, &client] {
    if (!client.facts.is_over()) return watch(world, client);
    new_client(world);
  });
}

// A3: without a guardian, together with the time to reap at most kappa (process_tree.cc).
void stop(World& world, Client& client) {
  if (client.facts.is_over() || world.are_faults_over()) return;
  Random& random = world.random;
  const bool is_long = client.facts.cover == Cover::guardian && random.one_in(3);
  client.stop_for(is_long ? random.between(kSecond, 40 * kSecond) : random.between(0, 500 * kMs));
  world.later(random.between(kSecond, 30 * kSecond), [&world, &client] { stop(world, client); });
}

Cover random_cover(Random& random) {
  const std::int64_t kind = random.between(1, 10);
  return kind <= 5 ? Cover::guardian : kind <= 8 ? Cover::pid1 : Cover::none;
}

void new_client(World& world) {
  if (world.are_faults_over()) return;
  Random& random = world.random;
  const int id = static_cast<int>(world.clients.size()) + 1;
  const RunSpec spec = random_spec(random, world.plan, id);
  const HostClock clock{random_rate(random), random.between(0, 1'000'000 * kSecond)};
  world.clients.push_back(std::make_unique<Client>(world, spec, id, clock, random_cover(random)));
  Client& client = *world.clients.back();
  client.begin();
  if (random.one_in(6)) world.later(random.between(0, 40 * kSecond), [&client] { client.crash(); });
  for (int signals = random.one_in(6) ? random.one_in(3) ? 2 : 1 : 0; signals > 0; --signals)
    world.later(random.between(0, 30 * kSecond), [&client] { client.signal(SIGTERM); });
  if (random.one_in(10))
    world.later(random.between(0, 30 * kSecond), [&world] { world.server.revoke(); });
  if (random.one_in(3))
    world.later(random.between(0, 30 * kSecond), [&world, &client] { stop(world, client); });
  watch(world, client);
}

// At most one forward step of at most 0.5 s during a lease (A2); backward steps are safe.
void step_clock(World& world) {
  if (world.are_faults_over()) return;
  Random& random = world.random;
  world.server.step_clock(world.plan.steps_back ? -random.between(0, 5 * kSecond)
                                                : random.between(0, 500 * kMs));
  world.later(world.plan.ttl * 2 + random.between(0, 20 * kSecond),
              [&world] { step_clock(world); });
}

void plan_loss(World& world) {
  const Us at = world.random.between(5 * kSecond, kFaultsEnd);
  Server& server = world.server;
  switch (world.plan.loss) {
    case Loss::none:
      return;
    case Loss::all:
      return world.later(at, [&server] { server.forget(); });
    case Loss::replica:
      return world.later(at, [&server] { server.lag(); });
    case Loss::grant:
    case Loss::release:
    case Loss::renewal:
    case Loss::mark:
      return world.later(at / 2, [&world] { world.server.roll_back_next(world.plan.loss); });
  }
}

void drop_connections(World& world) {
  for (const auto& client : world.clients) client->connection().drop();
}

// A rotated password: usually both are accepted while the files are replaced.
void rotate(World& world) {
  Random& random = world.random;
  Server::Passwords& passwords = world.server.passwords;
  ++passwords.newest;
  const Us replaced = random.between(0, 10 * kSecond);
  const bool overlaps = random.percent(70);
  const Us closed =
      overlaps ? replaced + random.between(0, 20 * kSecond) : random.between(0, replaced);
  world.later(replaced, [&passwords] { passwords.file = passwords.newest; });
  world.later(closed, [&world, &passwords] {
    passwords.oldest = passwords.newest;
    drop_connections(world);
  });
}

void invalidate_certificate(World& world) {
  world.server.certificate_invalid_until =
      world.now() + world.random.between(kSecond, 20 * kSecond);
  drop_connections(world);
}

}  // namespace

void begin_schedule(World& world) {
  Random& random = world.random;
  plan_loss(world);
  world.later(random.between(kSecond, kFaultsEnd), [&world] { step_clock(world); });
  if (world.plan.rotates)
    world.later(random.between(0, kFaultsEnd / 2), [&world] { rotate(world); });
  if (random.one_in(10))
    world.later(random.between(0, kFaultsEnd), [&world] { invalidate_certificate(world); });
  for (int slot = 0; slot < kRunsAtOnce; ++slot)
    world.later(random.between(0, 3 * kSecond), [&world] { new_client(world); });
}

}  // namespace cronlatch::model

// SPDX-License-Identifier: Apache-2.0
#include "writing_calls.h"

namespace cronlatch::testing {
namespace {

Acquire waited_for(ScriptBench& bench, const std::string& owner) {
  auto a = bench.acquisition(owner);
  a.identity.group = "uid";
  a.waited = 4s;
  return a;
}

Release succeeded(ScriptBench& bench) {
  auto r = bench.end("a");
  r.identity.once = "tick";
  r.identity.group = "uid";
  r.overlong = true;
  return r;
}

}  // namespace

RedisAnswer send_raw(ScriptBench& bench, const Request& request) {
  return bench.raw(redis::encode(request, bench.prefix, bench.now + 3s));
}

void hold_by_a(ScriptBench& bench) {
  bench.client({"ZADD", bench.key(":seen"), "5", "old:1:h"});
  bench.client({"ZADD", bench.key(":groups"), "5", "old"});
  std::vector<std::string> finished{"ZADD", bench.key(":once:ns/a"), "5", "old"};
  for (int i = 0; i < 129; ++i) {
    finished.push_back(std::to_string(bench.now.us - i));
    finished.push_back("t" + std::to_string(i));
  }
  bench.client(finished);
  // Without a group, as the first grant of this owner: nothing above is purged yet.
  bench.client({"HSET", bench.key(":stats"), "acquired|ns/a", "7", "released|ns/a", "7"});
  bench.acquire("a");
}

std::vector<WritingCall> writing_calls() {
  return {
      {"grant that steals", [](ScriptBench& b) { hold_by_a(b), b.pass(30s); },
       [](ScriptBench& b) { return send_raw(b, waited_for(b, "b")); }},
      {"repeated acquire", hold_by_a,
       [](ScriptBench& b) { return send_raw(b, b.acquisition("a")); }},
      {"counted skip", hold_by_a, [](ScriptBench& b) { return send_raw(b, b.acquisition("b")); }},
      {"clamp", [](ScriptBench& b) { hold_by_a(b), b.pass(-1h); },
       [](ScriptBench& b) {
         auto a = b.acquisition("b");
         a.if_busy = IfBusy::wait;
         return send_raw(b, a);
       }},
      {"renew", hold_by_a, [](ScriptBench& b) { return send_raw(b, b.renewal("a")); }},
      {"restore",
       [](ScriptBench& b) {
         hold_by_a(b);
         b.client({"DEL", b.key()});
       },
       [](ScriptBench& b) {
         auto r = b.renewal("a");
         r.fence = 17;
         r.identity.group = "uid";
         return send_raw(b, r);
       }},
      {"release", hold_by_a, [](ScriptBench& b) { return send_raw(b, succeeded(b)); }},
      {"lost report", hold_by_a,
       [](ScriptBench& b) { return send_raw(b, b.end("c", RunVerdict::lost)); }},
      {"revoke", hold_by_a,
       [](ScriptBench& b) { return b.raw(redis::encode_revoke(b.lock, b.prefix, b.now)); }},
      {"restore over an older record", [](ScriptBench& b) { hold_by_a(b), b.pass(30s); },
       [](ScriptBench& b) {
         auto r = b.renewal("b");
         r.fence = static_cast<Fence>(b.now.us);
         r.identity.group = "uid";
         return send_raw(b, r);
       }},
      {"report of a former holder",
       [](ScriptBench& b) { hold_by_a(b), b.pass(30s), b.acquire("b"); },
       [](ScriptBench& b) {
         auto r = succeeded(b);
         r.fence = 17;
         return send_raw(b, r);
       }},
      {"mark with a repeated release", [](ScriptBench& b) { hold_by_a(b), b.release("a"); },
       [](ScriptBench& b) { return send_raw(b, succeeded(b)); }},
      {"end of a min-hold_by_a",
       [](ScriptBench& b) {
         hold_by_a(b);
         auto r = b.end("a");
         r.min_hold = 10min;
         b.send(r);
       },
       [](ScriptBench& b) { return b.raw(redis::encode_revoke(b.lock, b.prefix, b.now)); }},
      {"skip inside the min-hold_by_a of a crashed run",
       [](ScriptBench& b) {
         auto a = b.acquisition("a");
         a.min_hold = 10min;
         b.send(a);
         b.pass(30s);
       },
       [](ScriptBench& b) { return send_raw(b, b.acquisition("b")); }},
  };
}

}  // namespace cronlatch::testing

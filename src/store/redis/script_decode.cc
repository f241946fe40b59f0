// SPDX-License-Identifier: Apache-2.0
// From replies of the scripts to values. Every field is checked: the server may not be a Redis, or
// its keys may belong to another program.
#include <algorithm>
#include <charconv>
#include <optional>
#include <type_traits>
#include <utility>
#include <variant>

#include "store/redis/script_codec.h"
#include "store/rules.h"

namespace cronlatch::redis {

namespace {

constexpr std::int64_t kMax = (std::int64_t{1} << 53) - 1;

std::optional<std::int64_t> whole(std::string_view s) {
  std::int64_t n = 0;
  const auto [end, error] = std::from_chars(s.data(), s.data() + s.size(), n);
  if (error != std::errc{} || end != s.data() + s.size() || n < 0 || n > kMax) return std::nullopt;
  return n;
}

// Reads a reply from left to right; one invalid field makes the whole reply invalid.
class ReplyReader {
 public:
  explicit ReplyReader(const std::vector<std::string>& fields) : fields_(fields) {}
  std::string text() {
    const bool fine = at_ < fields_.size() && fields_[at_].size() <= rules::kMaxText;
    if (!fine) fine_ = false;
    return fine ? fields_[at_++] : std::string{};
  }
  std::int64_t number() {
    const auto n = whole(text());
    if (!n) fine_ = false;
    return n.value_or(0);
  }
  Fence fence() { return static_cast<Fence>(number()); }
  // An empty field: the caller has no place.
  std::optional<std::uint32_t> ahead() {
    const std::string s = text();
    if (s.empty()) return std::nullopt;
    const auto n = whole(s);
    if (!n || *n > kMaxAhead) fine_ = false;
    return static_cast<std::uint32_t>(n.value_or(0));
  }
  bool flag() {
    const std::string s = text();
    if (s != "0" && s != "1") fine_ = false;
    return s == "1";
  }
  template <class E>
  E one_of(std::initializer_list<std::pair<std::string_view, E>> names) {
    const std::string s = text();
    for (const auto& [name, value] : names)
      if (s == name) return value;
    fine_ = false;
    return E{};
  }
  bool has_more() const { return at_ < fields_.size(); }
  // True when every field was valid and none is left.
  bool complete() const { return fine_ && at_ == fields_.size(); }

 private:
  const std::vector<std::string>& fields_;
  std::size_t at_ = 0;
  bool fine_ = true;
};

Error malformed() {
  return {Code::unreachable, "the store returned a reply that no script of cronlatch returns",
          "check that the store is Redis 6.2 or newer and that no proxy changes its replies"};
}

Busy busy(ReplyReader& f) {
  Busy b;
  b.reason = f.one_of<BusyReason>({{"held", BusyReason::held},
                                   {"cooling", BusyReason::cooling},
                                   {"done", BusyReason::done},
                                   {"queued", BusyReason::queued}});
  b.holder = f.text();
  b.job = f.text();
  b.fence = f.fence();
  b.held_for = Micros(f.number());
  b.remaining = Micros(f.number());
  b.group_granted = f.flag();
  b.ahead = f.ahead();
  b.wake = f.text();
  return b;
}

LostReason reason(ReplyReader& f) {
  return f.one_of<LostReason>({{"expired", LostReason::expired},
                               {"taken", LostReason::taken},
                               {"revoked", LostReason::revoked},
                               {"gone", LostReason::gone}});
}

// The lock is held with another number of slots.
std::optional<Reply> slots_answer(const Acquire& request, ReplyReader& f) {
  const std::int64_t slots = f.number();
  const std::string holder = f.text();
  if (slots < 1 || slots > rules::kMaxSlots || slots == request.slots) return std::nullopt;
  return rules::other_slots(request, static_cast<unsigned>(slots), holder);
}

// No value for a verdict that the verb's script does not return.
template <class Verb>
std::optional<Reply> answer(const Verb& verb, const std::string& verdict, ReplyReader& f) {
  if (verdict == "stale") return TooLate{f.flag()};
  if constexpr (std::is_same_v<Verb, Acquire>) {
    if (verdict == "busy") return busy(f);
    if (verdict == "quarantine") return Quarantined{Micros(f.number())};
    if (verdict == "slots") return slots_answer(verb, f);
    if (verdict != "granted") return std::nullopt;
    Granted granted;
    granted.fence = f.fence();
    granted.stole = f.flag();
    if (f.has_more()) granted.server = f.text();
    if (granted.fence == 0) return std::nullopt;
    return granted;
  } else {
    constexpr bool renews = std::is_same_v<Verb, Renew>;
    if (renews && verdict == "kept") return Renewed{{}, f.flag()};
    if (!renews && verdict == "freed") return Released{f.text()};
    if (verdict != "not_holder") return std::nullopt;
    NotHolder reply{reason(f)};
    if (!renews) reply.wake = f.text();
    return reply;
  }
}

}  // namespace

DecodedReply decode(const Request& request, const std::vector<std::string>& reply) {
  ReplyReader f(reply);
  const std::string verdict = f.text();
  const ServerTime now{f.number()};
  const bool index = f.flag();
  const auto answered =
      std::visit([&](const auto& verb) { return answer(verb, verdict, f); }, request);
  if (!answered || !f.complete()) return {Unavailable{malformed(), true, false}, {}, false};
  return {*answered, now, index};
}

Result<Revoked> decode_revoke(const std::vector<std::string>& reply) {
  if (reply.size() == 4 && reply[0] == "stale")
    return Error{Code::unreachable,
                 "the request arrived at the store after its deadline; nothing was changed",
                 "try again"};
  ReplyReader f(reply);
  const std::string verdict = f.text();
  f.number();
  f.flag();
  Revoked revoked;
  enum class Ended { none, lease, min_hold };
  const Ended ended = f.one_of<Ended>(
      {{"none", Ended::none}, {"lease", Ended::lease}, {"min_hold", Ended::min_hold}});
  revoked.was_held = ended == Ended::lease;
  revoked.was_cooling = ended == Ended::min_hold;
  revoked.holder = f.text();
  revoked.fence = f.fence();
  revoked.remaining = Micros(f.number());
  if (verdict != "revoked" || !f.complete()) return malformed();
  return revoked;
}

}  // namespace cronlatch::redis

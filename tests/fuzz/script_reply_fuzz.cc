// SPDX-License-Identifier: Apache-2.0
// Replies of the scripts, as an array of strings, and of HGETALL; packed slots. Oracles: the answer
// is one that the verb can have; an invalid reply becomes an error of one line; no number is out of
// range. Input: a byte that selects the verb, then the elements, ended by newlines.
#include "fuzz/oracle.h"
#include "store/redis/script_codec.h"

namespace {

using namespace cronlatch;

constexpr Fence kMaxFence = (Fence{1} << 53) - 1;

Request request_of(std::uint8_t verb) {
  switch (verb % 3) {
    case 0: {
      Acquire acquire;
      acquire.lock = "lock";
      acquire.slots = 2;
      return acquire;
    }
    case 1: {
      Renew renew;
      renew.lock = "lock";
      return renew;
    }
    default: {
      Release release;
      release.lock = "lock";
      return release;
    }
  }
}

bool can_answer(const Request& request, const Reply& reply) {
  const bool shared =
      std::holds_alternative<TooLate>(reply) || std::holds_alternative<Unavailable>(reply);
  if (shared) return true;
  if (std::holds_alternative<Acquire>(request))
    return std::holds_alternative<Granted>(reply) || std::holds_alternative<Busy>(reply) ||
           std::holds_alternative<Quarantined>(reply);
  if (std::holds_alternative<Renew>(request))
    return std::holds_alternative<Renewed>(reply) || std::holds_alternative<NotHolder>(reply);
  return std::holds_alternative<Released>(reply) || std::holds_alternative<NotHolder>(reply);
}

void check_reply(const Request& request, const redis::DecodedReply& decoded) {
  fuzz::must(can_answer(request, decoded.reply), "the answer is one that the verb can have");
  fuzz::must(decoded.now.us >= 0, "the server's time is not before 1970");
  if (const auto* granted = std::get_if<Granted>(&decoded.reply))
    fuzz::must(granted->fence <= kMaxFence, "a fence fits into a double");
  if (const auto* busy = std::get_if<Busy>(&decoded.reply))
    fuzz::must(busy->remaining.count() >= 0 && busy->held_for.count() >= 0, "no time is negative");
  if (const auto* unavailable = std::get_if<Unavailable>(&decoded.reply)) {
    fuzz::must(!unavailable->error.message.empty(), "an error has a message");
    fuzz::must(fuzz::is_one_line(unavailable->error.message), "an error is one line");
  }
}

void check_slot(const std::string& packed) {
  const auto slot = redis::unpack_slot(packed);
  if (!slot) return;
  fuzz::must(slot->fence <= kMaxFence, "a fence fits into a double");
  fuzz::must((slot->fence == 0) == (slot->state == rules::HoldState::none), "a grant has a fence");
  const std::size_t texts = slot->claim.owner.size() + slot->identity.holder.size() +
                            slot->identity.job.size() + slot->identity.group.size() +
                            slot->identity.once.size();
  fuzz::must(texts < packed.size(), "the texts are parts of the packed one");
}

void check_view(const std::vector<std::string>& elements) {
  redis::Fields record;
  redis::Fields stats;
  redis::Fields slot_list;
  for (std::size_t i = 0; i < elements.size(); ++i) slot_list[std::to_string(i + 2)] = elements[i];
  for (std::size_t i = 0; i + 1 < elements.size(); i += 2)
    (elements[i].find(':') == std::string::npos ? record : stats)[elements[i]] = elements[i + 1];
  const Result<LockView> view =
      redis::decode_view("lock", record, stats, ServerTime{1'763'690'000'000'000}, slot_list);
  if (!view) {
    fuzz::must(fuzz::is_one_line(view.error().message), "an error is one line");
    return;
  }
  fuzz::must(view->fence <= kMaxFence, "a fence fits into a double");
  for (const auto& [job, counters] : view->jobs)
    for (const auto& [name, value] : counters.values)
      fuzz::must(value >= 0, "no counter is negative");
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* bytes, std::size_t size) {
  if (size < 1) return 0;
  const std::vector<std::string> elements = fuzz::split(fuzz::text_of(bytes + 1, size - 1), '\n');
  const Request request = request_of(bytes[0]);
  check_reply(request, redis::decode(request, elements));
  if (const Result<Revoked> revoked = redis::decode_revoke(elements); revoked)
    fuzz::must(revoked->remaining.count() >= 0, "no time is negative");
  check_view(elements);
  for (const std::string& element : elements) check_slot(element);
  return 0;
}

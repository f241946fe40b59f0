// SPDX-License-Identifier: Apache-2.0
// RedisStore between two requests of a run that waits: BLPOP on its wake-up list. Best effort:
// after a refusal or a lost connection the run only waits for its next request.
#include <algorithm>

#include "base/kernel_clock.h"
#include "store/redis/redis_store.h"
#include "store/redis/script_codec.h"

namespace cronlatch::redis {
namespace {

// The answer arrives before the next request, which the blocked connection would delay. The server
// ends BLPOP up to 100 ms late, because it checks timeouts with its timer (hz 10).
constexpr Millis kAnswerTime{150};
constexpr Millis kShortest{20};
constexpr Millis kLongest{2'000};

}  // namespace

void RedisStore::listen(const std::string& lock, const std::string& owner, TimePoint until) {
  if (!may_listen_ || pending_ || session_ == nullptr || !session_->is_ready()) return;
  if (next_ && next_->asking) return;  // the key can be at either node
  const Micros left = std::min<Micros>(until - boot_now() - kAnswerTime, kLongest);
  if (left < kShortest) return;
  session_->send(encode_listen(lock, owner, config_.key_prefix, left),
                 RedisSession::OnAnswer::keep);
  session_->flush();
  is_listening_ = true;
}

// A list: woken. Nil: the time has passed. An error: the server refuses the command, or its role
// has changed.
void RedisStore::take_wake_answer() {
  if (!is_listening_ || session_ == nullptr) return;
  // With strict, the answer of WAIT to a busy reply comes first.
  for (; unneeded_waits_ > 0; --unneeded_waits_)
    if (!session_->take()) return;
  const auto answer = session_->take();
  if (!answer) return;
  is_listening_ = false;
  is_woken_ = !answer->elements.empty();
  if (answer->type != Resp::Type::error) return;
  const RedisErrorClass kind = classify_redis_error(answer->text).kind;
  may_listen_ = kind != RedisErrorClass::noperm && kind != RedisErrorClass::unknown_command;
}

// A blocked connection would delay the next request.
void RedisStore::stop_listening() {
  take_wake_answer();
  is_woken_ = false;
  if (std::exchange(is_listening_, false)) session_.reset();
}

}  // namespace cronlatch::redis

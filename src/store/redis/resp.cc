// SPDX-License-Identifier: Apache-2.0
// The parser of hiredis, with object functions that build Resp values and refuse replies that are
// too large. The connections and the formatting of hiredis are not linked.
#include "store/redis/resp.h"

#include <hiredis/read.h>

namespace cronlatch::redis {
namespace {

// The destination of this task's value: a new root, or an element of its parent's array.
Resp* value_of(const redisReadTask* task) {
  if (task->parent == nullptr) return new Resp;
  auto* parent = static_cast<Resp*>(task->parent->obj);
  return &parent->elements[static_cast<std::size_t>(task->idx)];
}

void* create_string(const redisReadTask* task, char* bytes, std::size_t size) {
  Resp* value = value_of(task);
  value->type = task->type == REDIS_REPLY_ERROR    ? Resp::Type::error
                : task->type == REDIS_REPLY_STATUS ? Resp::Type::status
                                                   : Resp::Type::text;
  value->text.assign(bytes, size);
  return value;
}

void* create_array(const redisReadTask* task, int count) {
  auto* elements = static_cast<std::size_t*>(task->privdata);
  // Checked before the allocation: a header of ten bytes can request gigabytes.
  if (count < 0 || static_cast<std::size_t>(count) > kMaxReplyElements - *elements) return nullptr;
  *elements += static_cast<std::size_t>(count);
  Resp* value = value_of(task);
  value->type = Resp::Type::array;
  value->elements.resize(static_cast<std::size_t>(count));
  return value;
}

void* create_integer(const redisReadTask* task, long long number) {
  Resp* value = value_of(task);
  value->type = Resp::Type::integer;
  value->integer = number;
  return value;
}

void* create_nil(const redisReadTask* task) { return value_of(task); }

void free_root(void* object) { delete static_cast<Resp*>(object); }

// hiredis requires a non-const pointer and does not write to it.
redisReplyObjectFunctions* object_functions() {
  static redisReplyObjectFunctions functions = {create_string, create_array, create_integer,
                                                create_nil, free_root};
  return &functions;
}

}  // namespace

std::string encode_command(const std::vector<std::string>& argv) {
  std::string bytes = "*" + std::to_string(argv.size()) + "\r\n";
  for (const std::string& arg : argv) {
    bytes += "$" + std::to_string(arg.size()) + "\r\n";
    bytes += arg;
    bytes += "\r\n";
  }
  return bytes;
}

RespReader::RespReader()
    : reader_(redisReaderCreateWithFunctions(object_functions()), redisReaderFree) {
  reader_->privdata = &elements_;
}

RespReader::~RespReader() = default;

void RespReader::feed(std::string_view bytes) {
  if (!broken_.empty()) return;
  fed_ += bytes.size();
  redisReaderFeed(reader_.get(), bytes.data(), bytes.size());
}

std::optional<Resp> RespReader::next() {
  if (!broken_.empty()) return std::nullopt;
  void* object = nullptr;
  if (redisReaderGetReply(reader_.get(), &object) != REDIS_OK) {
    broken_ = reader_->err == REDIS_ERR_PROTOCOL ? "the reply does not follow the Redis protocol"
                                                 : "the reply is too large";
    return std::nullopt;
  }
  if (object == nullptr) {
    if (fed_ > kMaxReplyBytes) broken_ = "the reply is too large";
    return std::nullopt;
  }
  const std::unique_ptr<Resp> reply(static_cast<Resp*>(object));
  const std::size_t unread = reader_->len - reader_->pos;
  if (fed_ - unread > kMaxReplyBytes) {
    broken_ = "the reply is too large";
    return std::nullopt;
  }
  fed_ = unread;
  elements_ = 0;
  return std::move(*reply);
}

}  // namespace cronlatch::redis

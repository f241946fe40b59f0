// SPDX-License-Identifier: Apache-2.0
// Builds the value from nlohmann's parser events, so that depth and duplicate keys are rejected
// before a deep value exists.
#include "kube/json.h"

#include <iterator>

#include "base/text.h"

namespace cronlatch::kube {
namespace {

// An iterator that records its position: nlohmann's parser events have no position.
struct Cursor {
  using iterator_category = std::input_iterator_tag;
  using value_type = char;
  using difference_type = std::ptrdiff_t;
  using pointer = const char*;
  using reference = const char&;

  const char* at;
  const char** seen;

  reference operator*() const { return *at; }
  Cursor& operator++() {
    *seen = ++at;
    return *this;
  }
  Cursor operator++(int) {
    Cursor before = *this;
    ++*this;
    return before;
  }
  bool operator==(const Cursor& other) const { return at == other.at; }
  bool operator!=(const Cursor& other) const { return at != other.at; }
};

class Builder {
 public:
  Builder(int max_depth, const OnItem& on_item) : max_depth_(max_depth), on_item_(on_item) {}

  bool null() { return put(nullptr); }
  bool boolean(bool value) { return put(value); }
  bool number_integer(Json::number_integer_t value) { return put(value); }
  bool number_unsigned(Json::number_unsigned_t value) { return put(value); }
  bool number_float(Json::number_float_t value, const std::string&) { return put(value); }
  bool string(std::string& value) { return put(std::move(value)); }
  bool binary(Json::binary_t&) { return false; }
  bool start_object(std::size_t) { return open(Json::object()); }
  bool start_array(std::size_t) { return open(Json::array()); }
  bool end_object() { return close(); }
  bool end_array() { return close(); }
  bool key(std::string& name) {
    if (open_.size() == 1) in_items_ = name == "items";
    const auto [entry, is_new] =
        open_.back()->get_ref<Json::object_t&>().try_emplace(std::move(name));
    slot_ = &entry->second;
    if (!is_new)
      error_ = "the key " + cronlatch::quoted(entry->first) + " appears twice in one object";
    return is_new;
  }
  bool parse_error(std::size_t, const std::string& token, const nlohmann::detail::exception&) {
    error_ = token.empty() ? "invalid JSON" : "invalid JSON near " + cronlatch::quoted(token);
    return false;
  }

  Json& root() { return root_; }
  const std::string& error() const { return error_; }

 private:
  // Stores the value in the innermost open container and returns its address.
  Json* place(Json value) {
    if (open_.empty()) return &(root_ = std::move(value));
    if (open_.back()->is_object()) return &(*slot_ = std::move(value));
    auto& items = open_.back()->get_ref<Json::array_t&>();
    items.push_back(std::move(value));
    return &items.back();
  }
  bool put(Json value) {
    place(std::move(value));
    return true;
  }
  bool open(Json container) {
    if (static_cast<int>(open_.size()) >= max_depth_) {
      error_ = "nested deeper than " + std::to_string(max_depth_) + " levels";
      return false;
    }
    // The address is stable while the container is open: only the container itself grows.
    open_.push_back(place(std::move(container)));
    return true;
  }
  bool close() {
    open_.pop_back();
    if (on_item_ && in_items_ && open_.size() == 2 && open_.back()->is_array()) pass_item();
    return true;
  }
  void pass_item() {
    auto& items = open_.back()->get_ref<Json::array_t&>();
    Json item = std::move(items.back());
    items.pop_back();
    on_item_(root_, std::move(item));
  }

  const int max_depth_;
  const OnItem& on_item_;
  bool in_items_ = false;  // the innermost key of the root is `items`
  Json root_;
  std::vector<Json*> open_;
  Json* slot_ = nullptr;
  std::string error_;
};

template <class J>
J* walk(J* at, std::initializer_list<std::string_view> path) {
  for (const std::string_view key : path) {
    if (!at->is_object()) return nullptr;
    const auto entry = at->find(key);
    if (entry == at->end()) return nullptr;
    at = &*entry;
  }
  return at;
}

}  // namespace

Result<Json> parse_json(std::string_view text, JsonLimits limits, const OnItem& on_item) {
  if (text.size() > limits.bytes)
    return Error{Code::config, "the JSON is " + std::to_string(text.size()) + " bytes long",
                 "at most " + std::to_string(limits.bytes) + " bytes are read"};
  const char* seen = text.data();
  Builder builder(limits.depth, on_item);
  const Cursor begin{text.data(), &seen};
  const Cursor end{text.data() + text.size(), &seen};
  const bool parsed = Json::sax_parse(begin, end, &builder);
  if (parsed) return std::move(builder.root());
  const std::string where = " at byte " + std::to_string(seen - text.data());
  const std::string what = builder.error().empty() ? "invalid JSON" : builder.error();
  return Error{Code::config, what + where};
}

const Json* find(const Json& root, std::initializer_list<std::string_view> path) {
  return walk(&root, path);
}

Json* find(Json& root, std::initializer_list<std::string_view> path) { return walk(&root, path); }

std::string string_at(const Json& root, std::initializer_list<std::string_view> path) {
  const Json* const value = find(root, path);
  return value != nullptr && value->is_string() ? value->get_ref<const std::string&>() : "";
}

const std::vector<Json>& items_at(const Json& root, std::initializer_list<std::string_view> path) {
  static const std::vector<Json> kNone;
  const Json* const items = find(root, path);
  return items != nullptr && items->is_array() ? items->get_ref<const Json::array_t&>() : kNone;
}

std::vector<std::string> strings_at(const Json& root,
                                    std::initializer_list<std::string_view> path) {
  std::vector<std::string> strings;
  for (const Json& item : items_at(root, path))
    if (item.is_string()) strings.push_back(item.get<std::string>());
  return strings;
}

std::optional<std::int64_t> number_at(const Json& root,
                                      std::initializer_list<std::string_view> path) {
  const Json* const value = find(root, path);
  if (value == nullptr || !value->is_number_integer()) return std::nullopt;
  return value->get<std::int64_t>();
}

bool is_true(const Json& root, std::initializer_list<std::string_view> path) {
  const Json* const value = find(root, path);
  return value != nullptr && value->is_boolean() && value->get<bool>();
}

std::string to_text(const Json& value) {
  return value.dump(-1, ' ', false, Json::error_handler_t::replace);
}

}  // namespace cronlatch::kube

// SPDX-License-Identifier: Apache-2.0
// Built from the parser's events, not from YAML::Node, which accepts duplicate keys, shares the
// nodes of aliases, and ignores a second document.
#include "config/yaml_tree.h"

#include <yaml-cpp/eventhandler.h>
#include <yaml-cpp/yaml.h>

#include <algorithm>
#include <sstream>

#include "base/text.h"

namespace cronlatch {
namespace {

int line_of(const YAML::Mark& mark) { return mark.is_null() ? 1 : mark.line + 1; }

// A handler cannot stop the parser, so it ignores all events after the first error.
class TreeBuilder final : public YAML::EventHandler {
 public:
  TreeBuilder(std::string path, YamlLimits limits) : path_(std::move(path)), limits_(limits) {}

  void OnDocumentStart(const YAML::Mark& mark) override {
    if (++documents_ == 2)
      fail(line_of(mark), "the file contains more than one document", "remove ---");
  }
  void OnDocumentEnd() override {}
  void OnNull(const YAML::Mark& mark, YAML::anchor_t) override { scalar(mark, YamlNode{}); }
  void OnAlias(const YAML::Mark& mark, YAML::anchor_t) override {
    fail(line_of(mark), "an alias (*name) is not supported", "write the value instead");
  }
  void OnScalar(const YAML::Mark& mark, const std::string& tag, YAML::anchor_t,
                const std::string& value) override {
    YamlNode node;
    node.kind = YamlNode::Kind::text;
    node.text = value;
    node.plain = tag == "?";
    scalar(mark, std::move(node));
  }
  void OnSequenceStart(const YAML::Mark& mark, const std::string&, YAML::anchor_t,
                       YAML::EmitterStyle::value) override {
    open(mark, YamlNode::Kind::list);
  }
  void OnSequenceEnd() override { close(); }
  void OnMapStart(const YAML::Mark& mark, const std::string&, YAML::anchor_t,
                  YAML::EmitterStyle::value) override {
    open(mark, YamlNode::Kind::map);
  }
  void OnMapEnd() override { close(); }

  bool failed() const { return failed_; }
  Result<YamlNode> take() {
    if (failed_) return error_;
    return std::move(root_);
  }

 private:
  void fail(int line, const std::string& what, const std::string& hint) {
    if (failed_) return;
    failed_ = true;
    error_ = {Code::config, path_ + ":" + std::to_string(line) + ": " + what, hint};
  }

  // The collection that is being filled; nullptr at the root.
  YamlNode* parent() { return open_.empty() ? nullptr : open_.back(); }
  // Is the next scalar of the map a key?
  bool expects_key() {
    return parent() != nullptr && parent()->kind == YamlNode::Kind::map && !has_key_;
  }

  void scalar(const YAML::Mark& mark, YamlNode node) {
    if (failed_) return;
    node.line = line_of(mark);
    if (expects_key())
      key(node);
    else
      place(std::move(node));
  }

  void key(const YamlNode& node) {
    if (node.kind != YamlNode::Kind::text)
      return fail(node.line, "a key must be a string", "write key: value");
    const auto& entries = parent()->entries;
    const auto first = std::find_if(entries.begin(), entries.end(),
                                    [&](const YamlEntry& e) { return e.key == node.text; });
    if (first != entries.end())
      return fail(
          node.line,
          "the key " + quoted(node.text) + " is also in line " + std::to_string(first->line),
          "remove one of the two");
    parent()->entries.push_back({node.text, node.line, YamlNode{}});
    has_key_ = true;
  }

  YamlNode* place(YamlNode node) {
    if (parent() == nullptr) {
      if (documents_ <= 1) root_ = std::move(node);
      return &root_;
    }
    if (parent()->kind == YamlNode::Kind::list) {
      parent()->items.push_back(std::move(node));
      return &parent()->items.back();
    }
    has_key_ = false;
    parent()->entries.back().value = std::move(node);
    return &parent()->entries.back().value;
  }

  void open(const YAML::Mark& mark, YamlNode::Kind kind) {
    if (failed_) return;
    if (expects_key()) return fail(line_of(mark), "a key must be a string", "write key: value");
    if (open_.size() >= limits_.depth)
      return fail(line_of(mark), "nested deeper than " + std::to_string(limits_.depth) + " levels",
                  "use fewer levels");
    YamlNode node;
    node.kind = kind;
    node.line = line_of(mark);
    // The pointer stays valid while the node is open: only its own items or entries grow.
    open_.push_back(place(std::move(node)));
  }
  void close() {
    if (!failed_) open_.pop_back();
  }

  std::string path_;
  YamlLimits limits_;
  YamlNode root_;
  std::vector<YamlNode*> open_;
  bool has_key_ = false;
  int documents_ = 0;
  bool failed_ = false;
  Error error_{};
};

Result<YamlNode> build(const std::string& path, const std::string& text, YamlLimits limits) {
  std::istringstream stream(text);
  YAML::Parser parser(stream);
  TreeBuilder builder(path, limits);
  // At most twice: the parser does not advance over a document without a token, so a loop might
  // not end.
  if (parser.HandleNextDocument(builder) && !builder.failed()) parser.HandleNextDocument(builder);
  return builder.take();
}

}  // namespace

const YamlNode* YamlNode::find(std::string_view key) const {
  for (const YamlEntry& entry : entries)
    if (entry.key == key) return &entry.value;
  return nullptr;
}

Result<YamlNode> read_yaml(const std::string& path, const std::string& text, YamlLimits limits) {
  if (text.size() > limits.bytes)
    return Error{Code::config,
                 path + ":1: the file is " + std::to_string(text.size()) + " bytes long",
                 "at most " + std::to_string(limits.bytes) + " bytes are read"};
  const char* const hint = "check its indentation and quotes";
  try {
    return build(path, text, limits);
  } catch (const YAML::Exception& e) {
    return Error{
        Code::config,
        path + ":" + std::to_string(line_of(e.mark)) + ": not valid YAML: " + printable(e.msg, 200),
        hint};
  } catch (const std::exception& e) {
    return Error{Code::config, path + ":1: cannot be parsed: " + printable(e.what(), 200), hint};
  }
}

}  // namespace cronlatch

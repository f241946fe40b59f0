// SPDX-License-Identifier: Apache-2.0
// URLs of stores. Oracles: an accepted URL is parsed to the same value when it is written again; a
// password is refused at every position and is not repeated; messages are one line.
#include "base/result.h"
#include "fuzz/oracle.h"
#include "store/url.h"

namespace {

using namespace cronlatch;

constexpr std::string_view kPassword = "c4n4ry-Pa55";

std::string written(const StoreUrl& url) {
  if (url.kind == StoreUrl::Kind::file) return "file://" + url.directory;
  std::string text = url.tls ? "rediss://" : "redis://";
  if (!url.user.empty()) text += url.user + "@";
  return text + url.where() + "/" + std::to_string(url.db);
}

void understood_alike(std::string_view text) {
  const Result<StoreUrl> url = parse_store_url(text);
  if (!url) {
    fuzz::must(fuzz::is_one_line(url.error().message), "an error is one line");
    fuzz::must(!url.error().hint.empty(), "an error contains the fix");
    return;
  }
  const Result<StoreUrl> again = parse_store_url(written(*url));
  fuzz::must(again.ok(), "an accepted URL can be written and parsed again");
  fuzz::must(*again == *url, "the parsed URLs are the same");
  if (url->kind == StoreUrl::Kind::redis)
    fuzz::must(url->port != 0 && !url->host.empty(), "a server has an address");
}

void keeps_the_password(const std::string& text) {
  const Result<StoreUrl> url = parse_store_url(text);
  if (url) {
    // Accepted, so it was not parsed as a password; only the path of a file store may contain it.
    fuzz::must(url->kind == StoreUrl::Kind::file, "a password in the URL of a server is refused");
    return;
  }
  fuzz::must(!fuzz::contains(url.error().message + url.error().hint, kPassword),
             "a password is not repeated");
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* bytes, std::size_t size) {
  const std::string_view text = fuzz::text_of(bytes, size);
  understood_alike(text);
  // scheme://user + :password@ + rest, divided at a position from the input.
  const std::size_t scheme = text.find("://");
  if (scheme == std::string_view::npos) return 0;
  const std::size_t cut = scheme + 3 + (text.size() - scheme - 3) / 2;
  std::string with_password(text.substr(0, cut));
  with_password += ":" + std::string(kPassword) + "@" + std::string(text.substr(cut));
  keeps_the_password(with_password);
  return 0;
}

// SPDX-License-Identifier: Apache-2.0
// URLs of stores. Oracles: an accepted URL that is written again gives the same parts; a password
// is refused in every place and no error contains it; messages are one line.
#include "base/result.h"
#include "core/store_url.h"
#include "fuzz/oracle.h"

namespace {

using namespace cronlatch;

constexpr std::string_view kPassword = "c4n4ry-Pa55";

std::string written_quorum(const StoreUrl& url) {
  std::string text;
  for (const StoreHost& host : url.hosts)
    text += (text.empty() ? "" : ",") + std::string(url.scheme) + "://" +
            (url.user.empty() ? "" : url.user + "@") + host.where() + "/" + std::to_string(url.db);
  return text;
}

std::string written(const StoreUrl& url) {
  if (url.layout == StoreLayout::quorum) return written_quorum(url);
  std::string text = std::string(url.scheme) + "://";
  if (url.transport == StoreTransport::local) return text + url.directory;
  if (!url.user.empty()) text += url.user + "@";
  if (url.postgres) return text + show_postgres_target(*url.postgres);
  if (url.hosts.empty()) return text + url.where() + "/" + std::to_string(url.db);
  for (std::size_t i = 0; i < url.hosts.size(); ++i)
    text += (i == 0 ? "" : ",") + url.hosts[i].where();
  if (!url.master.empty()) text += "/" + url.master;
  return text + "/" + std::to_string(url.db);
}

void understood_alike(std::string_view text) {
  const Result<StoreUrl> url = parse_store_url(text);
  if (!url) {
    fuzz::must(fuzz::is_one_line(url.error().message), "an error is one line");
    fuzz::must(!url.error().hint.empty(), "an error says how to fix it");
    return;
  }
  const Result<StoreUrl> again = parse_store_url(written(*url));
  fuzz::must(again.ok(), "what was understood can be written again");
  fuzz::must(*again == *url, "and means the same");
  if (url->transport != StoreTransport::local)
    fuzz::must(url->port != 0 && !url->host.empty(), "a server has an address");
}

void keeps_the_password(const std::string& text) {
  const Result<StoreUrl> url = parse_store_url(text);
  if (url) {
    // Understood as something else than a password: then it must not have looked like one.
    fuzz::must(url->transport == StoreTransport::local,
               "a password in the URL of a server is refused");
    return;
  }
  fuzz::must(!fuzz::contains(url.error().message + url.error().hint, kPassword),
             "a password is never repeated");
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* bytes, std::size_t size) {
  const std::string_view text = fuzz::text_of(bytes, size);
  understood_alike(text);
  // scheme://user + :password@ + rest, cut where the input says.
  const std::size_t scheme = text.find("://");
  if (scheme == std::string_view::npos) return 0;
  const std::size_t cut = scheme + 3 + (text.size() - scheme - 3) / 2;
  std::string with_password(text.substr(0, cut));
  with_password += ":" + std::string(kPassword) + "@" + std::string(text.substr(cut));
  keeps_the_password(with_password);
  return 0;
}

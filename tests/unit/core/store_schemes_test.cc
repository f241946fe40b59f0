// SPDX-License-Identifier: Apache-2.0
// The table of store schemes and the functions that read it.
#include "core/store_schemes.h"

#include <gtest/gtest.h>

#include <set>

namespace cronlatch {
namespace {

TEST(StoreSchemes, TransportFollowsTheScheme) {
  EXPECT_EQ(store_transport(""), StoreTransport::local);
  EXPECT_EQ(store_transport("file:///x"), StoreTransport::local);
  EXPECT_EQ(store_transport("redis://x"), StoreTransport::plain);
  EXPECT_EQ(store_transport("redis+sentinel://x"), StoreTransport::plain);
  EXPECT_EQ(store_transport("rediss://x"), StoreTransport::tls);
  EXPECT_EQ(store_transport("rediss+cluster://x"), StoreTransport::tls);
  EXPECT_EQ(store_transport("postgres://x"), StoreTransport::unknown);
  EXPECT_EQ(store_transport("http://x"), StoreTransport::unknown);
}

TEST(StoreSchemes, EachRowIsCompleteAndItsNameIsUnique) {
  std::set<std::string_view> names;
  for (const StoreScheme& scheme : store_schemes()) {
    EXPECT_TRUE(names.insert(scheme.name).second) << scheme.name;
    EXPECT_EQ(scheme.is_supported, !scheme.description.empty()) << scheme.name;
    const std::string start = std::string(scheme.name) + "://";
    EXPECT_EQ(scheme.is_supported, scheme.syntax.starts_with(start)) << scheme.name;
    EXPECT_EQ(scheme.is_supported, scheme.example.starts_with(start)) << scheme.name;
    EXPECT_EQ(find_store_scheme(start + "x"), &scheme);
  }
}

TEST(StoreSchemes, ListContainsPostgresAmongThoseThatSelectTheTransportInTheUrl) {
  EXPECT_EQ(list_store_schemes({StoreTransport::tls, StoreTransport::unknown}),
            "rediss://, rediss+sentinel://, rediss+cluster:// or postgres://");
}

TEST(StoreSchemes, ListContainsTheSupportedSchemesWithTheTransports) {
  using T = StoreTransport;
  EXPECT_EQ(list_store_schemes({T::local, T::tls}),
            "file://, rediss://, rediss+sentinel:// or rediss+cluster://");
  EXPECT_EQ(list_store_schemes({T::plain}), "redis://, redis+sentinel:// or redis+cluster://");
  EXPECT_EQ(list_store_schemes({T::plain, T::tls}, StoreLayout::sentinel),
            "redis+sentinel:// or rediss+sentinel://");
}

TEST(StoreSchemes, LayoutFollowsTheScheme) {
  EXPECT_EQ(store_layout(""), StoreLayout::single);
  EXPECT_EQ(store_layout("http://x"), StoreLayout::single);
  EXPECT_EQ(store_layout("redis://x"), StoreLayout::single);
  EXPECT_EQ(store_layout("rediss+sentinel://x/m"), StoreLayout::sentinel);
  EXPECT_EQ(store_layout("redis+cluster://x"), StoreLayout::cluster);
}

TEST(StoreSchemes, ExamplesContainSeveralServersOnlyWithTls) {
  EXPECT_EQ(store_url_examples(),
            "file:///run/cronlatch, redis://redis.example.com:6379/0, "
            "rediss://user@redis.example.com, "
            "rediss+sentinel://user@s1.example.com,s2.example.com,s3.example.com/mymaster, "
            "rediss+cluster://user@n1.example.com,n2.example.com or "
            "postgres://cronlatch@db.example.com/cronlatch");
}

}  // namespace
}  // namespace cronlatch

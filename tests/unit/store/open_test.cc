// SPDX-License-Identifier: Apache-2.0
// Every scheme of core/store_schemes.cc is opened by the store, or reserved.
#include "store/open.h"

#include <gtest/gtest.h>

#include <algorithm>

namespace cronlatch {
namespace {

TEST(OpenStore, HasAnOpenerForEachSupportedSchemeAndForNoOther) {
  for (const StoreScheme& scheme : store_schemes()) {
    const auto openers = store_openers();
    const auto count =
        std::count_if(openers.begin(), openers.end(),
                      [&](const StoreOpener& opener) { return opener.scheme == scheme.name; });
    EXPECT_EQ(count, scheme.is_supported ? 1 : 0) << scheme.name;
  }
  for (const StoreOpener& opener : store_openers())
    EXPECT_NE(find_store_scheme(opener.scheme), nullptr) << opener.scheme;
}

TEST(OpenStore, OpensTheExampleOfEachSupportedScheme) {
  for (const StoreScheme& scheme : store_schemes()) {
    if (!scheme.is_supported) continue;
    StoreSpec spec;
    spec.url = scheme.example;
    const auto store = open_store(spec);
    ASSERT_TRUE(store.ok()) << scheme.name << ": " << store.error().message;
    EXPECT_EQ((*store)->shared(), scheme.transport != StoreTransport::local) << scheme.name;
  }
}

TEST(OpenStore, RefusesAClientCertificateWithoutItsKey) {
  StoreSpec spec;
  spec.url = "rediss://h";
  spec.tls_cert = "/cert.pem";
  const auto store = open_store(spec);
  ASSERT_FALSE(store.ok());
  EXPECT_EQ(store.error().code, Code::config);
  EXPECT_EQ(store.error().message, "tls-cert is set without tls-key");
}

}  // namespace
}  // namespace cronlatch

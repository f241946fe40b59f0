// SPDX-License-Identifier: Apache-2.0
// SCRAM-SHA-256 with the example of RFC 7677, section 3, without its user name: PostgreSQL has the
// name from the startup message. The expected values were computed with Python's hmac and hashlib,
// which also give the values of the RFC for its user name.
#include "store/postgres/scram.h"

#include <gtest/gtest.h>

namespace cronlatch::postgres {
namespace {

const Secret kPassword("pencil");
constexpr const char* kNonce = "rOprNGfwEbeRWgbNEkqO";
constexpr const char* kServerFirst =
    "r=rOprNGfwEbeRWgbNEkqO%hvYDpWUa2RaTCAfuxFIlj)hNlF$k0,s=W22ZaJ0SNY7soEsUEjb6gQ==,i=4096";

TEST(Scram, AnswersAndVerifiesTheServer) {
  Scram scram(kPassword, kNonce);
  EXPECT_EQ(scram.first(), "n,,n=,r=rOprNGfwEbeRWgbNEkqO");
  const auto answer = scram.answer(kServerFirst);
  ASSERT_TRUE(answer);
  EXPECT_EQ(*answer,
            "c=biws,r=rOprNGfwEbeRWgbNEkqO%hvYDpWUa2RaTCAfuxFIlj)hNlF$k0,"
            "p=qvT2SWdEH5Q06albL+hjSYuUhCG7VndFyzIb7CK4n9k=");
  EXPECT_TRUE(scram.is_proved("v=3HO6Qt1M4MKJrmlKaoOqLAI0/0TV0HZe7J9H3MBtSOg="));
  EXPECT_FALSE(scram.is_proved("v=AAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAA="));
  EXPECT_FALSE(scram.is_proved("v="));
  EXPECT_FALSE(scram.is_proved(""));
  EXPECT_FALSE(scram.is_proved("e=other-error"));
}

// Each answer costs up to a million hashes.
TEST(Scram, AnswersOnce) {
  Scram scram(kPassword, kNonce);
  EXPECT_TRUE(scram.answer(kServerFirst));
  EXPECT_FALSE(scram.answer(kServerFirst));
}

TEST(Scram, DoesNotAcceptAProofBeforeTheAnswer) {
  EXPECT_FALSE(Scram(kPassword, kNonce).is_proved("v="));
}

TEST(Scram, RefusesInvalidMessages) {
  for (const char* message :
       {"", "r=", "r=other,s=QQ==,i=1", "r=rOprNGfwEbeRWgbNEkqO,s=QQ==,i=1",
        "r=rOprNGfwEbeRWgbNEkqOx,s=!,i=1", "r=rOprNGfwEbeRWgbNEkqOx,s=QQ==",
        "r=rOprNGfwEbeRWgbNEkqOx,s=QQ==,i=0", "r=rOprNGfwEbeRWgbNEkqOx,s=QQ==,i=-1",
        "r=rOprNGfwEbeRWgbNEkqOx,s=QQ==,i=1000001", "r=rOprNGfwEbeRWgbNEkqOx,s=QQ==,i=99999999999",
        "r=rOprNGfwEbeRWgbNEkqOx,i=1,s=QQ==", "m=x,r=rOprNGfwEbeRWgbNEkqOx,s=QQ==,i=1"}) {
    Scram scram(kPassword, kNonce);
    EXPECT_FALSE(scram.answer(message)) << message;
  }
}

TEST(Scram, HasADifferentNonceEachTime) {
  const auto one = random_nonce();
  const auto two = random_nonce();
  ASSERT_TRUE(one && two);
  EXPECT_EQ(one->size(), 24u);
  EXPECT_EQ(one->find(','), std::string::npos);
  EXPECT_NE(*one, *two);
}

}  // namespace
}  // namespace cronlatch::postgres

// SPDX-License-Identifier: Apache-2.0
// Hash slots of keys, redirections, ranges of hash slots, and names of nodes.
#include "store/redis/cluster_reply.h"

#include <gtest/gtest.h>

#include "store/redis/node_name.h"

namespace cronlatch::redis {
namespace {

Resp text(std::string value) { return {.type = Resp::Type::text, .text = std::move(value)}; }
Resp number(std::int64_t value) { return {.type = Resp::Type::integer, .integer = value}; }
Resp array(std::vector<Resp> elements) {
  return {.type = Resp::Type::array, .elements = std::move(elements)};
}

TEST(HashSlot, IsThatOfTheSpecification) {
  EXPECT_EQ(hash_slot_of("123456789"), 0x31C3);
  EXPECT_EQ(hash_slot_of(""), 0);
  EXPECT_EQ(hash_slot_of("foo"), 12182);
}

TEST(HashSlot, IsThatOfTheHashTag) {
  EXPECT_EQ(hash_slot_of("cronlatch:{shop/report}"), hash_slot_of("shop/report"));
  EXPECT_EQ(hash_slot_of("cronlatch:{shop/report}:stats"), hash_slot_of("{shop/report}"));
  EXPECT_NE(hash_slot_of("{}a"), hash_slot_of("{}b")) << "an empty tag is none";
  EXPECT_EQ(hash_slot_of("{a}{b}"), hash_slot_of("a"));
}

TEST(Redirection, IsParsed) {
  using Kind = Redirection::Kind;
  EXPECT_EQ(parse_redirection("MOVED 3999 10.0.0.1:6381"),
            (Redirection{Kind::moved, {"10.0.0.1", 6381}}));
  EXPECT_EQ(parse_redirection("ASK 1 node.example.com:7000"),
            (Redirection{Kind::ask, {"node.example.com", 7000}}));
  EXPECT_EQ(parse_redirection("MOVED 1 fd00::1:7000"),
            (Redirection{Kind::moved, {"fd00::1", 7000}}));
  EXPECT_EQ(parse_redirection("MOVED 1 :7000"), (Redirection{Kind::moved, {"", 7000}}));
}

TEST(Redirection, ThatIsInvalidIsNone) {
  for (const char* wrong :
       {"", "MOVED", "MOVED ", "MOVED 1", "MOVED 10.0.0.1:6381", "MOVED 1 host", "MOVED 1 h:0",
        "MOVED 1 h:65536", "MOVED 1 h:x", "MOVED 1 a/b:1", "ERR MOVED 1 h:1", "ask 1 h:1"})
    EXPECT_FALSE(parse_redirection(wrong)) << wrong;
}

TEST(HashSlots, AreParsedWithTheMasterOfEachRange) {
  const Resp answer =
      array({array({number(0), number(8191), array({text("10.0.0.1"), number(7000), text("id")}),
                    array({text("10.0.0.2"), number(7001), text("id")})}),
             array({number(8192), number(16383), array({Resp{}, number(7002), text("id")})})});
  const auto ranges = parse_hash_slots(answer);
  ASSERT_TRUE(ranges);
  EXPECT_EQ(*ranges,
            (std::vector<HashSlotRange>{{0, 8191, {"10.0.0.1", 7000}}, {8192, 16383, {"", 7002}}}));
  EXPECT_EQ(uncovered_hash_slots(*ranges), 0U);
  EXPECT_EQ(uncovered_hash_slots({{0, 16382, {"h", 1}}}), 1U);
  EXPECT_EQ(uncovered_hash_slots({}), kHashSlots);
}

TEST(HashSlots, ThatAreInvalidAreNone) {
  const Resp node = array({text("h"), number(1)});
  EXPECT_FALSE(parse_hash_slots(text("x")));
  EXPECT_FALSE(parse_hash_slots(array({array({number(0), number(1)})})));
  EXPECT_FALSE(parse_hash_slots(array({array({number(2), number(1), node})})));
  EXPECT_FALSE(parse_hash_slots(array({array({number(-1), number(1), node})})));
  EXPECT_FALSE(parse_hash_slots(array({array({number(0), number(16384), node})})));
  EXPECT_FALSE(parse_hash_slots(array({array({number(0), number(1), array({text("h")})})})));
  EXPECT_FALSE(
      parse_hash_slots(array({array({number(0), number(1), array({text("h"), number(0)})})})));
}

TEST(NamedMaster, IsParsedOrRefused) {
  EXPECT_EQ(parse_master(array({text("10.0.0.1"), text("6379")})), (StoreHost{"10.0.0.1", 6379}));
  EXPECT_EQ(parse_master(array({text("fd00::1"), text("1")})), (StoreHost{"fd00::1", 1}));
  EXPECT_FALSE(parse_master(array({text("a b"), text("1")})));
  EXPECT_FALSE(parse_master(array({text("[fd00::1]"), text("1")})));
  EXPECT_FALSE(parse_master(array({text("h"), text("")})));
  EXPECT_FALSE(parse_master(array({text("h")})));
  EXPECT_FALSE(parse_master(Resp{}));
}

}  // namespace
}  // namespace cronlatch::redis

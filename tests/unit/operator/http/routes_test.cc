// SPDX-License-Identifier: Apache-2.0
#include "operator/http/routes.h"

#include <gtest/gtest.h>

namespace cronlatch::op {
namespace {

HttpHandler routes() {
  const auto says = [](std::string text) {
    return [text](const HttpRequest&) { return HttpResponse{.body = text}; };
  };
  return dispatch({{"GET", "/page", "", says("read")},
                   {"POST", "/page", "application/json", says("written")},
                   {"POST", "/form", "application/json", says("sent")}});
}

HttpRequest request(std::string method, std::string path, std::string type = "") {
  return {.method = std::move(method),
          .path = std::move(path),
          .content_type = std::move(type),
          .body = ""};
}

TEST(Routes, ChooseByPathAndMethod) {
  EXPECT_EQ(routes()(request("GET", "/page")).body, "read");
  EXPECT_EQ(routes()(request("POST", "/page", "application/json")).body, "written");
}

TEST(Routes, AnswerHeadLikeGet) { EXPECT_EQ(routes()(request("HEAD", "/page")).status, 200); }

TEST(Routes, MatchPathsExactly) {
  for (const char* path : {"", "/", "/page/", "/pag", "/page/x", "page", "/PAGE"}) {
    EXPECT_EQ(routes()(request("GET", path)).status, 404) << path;
  }
}

TEST(Routes, ListTheAllowedMethodsOfAPath) {
  const HttpResponse both = routes()(request("DELETE", "/page"));
  const HttpResponse one = routes()(request("GET", "/form"));
  EXPECT_EQ(both.status, 405);
  EXPECT_EQ(both.allow, "GET, HEAD, POST");
  EXPECT_EQ(one.status, 405);
  EXPECT_EQ(one.allow, "POST");
}

TEST(Routes, RequireTheContentType) {
  for (const char* type : {"application/json", "Application/JSON",
                           "application/json; charset=utf-8", "application/json ;q=1"}) {
    EXPECT_EQ(routes()(request("POST", "/form", type)).status, 200) << type;
  }
  for (const char* type : {"", "text/plain", "application/jsonx", "application/js"}) {
    EXPECT_EQ(routes()(request("POST", "/form", type)).status, 415) << type;
  }
}

}  // namespace
}  // namespace cronlatch::op

// SPDX-License-Identifier: Apache-2.0
#include "config/credentials.h"

#include <gtest/gtest.h>

#include "fake_files.h"

namespace cronlatch {
namespace {

const FakeFiles kSecretDir = {{"/s/username", "bob\n"},
                              {"/s/password", "hunter2\n"},
                              {"/s/ca.crt", "CA"},
                              {"/s/tls.crt", "C"},
                              {"/s/tls.key", "K"}};

Options with(const std::string& store, const std::string& dir = "") {
  Options options;
  options.store = store;
  options.credentials_dir = dir;
  return options;
}

TEST(Credentials, AreReadFromTheDirectory) {
  Options options = with("rediss://h", "/s");
  const auto found = find_credentials(options, std::nullopt, kSecretDir);
  ASSERT_TRUE(found.ok());
  EXPECT_EQ(options.redis_username, "bob");
  EXPECT_EQ(found->password.reveal(), "hunter2");
  EXPECT_EQ(found->password_origin, "/s/password");
  EXPECT_EQ(options.tls_ca, "/s/ca.crt");
  EXPECT_EQ(options.tls_cert, "/s/tls.crt");
  EXPECT_EQ(options.tls_key, "/s/tls.key");
  EXPECT_EQ(found->origins.size(), 4U);
}

// It would be treated as a store without a login.
TEST(Credentials, ADirectoryThatDoesNotExistIsAnError) {
  FakeFiles files;
  files.missing_directory = "/s";
  Options options = with("rediss://h", "/s");
  const auto found = find_credentials(options, std::nullopt, files);
  ASSERT_FALSE(found.ok());
  EXPECT_EQ(found.error().code, Code::config);
  EXPECT_EQ(found.error().message, "credentials-dir: \"/s\" is not a directory");
  Options local = with("file:///run/x", "/s");
  EXPECT_TRUE(find_credentials(local, std::nullopt, files).ok());
}

TEST(Credentials, LeaveOutWhatTheDirectoryLacks) {
  Options options = with("rediss://h", "/s");
  const auto found = find_credentials(options, std::nullopt, FakeFiles{{"/s/ca.crt", "CA"}});
  ASSERT_TRUE(found.ok());
  EXPECT_EQ(options.redis_username, "");
  EXPECT_TRUE(found->password.empty());
  EXPECT_EQ(options.tls_ca, "/s/ca.crt");
  EXPECT_EQ(options.tls_cert, "");
}

TEST(Credentials, PreferOptionsToTheDirectory) {
  Options options = with("rediss://h", "/s");
  options.redis_username = "alice";
  options.tls_ca = "/mine.pem";
  options.password_file = "/p";
  FakeFiles files = {
      {"/s/username", "bob"}, {"/s/ca.crt", "CA"}, {"/s/password", "dir"}, {"/p", "file"}};
  const auto found = find_credentials(options, std::nullopt, files);
  ASSERT_TRUE(found.ok());
  EXPECT_EQ(options.redis_username, "alice");
  EXPECT_EQ(options.tls_ca, "/mine.pem");
  EXPECT_EQ(found->password.reveal(), "file");
  EXPECT_TRUE(found->origins.empty());
}

TEST(Credentials, PreferTheFileToTheVariableAndWarn) {
  Options options = with("redis://h");
  options.password_file = "/p";
  const auto found = find_credentials(options, "from-variable", FakeFiles{{"/p", "from-file"}});
  ASSERT_TRUE(found.ok());
  EXPECT_EQ(found->password.reveal(), "from-file");
  ASSERT_EQ(found->warnings.size(), 1U);
  EXPECT_EQ(found->warnings[0].event, "password_ignored");
}

TEST(Credentials, PreferTheVariableToTheDirectory) {
  Options options = with("redis://h", "/s");
  const auto found = find_credentials(options, "from-variable", kSecretDir);
  ASSERT_TRUE(found.ok());
  EXPECT_EQ(found->password.reveal(), "from-variable");
  EXPECT_EQ(found->password_origin, "environment CRONLATCH_PASSWORD");
  EXPECT_TRUE(found->warnings.empty());
}

TEST(Credentials, TakeAnEmptyVariableForNone) {
  Options options = with("redis://h", "/s");
  const auto found = find_credentials(options, "", kSecretDir);
  ASSERT_TRUE(found.ok());
  EXPECT_EQ(found->password.reveal(), "hunter2");
}

TEST(Credentials, StripOneNewlineAndNothingElse) {
  for (const auto& [text, want] :
       std::vector<std::pair<std::string, std::string>>{{"pw", "pw"},
                                                        {"pw\n", "pw"},
                                                        {"pw\r\n", "pw"},
                                                        {" pw \n", " pw "},
                                                        {"pw\n\n", "pw\n"},
                                                        {"p\nw\n", "p\nw"}}) {
    Options options = with("redis://h");
    options.password_file = "/p";
    const auto found = find_credentials(options, std::nullopt, FakeFiles{{"/p", text}});
    ASSERT_TRUE(found.ok());
    EXPECT_EQ(found->password.reveal(), want);
  }
}

TEST(Credentials, NameThePathAndTheReasonOfAnUnreadableFile) {
  FakeFiles files;
  files.errors["/p"] = EACCES;
  files.errors["/s/password"] = EISDIR;
  Options file = with("redis://h"), dir = with("redis://h", "/s"), missing = with("redis://h");
  file.password_file = "/p";
  missing.password_file = "/none";
  EXPECT_EQ(find_credentials(file, std::nullopt, files).error(),
            (Error{Code::config, "password-file: cannot read \"/p\": Permission denied",
                   "check the path, its owner and its mode"}));
  EXPECT_EQ(find_credentials(dir, std::nullopt, files).error().message,
            "credentials-dir: cannot read \"/s/password\": Is a directory");
  EXPECT_EQ(find_credentials(missing, std::nullopt, files).error().message,
            "password-file: cannot read \"/none\": No such file or directory");
}

TEST(Credentials, RefuseAnEmptyPasswordFile) {
  for (const char* text : {"", "\n", "\r\n"}) {
    Options options = with("redis://h");
    options.password_file = "/p";
    const auto found = find_credentials(options, std::nullopt, FakeFiles{{"/p", text}});
    ASSERT_FALSE(found.ok());
    EXPECT_EQ(found.error().message, "password-file: \"/p\" is empty");
    EXPECT_EQ(found.error().code, Code::config);
  }
}

TEST(Credentials, AreNotReadForAFileStore) {
  for (const char* store : {"", "file:///run/x"}) {
    Options options = with(store, "/s");
    const FakeFiles files = {{"/s/username", "bob"}, {"/s/password", "x"}, {"/s/ca.crt", "CA"}};
    const auto found = find_credentials(options, "x", files);
    ASSERT_TRUE(found.ok());
    EXPECT_TRUE(found->password.empty());
    EXPECT_TRUE(files.asked.empty());
  }
}

TEST(Credentials, AreNoCertificatesForAStoreWithoutTls) {
  Options options = with("redis://h", "/s");
  const auto found = find_credentials(options, std::nullopt, kSecretDir);
  ASSERT_TRUE(found.ok());
  EXPECT_EQ(options.redis_username, "bob");
  EXPECT_EQ(options.tls_ca + options.tls_cert + options.tls_key, "");
}

TEST(Credentials, AreReadAgainAsTheFilesAreThen) {
  Options options = with("rediss://h", "/s");
  const CredentialReader reader(options, std::nullopt);
  ASSERT_TRUE(find_credentials(options, std::nullopt, kSecretDir).ok());
  // another password, another user, and no client certificate any more
  const FakeFiles rotated = {{"/s/username", "alice"}, {"/s/password", "s3same\n"}};
  const auto now = reader.read(rotated);
  ASSERT_TRUE(now.ok());
  EXPECT_EQ(now->username, "alice");
  EXPECT_EQ(now->password.reveal(), "s3same");
  EXPECT_EQ(now->tls_ca, "");
  EXPECT_EQ(now->tls_cert, "");
  EXPECT_EQ(now->tls_key, "");
}

TEST(Credentials, AreReadAgainInTheSameOrderOfPreference) {
  Options options = with("redis://h", "/s");
  options.redis_username = "carol";
  const CredentialReader reader(options, "from-the-variable");
  const auto now = reader.read(kSecretDir);
  ASSERT_TRUE(now.ok());
  EXPECT_EQ(now->username, "carol");
  EXPECT_EQ(now->password.reveal(), "from-the-variable");
}

TEST(Credentials, ThatAreBeingReplacedAreNamed) {
  const CredentialReader reader(with("rediss://h", "/s"), std::nullopt);
  const auto empty = reader.read(FakeFiles{{"/s/password", ""}});
  ASSERT_FALSE(empty.ok());
  EXPECT_EQ(empty.error().code, Code::config);
  EXPECT_NE(empty.error().message.find("/s/password"), std::string::npos);
  const auto without_key = reader.read(FakeFiles{{"/s/tls.crt", "C"}});
  ASSERT_FALSE(without_key.ok());
  EXPECT_NE(without_key.error().message.find("tls-cert is set without tls-key"), std::string::npos);
}

}  // namespace
}  // namespace cronlatch

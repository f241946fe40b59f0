// SPDX-License-Identifier: Apache-2.0
// The control of the test that no code is loaded: a static program that resolves a name and
// prepares TLS with the defaults of the libraries. These follow the configuration of the image.
#include <netdb.h>
#include <openssl/ssl.h>

int main() {
  addrinfo* found = nullptr;
  getaddrinfo("nobody.invalid", "1", nullptr, &found);
  return SSL_CTX_new(TLS_client_method()) != nullptr ? 0 : 1;
}

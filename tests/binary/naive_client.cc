// SPDX-License-Identifier: Apache-2.0
// The control of the "nothing is dlopened" test: a static program that resolves and prepares TLS
// the ordinary way, and so does what the surrounding image tells it to.
#include <netdb.h>
#include <openssl/ssl.h>

int main() {
  addrinfo* found = nullptr;
  getaddrinfo("nobody.invalid", "1", nullptr, &found);
  return SSL_CTX_new(TLS_client_method()) != nullptr ? 0 : 1;
}

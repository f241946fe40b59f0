// SPDX-License-Identifier: Apache-2.0
// hold SOCKET: the command under the lock. It connects to the socket, which reports the start, and
// ends when the other side closes the connection.
#include <string.h>
#include <sys/socket.h>
#include <sys/un.h>
#include <unistd.h>

int main(int argc, char** argv) {
  struct sockaddr_un address = {.sun_family = AF_UNIX};
  if (argc != 2 || strlen(argv[1]) >= sizeof address.sun_path) return 64;
  strcpy(address.sun_path, argv[1]);
  const int fd = socket(AF_UNIX, SOCK_STREAM, 0);
  if (fd < 0 || connect(fd, (struct sockaddr*)&address, sizeof address) != 0) return 69;
  char byte;
  return read(fd, &byte, 1) < 0 ? 70 : 0;
}

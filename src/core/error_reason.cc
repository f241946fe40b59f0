// SPDX-License-Identifier: Apache-2.0
#include "core/error_reason.h"

namespace cronlatch {

Reason reason_of(Code code) {
  switch (code) {
    case Code::auth:
      return Reason::auth;
    case Code::acl:
      return Reason::acl;
    case Code::tls:
      return Reason::tls;
    case Code::config:
    case Code::usage:
      return Reason::config;
    case Code::unreachable:
    case Code::system:
    case Code::bug:
    case Code::exec_denied:
    case Code::exec_missing:
      return Reason::unreachable;
  }
  return Reason::unreachable;
}

}  // namespace cronlatch

-- SPDX-License-Identifier: Apache-2.0
REVOKE ALL ON ALL TABLES IN SCHEMA cronlatch FROM PUBLIC;
REVOKE ALL ON ALL FUNCTIONS IN SCHEMA cronlatch FROM PUBLIC;
GRANT USAGE ON SCHEMA cronlatch TO cronlatch_user;
GRANT EXECUTE ON FUNCTION
  cronlatch.acquire, cronlatch.renew, cronlatch.release, cronlatch.revoke,
  cronlatch.require_standbys, cronlatch.hello, cronlatch.view, cronlatch.view_slots,
  cronlatch.view_counters
  TO cronlatch_user;

COMMIT;

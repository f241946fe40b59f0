-- SPDX-License-Identifier: Apache-2.0
-- One row. A program of version N can use a schema with oldest_program <= N. Version 2 added the
-- limits of names and sizes, version 3 the queue, which earlier programs do not know, version 4
-- several slots: programs of version 3 have one slot.
CREATE TABLE IF NOT EXISTS cronlatch.version (
  only_row boolean PRIMARY KEY DEFAULT true CHECK (only_row),
  version int NOT NULL,
  oldest_program int NOT NULL
);
INSERT INTO cronlatch.version (version, oldest_program) VALUES (4, 3)
  ON CONFLICT (only_row) DO UPDATE SET version = 4, oldest_program = 3;

-- One row for each lock: its last grant. State none: no grant, but other data. State several: the
-- lock has several slots, and its grants are in cronlatch.slots. `fence` is then the highest of them,
-- `acquired` the time of the last one, and the other columns of a grant are empty.
CREATE TABLE IF NOT EXISTS cronlatch.locks (
  id bigint GENERATED ALWAYS AS IDENTITY PRIMARY KEY,
  -- Collation C: the order of keys does not depend on the system, whose library may change.
  prefix text COLLATE "C" NOT NULL,
  lock text COLLATE "C" NOT NULL,
  state text NOT NULL DEFAULT 'none',
  owner text NOT NULL DEFAULT '',
  attempt bigint NOT NULL DEFAULT 0,
  holder text NOT NULL DEFAULT '',
  job text NOT NULL DEFAULT '',
  attempt_group text NOT NULL DEFAULT '',
  once text NOT NULL DEFAULT '',
  fence bigint NOT NULL DEFAULT 0,
  stole bigint NOT NULL DEFAULT 0,    -- fence of the expired grant that was taken over; 0: none
  acquired bigint NOT NULL DEFAULT 0,
  expires bigint NOT NULL DEFAULT 0,  -- of the lease, or of the min-hold
  ttl bigint NOT NULL DEFAULT 0,      -- the length that set expires
  min_hold bigint NOT NULL DEFAULT 0,
  born bigint NOT NULL DEFAULT 0,
  used_day bigint NOT NULL DEFAULT 0, -- days since 1970: last change
  group_count int NOT NULL DEFAULT 0, -- rows of this lock in cronlatch.groups
  UNIQUE (prefix, lock)
) WITH (fillfactor = 70);
CREATE INDEX IF NOT EXISTS locks_used_day ON cronlatch.locks (used_day);
-- A free lock is reserved for the first run that waits; '' without a reservation.
ALTER TABLE cronlatch.locks ADD COLUMN IF NOT EXISTS turn_owner text NOT NULL DEFAULT '';
ALTER TABLE cronlatch.locks ADD COLUMN IF NOT EXISTS turn_until bigint NOT NULL DEFAULT 0;
ALTER TABLE cronlatch.locks ADD COLUMN IF NOT EXISTS slots int NOT NULL DEFAULT 1;
ALTER TABLE cronlatch.locks DROP CONSTRAINT IF EXISTS locks_state_check;  -- of version 3

-- The slots of a lock that has several, numbered from 1, with the columns of a grant. State none: not
-- granted yet. A lock with one slot has no rows here.
CREATE TABLE IF NOT EXISTS cronlatch.slots (
  lock_id bigint NOT NULL REFERENCES cronlatch.locks (id) ON DELETE CASCADE,
  slot int NOT NULL,
  state text NOT NULL DEFAULT 'none',
  owner text NOT NULL DEFAULT '',
  attempt bigint NOT NULL DEFAULT 0,
  holder text NOT NULL DEFAULT '',
  job text NOT NULL DEFAULT '',
  attempt_group text NOT NULL DEFAULT '',
  once text NOT NULL DEFAULT '',
  fence bigint NOT NULL DEFAULT 0,
  stole bigint NOT NULL DEFAULT 0,
  acquired bigint NOT NULL DEFAULT 0,
  expires bigint NOT NULL DEFAULT 0,
  ttl bigint NOT NULL DEFAULT 0,
  min_hold bigint NOT NULL DEFAULT 0,
  turn_owner text NOT NULL DEFAULT '',
  turn_until bigint NOT NULL DEFAULT 0,
  PRIMARY KEY (lock_id, slot)
) WITH (fillfactor = 70);

CREATE TABLE IF NOT EXISTS cronlatch.counters (
  lock_id bigint NOT NULL REFERENCES cronlatch.locks (id) ON DELETE CASCADE,
  job text COLLATE "C" NOT NULL,
  name text COLLATE "C" NOT NULL,
  value bigint NOT NULL CHECK (value >= 0),
  PRIMARY KEY (lock_id, job, name)
) WITH (fillfactor = 70);

-- Attempt groups that were granted: kept for a day after `kept`.
CREATE TABLE IF NOT EXISTS cronlatch.groups (
  lock_id bigint NOT NULL REFERENCES cronlatch.locks (id) ON DELETE CASCADE,
  name text COLLATE "C" NOT NULL,
  kept bigint NOT NULL,
  PRIMARY KEY (lock_id, name)
);
CREATE INDEX IF NOT EXISTS groups_kept
  ON cronlatch.groups (lock_id, kept, name);

-- Run identities that are finished.
CREATE TABLE IF NOT EXISTS cronlatch.done (
  lock_id bigint NOT NULL REFERENCES cronlatch.locks (id) ON DELETE CASCADE,
  job text COLLATE "C" NOT NULL,
  once text COLLATE "C" NOT NULL,
  finished bigint NOT NULL,
  PRIMARY KEY (lock_id, job, once)
);

-- Final answers to one attempt: r released, x closed, h c d q counted as busy (held, cooling, done,
-- queued), g its attempt group was granted, v its verdict was counted.
CREATE TABLE IF NOT EXISTS cronlatch.answers (
  lock_id bigint NOT NULL REFERENCES cronlatch.locks (id) ON DELETE CASCADE,
  owner text COLLATE "C" NOT NULL,
  attempt bigint NOT NULL,
  answer text NOT NULL,
  kept bigint NOT NULL,
  PRIMARY KEY (lock_id, owner, attempt, answer)
);
ALTER TABLE cronlatch.answers DROP CONSTRAINT IF EXISTS answers_answer_check;  -- of version 2

-- Runs that wait, in the order of their tickets. `asked`: the last request.
CREATE TABLE IF NOT EXISTS cronlatch.queue (
  lock_id bigint NOT NULL REFERENCES cronlatch.locks (id) ON DELETE CASCADE,
  owner text COLLATE "C" NOT NULL,
  ticket bigint NOT NULL,
  asked bigint NOT NULL,
  PRIMARY KEY (lock_id, owner)
) WITH (fillfactor = 50);
CREATE INDEX IF NOT EXISTS queue_ticket ON cronlatch.queue (lock_id, ticket, owner);

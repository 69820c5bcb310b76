-- One row per step of an operator command: `started` before it runs, and its result after it. Both
--   have the same `id`. If a `started` row has no result, the process ended, or the store did not
--   take the second row.
-- Written by: the process that runs the command.
-- Read by: `operator audit`.
-- Append-only: no row is replaced or deleted, and there is no TTL.
-- Duplicates: all rows of one `id` and `result` are equal.
-- No row has an API key or the address of a tracked wallet. `user` and `uid` are what the caller's
--   process said.
CREATE TABLE IF NOT EXISTS operator_actions
(
    id        String COMMENT 'joins the two rows of one command',
    at        DateTime64(3, 'UTC') COMMENT 'when the step happened',
    user      String COMMENT 'operating-system user name of the caller, as its process said',
    uid       Nullable(UInt32) COMMENT 'its numeric user id, likewise',
    command   LowCardinality(String) COMMENT 'for example account credit',
    arguments Array(String) COMMENT 'words behind it, without --reason; of sql a digest of the query',
    reason    String COMMENT 'why, as the operator wrote it',
    result    LowCardinality(String) COMMENT 'started, done, or the error code'
)
ENGINE = MergeTree
ORDER BY (at, id)
COMMENT 'audit log of operator commands'

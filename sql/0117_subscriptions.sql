-- One row per redeemed payment for Pro (rules E5, E6): the plan that it bought, and until when Pro
--   runs since then. A wallet has Pro until the latest `expires_at` of its rows. Append-only.
-- Written by: `POST /billing/pro/check` and `operator deposits assign`, one wallet at a time.
-- Read by: the same, and every Pro view.
-- Duplicates: all rows of one (wallet, idempotency_key) are one redemption. The first one written
--   wins (FINAL), because `version` falls with time.
CREATE TABLE IF NOT EXISTS subscriptions
(
    wallet          String COMMENT 'account, see accounts',
    idempotency_key String COMMENT 'deposit:<signature>:<wallet that paid>:pro',
    plan            LowCardinality(String) COMMENT 'name of the plan, as configured then',
    days            UInt32 COMMENT 'days that it bought',
    amount          UInt64 COMMENT 'USDT paid, in raw units',
    redeemed_at     DateTime64(3, 'UTC') COMMENT 'when the check found it',
    expires_at      UInt64 COMMENT 'unix seconds until which Pro runs: the later of the expiry before and redeemed_at, and the days',
    version         UInt64 COMMENT '2^63 less the unix milliseconds of redeemed_at'
)
ENGINE = ReplacingMergeTree(version)
ORDER BY (wallet, idempotency_key)
COMMENT 'what payments for Pro bought'

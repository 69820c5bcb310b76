-- compatible: adds a table; processes without it deliver nothing
-- One row per place for a webhook of an account (rule M1), of which each account has ten. A new
--   webhook takes a place that is empty, or whose webhook was deleted.
-- Written by: the API (`/me/webhooks`).
-- Read by: the API, and each process of role webhooks every second.
-- Duplicates: the highest `version` wins (FINAL).
CREATE TABLE IF NOT EXISTS webhooks
(
    wallet         String COMMENT 'account, see accounts',
    place          UInt8 COMMENT '1 to 10',
    id             String COMMENT 'UUID by which the customer names the webhook',
    url            String COMMENT 'where deliveries go',
    channel        Enum8('trades' = 1, 'watchlist' = 2, 'signals' = 3) COMMENT 'which messages of the feed',
    wallets        Array(UInt32) COMMENT 'numbers of the wallets whose trades are wanted; empty: all',
    mints          Array(String) COMMENT 'tokens that are wanted; empty: all',
    is_active      Bool COMMENT 'false: the owner has paused it',
    activations    UInt32 COMMENT 'how often the owner has set it active; a higher number ends a pause of the service',
    filters        UInt32 COMMENT 'how often its filter was changed',
    rotations      UInt32 COMMENT 'how often its secret was rotated',
    rotated_at     Nullable(DateTime64(3, 'UTC')) COMMENT 'when it was last rotated; NULL: never',
    replays        UInt32 COMMENT 'how often it was sent back to a cursor, the start included',
    replay_after   String COMMENT 'cursor of the newest of these; empty: from now on',
    tests          UInt32 COMMENT 'how often a test was asked for',
    created_at     DateTime64(3, 'UTC') COMMENT 'when it was made',
    deleted_at     Nullable(DateTime64(3, 'UTC')) COMMENT 'since when nothing is delivered; NULL: it was not deleted',
    version        UInt64 COMMENT 'unix milliseconds of the change, at least one more than before',
    stored_at      DateTime64(3, 'UTC') DEFAULT now64(3) COMMENT 'when the server stored the row'
)
ENGINE = ReplacingMergeTree(version)
ORDER BY (wallet, place)
COMMENT 'Webhooks of accounts'

-- incompatible: an older API serves disabled accounts, and enables one when its key is rotated
-- `accounts` says whether the operator has disabled the account (rule E3). Credits and key stay.
ALTER TABLE accounts
    ADD COLUMN IF NOT EXISTS disabled_at Nullable(DateTime64(3, 'UTC')) COMMENT 'since when the account is disabled; NULL: it is not';

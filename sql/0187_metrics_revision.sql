-- incompatible: an older worker takes the fencing token for the number of refolds
-- The version of metrics begins with a fencing token (rule K15), so it no longer says how often the
--   wallet was folded again. This column does. Rows of earlier versions of the service have no
--   token.
ALTER TABLE wallet_metrics
    ADD COLUMN IF NOT EXISTS revision UInt32 DEFAULT toUInt32(intDiv(version, 4294967296)) COMMENT 'Refolds of the wallet when the row was made' CODEC(ZSTD);

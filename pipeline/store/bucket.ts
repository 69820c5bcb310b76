/** A prefix of a bucket: `s3://BUCKET/PREFIX`, the prefix without slashes at its ends. */
export interface BucketPath {
  readonly bucket: string
  readonly prefix: string
}

/**
 * Parses `s3://BUCKET/PREFIX`. Returns null for any other text, for characters other than letters,
 * digits and `._=-` in the prefix, and for `..`.
 */
export function parseBucketPath(text: string): BucketPath | null {
  const [, bucket, path = ''] =
    /^s3:\/\/([a-z0-9][a-z0-9.-]{1,61}[a-z0-9])(?:\/(.*))?$/.exec(text) ?? []
  if (bucket === undefined) return null
  const prefix = path.replace(/\/$/, '')
  const isPlain = /^([\w=-][\w.=-]*(\/[\w=-][\w.=-]*)*)?$/.test(prefix) && prefix.length <= 200
  return isPlain ? { bucket, prefix } : null
}

/** Returns the name of a bucket in a name of ClickHouse: with `_` for `-` and `.`. */
export const identifierOf = (bucket: string) => bucket.replace(/[.-]/g, '_')

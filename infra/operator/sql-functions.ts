/**
 * Whether a query of `operator sql` may call this function or table function. Allowed are functions
 * that compute from their arguments alone, and aggregates with any combinators (`sumIf`). The list
 * comes from the categories in `system.functions` of ClickHouse 26.7, reviewed name by name,
 * because a category promises nothing. Excluded are functions that read a file, a server, a
 * dictionary or another table, that describe the machine, or that call a function by a name in a
 * string.
 */
export function isAllowedFunction(name: string): boolean {
  if (FUNCTIONS.has(name.toLowerCase())) return true
  let base = name
  while (!AGGREGATES.has(base.toLowerCase())) {
    const shorter = base.replace(COMBINATOR, '')
    if (shorter === base) return false
    base = shorter
  }
  return true
}

const COMBINATOR =
  /(?:If|Array|Map|Distinct|OrDefault|OrNull|Resample|State|SimpleState|Merge|ForEach|ArgMin|ArgMax)$/

function names(...groups: string[]): ReadonlySet<string> {
  return new Set(groups.flatMap((group) => group.toLowerCase().trim().split(/\s+/)))
}

const FUNCTIONS = names(
  // Table functions
  'generateSeries generate_series numbers numbers_mt primes values zeros zeros_mt',
  // Arithmetic, bits, rounding
  `abs divide divideOrNull gcd intDiv intDivOrNull intDivOrZero isFinite isInfinite isNaN lcm minus mod
   modulo moduloOrZero multiply negate plus positiveModulo sqr
   bitAnd bitCount bitNot bitOr bitShiftLeft bitShiftRight bitTest bitXor
   ceil ceiling floor round roundAge roundBankers roundDown roundDuration roundToExp2 trunc truncate
   acos asin atan atan2 cbrt cos e exp exp10 exp2 ln log log10 log1p log2 pi pow power sign sin sqrt tan`,
  // Arrays, maps, tuples
  `array arrayAll arrayAvg arrayCompact arrayConcat arrayCount arrayCumSum arrayCumSumNonNegative
   arrayDifference arrayDistinct arrayDotProduct arrayElement arrayElementOrNull arrayEnumerate
   arrayEnumerateUniq arrayExists arrayFill arrayFilter arrayFirst arrayFirstIndex arrayFirstOrNull
   arrayFlatten arrayFold arrayIntersect arrayJoin arrayLast arrayLastIndex arrayLastOrNull arrayMap
   arrayMax arrayMin arrayPopBack arrayPopFront arrayProduct arrayPushBack arrayPushFront arrayResize
   arrayReverse arrayReverseFill arrayReverseSort arrayReverseSplit arrayShuffle arraySlice arraySort
   arraySplit arrayStringConcat arraySum arrayUniq arrayWithConstant arrayZip countEqual empty flatten
   has hasAll hasAny hasSubstr indexOf length notEmpty range reverse
   map mapAdd mapApply mapConcat mapContains mapContainsKey mapContainsKeyLike mapContainsValue
   mapContainsValueLike mapFilter mapFromArrays mapKeys mapReverseSort mapSort mapSubtract mapUpdate
   mapValues tuple tupleConcat tupleElement tupleMinus tuplePlus untuple`,
  // Comparison, conditions, null
  `equals greater greaterOrEquals in isDistinctFrom isNotDistinctFrom less lessOrEquals notEquals notIn
   globalIn globalNotIn and not or xor clamp greatest if least multiIf caseWithExpression
   assumeNotNull coalesce ifNull isNotNull isNull isZeroOrNull nullIf toNullable exists`,
  // Dates
  `addDays addHours addMinutes addMonths addQuarters addSeconds addWeeks addYears age curdate
   current_date current_timestamp DATE_DIFF DATE_FORMAT DATE_TRUNC dateDiff dateTrunc DAY DAYOFMONTH
   DAYOFWEEK DAYOFYEAR formatDateTime fromUnixTimestamp HOUR makeDate makeDateTime MINUTE MONTH
   monthName now now64 QUARTER SECOND subtractDays subtractHours subtractMinutes subtractMonths
   subtractQuarters subtractSeconds subtractWeeks subtractYears timestamp timestampDiff
   TIMESTAMP_DIFF toDayOfMonth toDayOfWeek
   toDayOfYear today toDaysInMonth toHour toISOWeek toISOYear toLastDayOfMonth toMillisecond toMinute
   toMonday toMonth toQuarter toSecond toStartOfDay toStartOfFifteenMinutes toStartOfFiveMinute
   toStartOfFiveMinutes toStartOfHour toStartOfInterval toStartOfMillisecond toStartOfMinute
   toStartOfMonth toStartOfQuarter toStartOfSecond toStartOfTenMinutes toStartOfWeek toStartOfYear
   toTimeZone toUnixTimestamp toWeek toYear toYearWeek toYYYYMM toYYYYMMDD toYYYYMMDDhhmmss YEAR
   yesterday`,
  // Hashes and encodings
  `base58Decode base58Encode base64Decode base64Encode bin char cityHash64 CRC32 CRC64 hex intHash32
   intHash64 keccak256 MD5 murmurHash3_128 murmurHash3_32 murmurHash3_64 SHA1 SHA224 SHA256 SHA512
   sipHash128 sipHash64 unbin unhex xxHash32 xxHash64`,
  // JSON
  `dynamicElement dynamicType isValidJSON JSON_EXISTS JSON_QUERY JSON_VALUE JSONAllPaths
   JSONAllPathsWithTypes JSONArrayLength JSONExtract JSONExtractArrayRaw JSONExtractBool
   JSONExtractFloat JSONExtractInt JSONExtractKeys JSONExtractKeysAndValues
   JSONExtractKeysAndValuesRaw JSONExtractRaw JSONExtractString JSONExtractUInt JSONHas JSONKey
   JSONLength JSONType toJSONString`,
  // Strings
  `basename concat concat_ws concatWithSeparator countSubstrings countSubstringsCaseInsensitive
   endsWith extract extractAll extractAllGroups extractGroups extractKeyValuePairs ilike initcap
   isValidUTF8 lcase left leftPad leftUTF8 lengthUTF8 like lower lowerUTF8 lpad ltrim match
   multiSearchAny notILike notLike position positionCaseInsensitive positionUTF8 regexpQuoteMeta
   repeat replace replaceAll replaceOne replaceRegexpAll replaceRegexpOne reverseUTF8 right rightPad
   rightUTF8 rpad rtrim splitByChar splitByRegexp splitByString splitByWhitespace startsWith substr
   substring substringIndex substringUTF8 translate trim trimBoth trimLeft trimRight ucase upper
   upperUTF8`,
  // Types
  `accurateCast accurateCastOrNull CAST DATE fromUnixTimestamp64Micro fromUnixTimestamp64Milli
   fromUnixTimestamp64Nano fromUnixTimestamp64Second parseDateTime parseDateTimeBestEffort
   parseDateTimeBestEffortOrNull parseDateTimeOrNull reinterpret reinterpretAsInt64
   reinterpretAsString reinterpretAsUInt64 toBool toDate toDate32 toDateOrNull toDateTime
   toDateTime64 toDateTimeOrNull toDecimal128 toDecimal256 toDecimal32 toDecimal64 toDecimalString
   toFixedString toFloat32 toFloat64 toFloat64OrNull toInt128 toInt16 toInt256 toInt32 toInt64
   toInt64OrNull toInt8 toInterval toIntervalDay toIntervalHour toIntervalMinute toIntervalMonth
   toIntervalQuarter toIntervalSecond toIntervalWeek toIntervalYear toLowCardinality toString
   toTypeName toUInt128 toUInt128OrNull toUInt16 toUInt256 toUInt32 toUInt64 toUInt64OrNull toUInt8
   toUnixTimestamp64Micro toUnixTimestamp64Milli toUnixTimestamp64Nano toUnixTimestamp64Second toUUID`,
  // Rows, results, display
  `bar byteSize currentDatabase formatReadableDecimalSize formatReadableQuantity
   formatReadableSize formatReadableTimeDelta identity ignore materialize rand rand64 rowNumberInAllBlocks
   rowNumberInBlock runningDifference transform version`,
)

const AGGREGATES = names(
  `any any_value anyHeavy anyLast argMax argMin avg avgWeighted BIT_AND BIT_OR BIT_XOR corr count
   covarPop covarSamp cume_dist deltaSum dense_rank entropy exponentialMovingAverage first_value
   groupArray groupArrayLast groupArraySample groupArraySorted groupBitAnd groupBitmap groupBitOr
   groupBitXor groupConcat groupUniqArray histogram lag lagInFrame last_value lead leadInFrame max
   maxIntersections median medianExact medianExactWeighted medianTDigest min nth_value ntile
   percent_rank quantile quantileExact quantileExactExclusive quantileExactHigh
   quantileExactInclusive quantileExactLow quantileExactWeighted quantiles quantilesExact
   quantilesExactExclusive quantilesExactHigh quantilesExactInclusive quantilesExactLow
   quantilesTDigest quantileTDigest rank retention row_number simpleLinearRegression
   skewPop stddevPop stddevSamp sum sumCount topK uniq uniqCombined uniqExact varPop varSamp
   windowFunnel`,
)

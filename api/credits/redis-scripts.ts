/** A script of the meter, by the name it has on the client. */
export type ScriptName =
  | 'meterReign'
  | 'meterCharge'
  | 'meterRefund'
  | 'meterRenewBlocks'
  | 'meterReleaseBlocks'
  | 'meterLoad'
  | 'meterBeginRollUp'
  | 'meterEndRollUp'
  | 'meterInspect'
  | 'meterRolledUp'

/** Whether stream id \`a\` comes after \`b\`. */
const AFTER = `
local function after(a, b)
  local am, as = string.match(a, '(%d+)-(%d+)')
  local bm, bs = string.match(b, '(%d+)-(%d+)')
  am, as, bm, bs = tonumber(am), tonumber(as), tonumber(bm), tonumber(bs)
  return am > bm or (am == bm and as > bs)
end
`

/**
 * The reign of this server: a name that changes whenever another server answers, or the same one
 * after a restart. Accounts that were loaded in another reign are unknown.
 */
const REIGN = `
local run = string.match(redis.call('INFO', 'server'), 'run_id:(%x+)')
local reign = redis.call('GET', KEYS[1])
if not reign then
  reign = run
elseif string.match(reign, '^%x+') ~= run then
  reign = run .. ':' .. (tonumber(string.match(reign, ':(%d+)')) or 0) + 1
else
  return {reign}
end
redis.call('SET', KEYS[1], reign)
return {reign}
`

/**
 * If the ledger has more of the stream than this copy of the data, the copy is an old one: a
 * replica that lagged, or a restart that lost writes. Everything in its stream is in the ledger
 * then. Begins a new epoch with an empty stream, and a new reign, and returns true.
 */
const BEGIN_ANEW_IF_OLD = `
local function begin_anew_if_old(usage, epoch, rolled, pending, reign, rolled_to, new_epoch)
  local newest = redis.call('XREVRANGE', usage, '+', '-', 'COUNT', 1)[1]
  if not after(rolled_to, newest and newest[1] or redis.call('GET', rolled) or '0-0') then return false end
  redis.call('DEL', usage, rolled, pending)
  redis.call('SET', epoch, new_epoch)
  local run, number = string.match(redis.call('GET', reign) or '', '^(%x+):?(%d*)$')
  if run then redis.call('SET', reign, run .. ':' .. (tonumber(number) or 0) + 1) end
  return true
end
`

/**
 * Charges several requests, each on its own, in order. KEYS: usage, then account and request of
 * each. ARGV: run, maximum backlog, seconds, then account and credits of each. Returns the outcome
 * and the credits left of each.
 */
const CHARGE = `
local run, most, seconds = ARGV[1], tonumber(ARGV[2]), ARGV[3]
local waiting = redis.call('XLEN', KEYS[1])
local function charge(account_key, request_key, account, credits)
  local s = redis.call('HMGET', account_key, 'run', 'funded', 'used', 'reserved')
  if s[1] ~= run then return 'unknown', 0 end
  local done = redis.call('GET', request_key)
  if done == 'void' then return 'void', 0 end
  local rest = (tonumber(s[2]) or 0) - (tonumber(s[3]) or 0) - (tonumber(s[4]) or 0)
  if done then return 'charged', rest end
  if rest < credits then return 'insufficient', rest end
  if waiting >= most then return 'backlog', 0 end
  redis.call('HINCRBY', account_key, 'used', credits)
  redis.call('XADD', KEYS[1], '*', 'a', account, 'c', credits)
  redis.call('SET', request_key, credits, 'EX', seconds)
  waiting = waiting + 1
  return 'charged', rest - credits
end
local told = {}
for at = 1, (#KEYS - 1) / 2 do
  local kind, rest = charge(KEYS[2 * at], KEYS[2 * at + 1], ARGV[2 * at + 2], tonumber(ARGV[2 * at + 3]))
  told[#told + 1] = kind
  told[#told + 1] = rest
end
return told
`

const REFUND = `
local credits = redis.call('GET', KEYS[3])
redis.call('SET', KEYS[3], 'void', 'EX', ARGV[2])
if credits and credits ~= 'void' then
  redis.call('HINCRBY', KEYS[1], 'used', -tonumber(credits))
  redis.call('XADD', KEYS[2], '*', 'a', ARGV[1], 'c', -tonumber(credits))
end
return {}
`

/**
 * Renews several blocks, each on its own, in order. KEYS: usage, blocks, then accounts. ARGV: run,
 * maximum backlog, milliseconds, then account, connection, sequence, spent and wanted of each.
 * Returns the outcome, the credits granted and those left of each.
 */
const RENEW_BLOCKS = `
local run, most = ARGV[1], tonumber(ARGV[2])
local waiting = redis.call('XLEN', KEYS[1])
local now = redis.call('TIME')
local expires = now[1] * 1000 + math.floor(now[2] / 1000) + tonumber(ARGV[3])
local function renew(account_key, account, connection, sequence, spent, wanted)
  local field = 'block:' .. connection
  local s = redis.call('HMGET', account_key, 'run', 'funded', 'used', 'reserved', field)
  if s[1] ~= run then return 'unknown', 0, 0 end
  local left = (tonumber(s[2]) or 0) - (tonumber(s[3]) or 0) - (tonumber(s[4]) or 0)
  local held_sequence, held = string.match(s[5] or '0:0', '(%d+):(%d+)')
  if held_sequence == sequence then return 'granted', tonumber(held), left end
  if waiting >= most then return 'backlog', 0, 0 end
  left = left + held
  spent = math.min(spent, math.max(0, left)) -- a block that was returned, or lost, may have been used by others meanwhile
  if spent > 0 then
    redis.call('HINCRBY', account_key, 'used', spent)
    redis.call('XADD', KEYS[1], '*', 'a', account, 'c', spent)
    waiting = waiting + 1
    left = left - spent
  end
  local credits = math.max(0, math.min(wanted, left))
  redis.call('HINCRBY', account_key, 'reserved', credits - held)
  redis.call('HSET', account_key, field, sequence .. ':' .. credits)
  redis.call('ZADD', KEYS[2], expires, account .. '|' .. connection)
  return 'granted', credits, left - credits
end
local told = {}
for at = 3, #KEYS do
  local first = 5 * (at - 3) + 4
  local kind, credits, left = renew(KEYS[at], ARGV[first], ARGV[first + 1], ARGV[first + 2], tonumber(ARGV[first + 3]), tonumber(ARGV[first + 4]))
  told[#told + 1] = kind
  told[#told + 1] = credits
  told[#told + 1] = left
end
return told
`

const RELEASE_BLOCKS = `
local now = redis.call('TIME')
local ms = now[1] * 1000 + math.floor(now[2] / 1000)
local expired = redis.call('ZRANGEBYSCORE', KEYS[1], '-inf', ms, 'LIMIT', 0, ARGV[1])
for _, member in ipairs(expired) do
  local account, connection = string.match(member, '^([^|]*)|(.*)$')
  local key, field = KEYS[2] .. account, 'block:' .. connection
  local credits = string.match(redis.call('HGET', key, field) or '0:0', ':(%d+)')
  if tonumber(credits) > 0 then redis.call('HINCRBY', key, 'reserved', -tonumber(credits)) end
  redis.call('HDEL', key, field)
  redis.call('ZREM', KEYS[1], member)
end
return {#expired}
`

/**
 * KEYS: usage, epoch, rolled, pending, reign, then accounts. ARGV: run, epoch, rolled_to, new
 * epoch, then name, granted credits, number of entries and rolled up usage of each account.
 */
const LOAD = `${AFTER}${BEGIN_ANEW_IF_OLD}
local run, epoch, rolled_to = ARGV[1], ARGV[2], ARGV[3]
if redis.call('GET', KEYS[5]) ~= run then return {'other_reign'} end
if redis.call('GET', KEYS[2]) ~= epoch then return {'stale'} end
if begin_anew_if_old(KEYS[1], KEYS[2], KEYS[3], KEYS[4], KEYS[5], rolled_to, ARGV[4]) then return {'other_reign'} end
if after(redis.call('GET', KEYS[3]) or '0-0', rolled_to) then return {'stale'} end
local waiting = {}
for _, entry in ipairs(redis.call('XRANGE', KEYS[1], '(' .. rolled_to, '+')) do
  local account = entry[2][2]
  waiting[account] = (waiting[account] or 0) + tonumber(entry[2][4])
end
for at = 6, #KEYS do
  local first = 4 * (at - 5) + 1
  local s = redis.call('HMGET', KEYS[at], 'run', 'entries')
  if s[1] ~= run or tonumber(s[2]) <= tonumber(ARGV[first + 2]) then
    local used = tonumber(ARGV[first + 3]) + (waiting[ARGV[first]] or 0)
    redis.call('HSET', KEYS[at], 'run', run, 'funded', ARGV[first + 1], 'entries', ARGV[first + 2], 'used', used)
    redis.call('HSETNX', KEYS[at], 'reserved', 0)
  end
end
return {'loaded'}
`

const BEGIN_ROLL_UP = `${AFTER}${BEGIN_ANEW_IF_OLD}
if redis.call('GET', KEYS[2]) ~= ARGV[1] then return {} end
if begin_anew_if_old(KEYS[1], KEYS[2], KEYS[4], KEYS[3], KEYS[5], ARGV[2], ARGV[4]) then return {} end
local pending = redis.call('GET', KEYS[3])
local entries
if pending then
  local from, to = string.match(pending, '^(%S+) (%S+)$')
  entries = redis.call('XRANGE', KEYS[1], '(' .. from, to)
  pending = {from, to}
else
  -- What was rolled up since the ledger was read is in it by now: a stretch that began before that would have the key of another.
  local from, rolled = ARGV[2], redis.call('GET', KEYS[4])
  if rolled and after(rolled, from) then from = rolled end
  entries = redis.call('XRANGE', KEYS[1], '(' .. from, '+', 'COUNT', ARGV[3])
  if #entries == 0 then return {} end
  pending = {from, entries[#entries][1]}
  redis.call('SET', KEYS[3], pending[1] .. ' ' .. pending[2])
end
local sums, order = {}, {}
for _, entry in ipairs(entries) do
  local account, credits = entry[2][2], tonumber(entry[2][4])
  if not sums[account] then sums[account] = 0; order[#order + 1] = account end
  sums[account] = sums[account] + credits
end
local stretch = {pending[1], pending[2], #entries}
for _, account in ipairs(order) do
  stretch[#stretch + 1] = account
  stretch[#stretch + 1] = sums[account]
end
return stretch
`

const END_ROLL_UP = `
if redis.call('GET', KEYS[2]) ~= ARGV[1] then return {} end
local pending = redis.call('GET', KEYS[3])
if not pending or string.match(pending, '(%S+)$') ~= ARGV[2] then return {} end
local ms, sequence = string.match(ARGV[2], '(%d+)-(%d+)')
redis.call('XTRIM', KEYS[1], 'MINID', ms .. '-' .. string.format('%d', tonumber(sequence) + 1))
redis.call('SET', KEYS[4], ARGV[2])
redis.call('DEL', KEYS[3])
return {}
`

const INSPECT = `${AFTER}
local run, epoch, rolled_to = ARGV[1], ARGV[2], ARGV[3]
if redis.call('GET', KEYS[2]) ~= epoch then return {'stale'} end
if after(redis.call('GET', KEYS[3]) or '0-0', rolled_to) then return {'stale'} end
local waiting = {}
for _, entry in ipairs(redis.call('XRANGE', KEYS[1], '(' .. rolled_to, '+')) do
  local account = entry[2][2]
  waiting[account] = (waiting[account] or 0) + tonumber(entry[2][4])
end
local out = {'ok'}
for index = 4, #ARGV do
  local account = ARGV[index]
  local fields, state, blocks = redis.call('HGETALL', KEYS[4] .. account), {}, 0
  for at = 1, #fields, 2 do
    state[fields[at]] = fields[at + 1]
    if string.sub(fields[at], 1, 6) == 'block:' then
      blocks = blocks + tonumber(string.match(fields[at + 1], ':(%d+)'))
    end
  end
  if state.run == run then
    local figures = {account, state.funded, state.entries, state.used - (waiting[account] or 0), state.reserved, blocks}
    for _, figure in ipairs(figures) do out[#out + 1] = figure end
  end
end
return out
`

/**
 * KEYS: usage, rolled, then accounts. ARGV: the names of the accounts. Returns the id up to which
 * usage was rolled up, then granted credits and rolled up usage of each account.
 */
const ROLLED_UP = `
local rolled = redis.call('GET', KEYS[2]) or '0-0'
local waiting = {}
for _, entry in ipairs(redis.call('XRANGE', KEYS[1], '(' .. rolled, '+')) do
  local account = entry[2][2]
  waiting[account] = (waiting[account] or 0) + tonumber(entry[2][4])
end
local out = {rolled}
for at = 1, #ARGV do
  local s = redis.call('HMGET', KEYS[at + 2], 'funded', 'used')
  out[#out + 1] = tonumber(s[1]) or 0
  out[#out + 1] = (tonumber(s[2]) or 0) - (waiting[ARGV[at]] or 0)
end
return out
`

/**
 * The scripts in the form of ioredis commands: the text, and the number of keys among the arguments
 * (if left out, the first argument is that number).
 */
export const DEFINITIONS: Record<ScriptName, { numberOfKeys?: number; lua: string }> = {
  meterReign: { numberOfKeys: 1, lua: REIGN },
  meterCharge: { lua: CHARGE },
  meterRefund: { numberOfKeys: 3, lua: REFUND },
  meterRenewBlocks: { lua: RENEW_BLOCKS },
  meterReleaseBlocks: { numberOfKeys: 2, lua: RELEASE_BLOCKS },
  meterLoad: { lua: LOAD },
  meterBeginRollUp: { numberOfKeys: 5, lua: BEGIN_ROLL_UP },
  meterEndRollUp: { numberOfKeys: 4, lua: END_ROLL_UP },
  meterInspect: { numberOfKeys: 4, lua: INSPECT },
  meterRolledUp: { lua: ROLLED_UP },
}

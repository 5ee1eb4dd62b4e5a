-- Admits one request that counts for several subjects: checks their request rates (GCRA) and concurrency leases atomically.
-- A request that exceeds the limit of one subject counts for none.
-- KEYS: for each subject its rate state and its leases.
-- ARGV: lease lifetime in ms, lease id; then for each subject: microseconds per request, requests allowed in a burst,
-- leases allowed (0 if it has none).
-- Returns: outcome (1 admitted, 0 rate exceeded, -1 concurrency exceeded), requests remaining, microseconds until the
-- limit resets, microseconds until the next request can be admitted, and the number of the subject that these are of:
-- the first one, or the one whose limit is exceeded.
local time = redis.call('TIME')
local now = time[1] * 1000000 + time[2]
local now_ms = math.floor(now / 1000)
local subjects = #KEYS / 2
local all_spent = {}
for subject = 1, subjects do
  local interval, limit, leases = tonumber(ARGV[3 * subject]), tonumber(ARGV[3 * subject + 1]), tonumber(ARGV[3 * subject + 2])
  -- GCRA theoretical arrival time.
  local spent = math.max(tonumber(redis.call('GET', KEYS[2 * subject - 1]) or 0), now) - now
  if spent > interval * (limit - 1) then
    return {0, 0, spent, spent - interval * (limit - 1), subject}
  end
  if leases > 0 then
    redis.call('ZREMRANGEBYSCORE', KEYS[2 * subject], '-inf', now_ms)
    if redis.call('ZCARD', KEYS[2 * subject]) >= leases then
      return {-1, math.floor((interval * limit - spent) / interval), spent, 0, subject}
    end
  end
  all_spent[subject] = spent + interval
end
for subject = 1, subjects do
  local spent = all_spent[subject]
  redis.call('SET', KEYS[2 * subject - 1], string.format('%.0f', now + spent), 'PX', math.ceil(spent / 1000))
  if tonumber(ARGV[3 * subject + 2]) > 0 then
    redis.call('ZADD', KEYS[2 * subject], now_ms + tonumber(ARGV[1]), ARGV[2])
    redis.call('PEXPIRE', KEYS[2 * subject], ARGV[1])
  end
end
local interval, limit, spent = tonumber(ARGV[3]), tonumber(ARGV[4]), all_spent[1]
return {1, math.floor((interval * limit - spent) / interval), spent, 0, 1}

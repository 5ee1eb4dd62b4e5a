-- Admits one request of one key: checks its request rate (GCRA) and its concurrency leases atomically.
-- KEYS: the rate state and the leases. Both use the same hash tag, so that a cluster stores them on one node.
-- ARGV: microseconds per request, requests per minute, leases allowed, lease lifetime in ms, lease id.
-- Returns: outcome (1 admitted, 0 rate exceeded, -1 concurrency exceeded), requests remaining, microseconds until the
-- limit resets, microseconds until the next request can be admitted.
local time = redis.call('TIME')
local now = time[1] * 1000000 + time[2]
local interval, limit = tonumber(ARGV[1]), tonumber(ARGV[2])
-- GCRA theoretical arrival time.
local arrival = math.max(tonumber(redis.call('GET', KEYS[1]) or 0), now)
local spent = arrival - now
if spent > interval * (limit - 1) then
  return {0, 0, spent, spent - interval * (limit - 1)}
end
if KEYS[2] then
  local now_ms = math.floor(now / 1000)
  redis.call('ZREMRANGEBYSCORE', KEYS[2], '-inf', now_ms)
  if redis.call('ZCARD', KEYS[2]) >= tonumber(ARGV[3]) then
    return {-1, math.floor((interval * limit - spent) / interval), spent, 0}
  end
  redis.call('ZADD', KEYS[2], now_ms + tonumber(ARGV[4]), ARGV[5])
  redis.call('PEXPIRE', KEYS[2], ARGV[4])
end
spent = spent + interval
redis.call('SET', KEYS[1], string.format('%.0f', now + spent), 'PX', math.ceil(spent / 1000))
return {1, math.floor((interval * limit - spent) / interval), spent, 0}

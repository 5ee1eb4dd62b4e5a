-- Admit one request of one key: a request rate (GCRA) and a number of leases, decided together.
-- KEYS: the rate's state, the leases. Both carry the same hash tag, so a cluster keeps them on one node.
-- ARGV: microseconds per request, requests per minute, leases allowed, lease lifetime in ms, this lease's name.
-- Answers: verdict (1 admitted, 0 too fast, -1 too many at once), requests remaining, microseconds until full,
-- microseconds until the next request can be admitted.
local time = redis.call('TIME')
local now = time[1] * 1000000 + time[2]
local interval, limit = tonumber(ARGV[1]), tonumber(ARGV[2])
-- The theoretical arrival time: how far into the future requests so far have been paid for.
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

-- wrk's script: GET /<code> for one code after the other, and the totals as one line of JSON.
-- Arguments: a file with "<code> <target>" lines, everything of the request behind its path, and for a file that
-- is too long for Lua's memory, how many of its lines to leave out at first: it is read on the way then.
local requests = {}
local last = 0
local path, tail
local nextLine

local function toRequest(line)
  return "GET /" .. line:match("^%S+") .. tail
end

function init(args)
  path, tail = args[1], args[2]
  if args[3] then
    nextLine = io.lines(path)
    for _ = 1, tonumber(args[3]) do nextLine() end
    request = readRequest
  else
    for line in io.lines(path) do requests[#requests + 1] = toRequest(line) end
  end
end

function request()
  last = last % #requests + 1
  return requests[last]
end

function readRequest()
  local line = nextLine()
  if not line then
    nextLine = io.lines(path)
    line = nextLine()
  end
  return toRequest(line)
end

function done(summary)
  local errors = summary.errors
  io.write(string.format(
    '\n{"requests":%d,"durationUs":%d,"refused":%d,"broken":%d}\n',
    summary.requests,
    summary.duration,
    errors.status,
    errors.connect + errors.read + errors.write + errors.timeout
  ))
end

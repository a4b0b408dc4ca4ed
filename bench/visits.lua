-- wrk's script: GET /<code>/ for one code after the other, and the totals as one line of JSON.
-- Arguments: a file with "<code> <target>" lines, and everything of the request behind its path.
local requests = {}
local last = 0

function init(args)
  for line in io.lines(args[1]) do
    requests[#requests + 1] = "GET /" .. line:match("^%S+") .. "/" .. args[2]
  end
end

function request()
  last = last % #requests + 1
  return requests[last]
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

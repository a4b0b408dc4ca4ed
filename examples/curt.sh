# Two functions for ~/.bashrc or ~/.zshrc: `. examples/curt.sh`. They need curl. Set CURT_URL to the instance, such as
# https://go.example.com, and CURT_TOKEN to its CREATE_TOKEN, if it has one.

# shorten URL [CODE]: prints a short address.
shorten() (
  : "${1:?is missing: shorten URL [CODE]}"
  quote() { printf '%s' "$1" | sed 's/[\\"]/\\&/g'; }
  body="{\"original_url\":\"$(quote "$1")\",\"custom_code\":\"$(quote "${2-}")\"}"
  # Other users of the machine see arguments, so the token isn't one.
  response=$({
    echo 'Content-Type: application/json'
    [ -z "${CURT_TOKEN-}" ] || printf 'Authorization: Bearer %s\n' "$CURT_TOKEN"
  } | curl --silent --show-error --max-time 30 --header @- --data-binary "$body" \
    "${CURT_URL:-http://localhost:3000}/api/v1/shorten") || exit
  short_url=$(printf '%s' "$response" | sed -nE 's/.*"short_url":"([^"]*)".*/\1/p')
  if [ -n "$short_url" ]; then
    printf '%s\n' "$short_url"
  else
    message=$(printf '%s' "$response" | sed -nE 's/.*"message":"(([^"\\]|\\.)*)".*/\1/p' | sed -E 's/\\(["\\])/\1/g')
    printf '%s\n' "${message:-${CURT_URL-} sent no short address.}" >&2
    exit 1
  fi
)

# to WORDS: opens a short address in the browser, such as `to jira ABC-123`. Without a browser, prints it.
to() (
  : "${1:?is missing: to WORDS}"
  address=$(curl --silent --show-error --max-time 30 --output /dev/null --write-out '%{redirect_url}' \
    --get --data-urlencode "q=$*" "${CURT_URL:-http://localhost:3000}/+go") || exit
  for browser in "${BROWSER-}" xdg-open open; do
    if command -v "$browser" >/dev/null 2>&1; then
      "$browser" "$address"
      exit
    fi
  done
  printf '%s\n' "$address"
)

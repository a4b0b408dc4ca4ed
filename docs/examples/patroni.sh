#!/usr/bin/env bash
# Tries Curt over a PostgreSQL cluster that Patroni manages: starts three servers on this machine, serves links with two instances,
# kills the leader during creates, and checks that no link confirmed with 201 is missing.
#
#   apt-get install patroni etcd-server postgresql   # Debian 12; none of the services needs to run
#   npm ci && docs/examples/patroni.sh
#
# It takes about a minute, uses only 127.0.0.1 and a temporary folder, and removes both its servers and files. A real cluster has the
# same settings, with each server on its own machine and three etcds.
set -euo pipefail
cd "$(dirname "$0")/../.."

read -ra curt <<<"${CURT:-node_modules/.bin/bun src/main.ts}" # or CURT=dist/curt
programs=$(printf '%s\n' /usr/lib/postgresql/*/bin | sort -V | tail -1)
folder=$(mktemp -d)
superuser=$(openssl rand -hex 12)
replicator=$(openssl rand -hex 12)
password=$(openssl rand -hex 12)
etcd=127.0.0.1:12379
declare -A manager
others=()

# PostgreSQL refuses to run as root.
as_postgres=()
if [ "$(id -u)" = 0 ]; then
  as_postgres=(setpriv --reuid=postgres --regid=postgres --init-groups)
  chown postgres "$folder"
fi

postmaster() { head -1 "$folder/node$1/postmaster.pid"; }

# Kills a node like the loss of its machine: Patroni and all of PostgreSQL at once.
lose() {
  local pid
  pid=$(postmaster "$1")
  kill -KILL "${manager[$1]}" "$pid" $(pgrep -P "$pid")
  wait "${manager[$1]}" 2>/dev/null || true
}

clean_up() {
  touch "$folder/enough"
  for node in 1 2 3; do
    kill "${manager[$node]:-}" 2>/dev/null || true
  done
  kill "${others[@]}" 2>/dev/null || true
  wait || true
  rm -rf "$folder"
}
trap clean_up EXIT
trap 'exit 1' INT TERM

wait_for() { # seconds, what, command
  local until=$((SECONDS + $1)) what=$2
  shift 2
  until "$@" >/dev/null 2>&1; do
    [ "$SECONDS" -lt "$until" ] || { echo "no $what; see $folder/*.log" && tail -n 5 "$folder"/*.log; exit 1; }
    sleep 0.2
  done
}

start_node() {
  cat >"$folder/node$1.yml" <<YAML
scope: curt
name: node$1
etcd3:
  host: $etcd
restapi:
  listen: 127.0.0.1:1800$1
  connect_address: 127.0.0.1:1800$1
bootstrap:
  dcs:
    # A leader that is silent for this long loses its place. Creates pause that long when a machine is lost.
    ttl: 20
    loop_wait: 5
    retry_timeout: 5
    # Curt confirms a link once a standby has it, and Patroni promotes only such a standby. "Strict": with a single server left, creates
    # stop.
    synchronous_mode: true
    synchronous_mode_strict: true
    postgresql:
      use_pg_rewind: true
      parameters:
        max_connections: 100
  initdb:
    - encoding: UTF8
    - locale: C.UTF-8
    - data-checksums
  pg_hba:
    - host replication replicator 127.0.0.1/32 scram-sha-256
    - host all all 127.0.0.1/32 scram-sha-256
postgresql:
  listen: 127.0.0.1:1543$1
  connect_address: 127.0.0.1:1543$1
  bin_dir: $programs
  data_dir: $folder/node$1
  pgpass: $folder/pgpass$1
  parameters:
    unix_socket_directories: $folder
  authentication:
    superuser: { username: postgres, password: $superuser }
    replication: { username: replicator, password: $replicator }
YAML
  "${as_postgres[@]}" patroni "$folder/node$1.yml" >>"$folder/node$1.log" 2>&1 &
  manager[$1]=$!
}

is() { # a node's role: primary or replica
  curl -sf "127.0.0.1:1800$1/$2"
}
leader() {
  for node in 1 2 3; do
    if is "$node" primary >/dev/null; then echo "$node"; fi
  done
}
has_leader() { [ -n "$(leader)" ]; }
has_standby() { ask "SELECT 1 FROM pg_stat_replication WHERE sync_state = 'sync'" | grep -q 1; }
ask() { PGPASSWORD=$superuser psql -qtA -h 127.0.0.1 -p "1543$(leader)" -U postgres -d postgres -c "$1"; }

echo "Starting etcd and three servers"
peers=http://127.0.0.1:12380
"${as_postgres[@]}" etcd --data-dir "$folder/etcd" --log-level error --listen-client-urls "http://$etcd" \
  --advertise-client-urls "http://$etcd" --listen-peer-urls "$peers" --initial-advertise-peer-urls "$peers" \
  --initial-cluster "default=$peers" >"$folder/etcd.log" 2>&1 &
others+=($!)
wait_for 20 etcd curl -sf "$etcd/health"
for node in 1 2 3; do start_node "$node"; done
wait_for 60 leader has_leader
wait_for 60 standby has_standby
ask "CREATE ROLE curt LOGIN PASSWORD '$password'"
ask "CREATE DATABASE curt OWNER curt"

echo "Starting two Curts"
for nth in 1 2; do
  env PORT="1300$nth" BASE_URL=http://localhost:13001 DATA_DIR="$folder/curt$nth" \
    DATABASE_URL="postgres://curt:$password@127.0.0.1:15431,127.0.0.1:15432,127.0.0.1:15433/curt" \
    "${curt[@]}" serve >"$folder/curt$nth.log" 2>&1 &
  others+=($!)
  wait_for 30 Curt curl -sf "127.0.0.1:1300$nth/readyz"
done

# Creates links one after the other, and records the time of each response, its status and its code.
create_links() { # port, file
  local nth answer
  for ((nth = 0; ; nth++)); do
    [ ! -e "$folder/enough" ] || break
    answer=$(curl -s -m 5 -w '\n%{http_code}' "127.0.0.1:$1/api/v1/shorten" -H 'Content-Type: application/json' \
      -d "{\"original_url\": \"https://example.com/$1/$nth\"}") || true
    echo "$EPOCHREALTIME ${answer##*$'\n'} https://example.com/$1/$nth $(grep -o '"code":"[^"]*"' <<<"$answer")" >>"$2"
  done
}
makers=()
for nth in 1 2; do
  create_links "1300$nth" "$folder/made$nth" &
  makers+=($!)
done
sleep 5

lost=$(leader)
echo "Losing the leader, node $lost, while links are made"
lose "$lost"
wait_for 60 "new leader" has_leader
echo "Node $(leader) leads"
wait_for 60 "new standby" has_standby
sleep 5
touch "$folder/enough"
wait "${makers[@]}"

sort "$folder"/made? | awk '
  $2 == 201 { if (last && $1 - last > longest) longest = $1 - last; last = $1; made++ }
  $2 != 201 { refused[$2]++ }
  END {
    printf "%d links were made; for %.1f s, none was", made, longest
    for (status in refused) printf "; %d × %s", refused[status], status
    print ""
  }'
missing=0
while read -r _ _ target code; do
  code=${code#*:\"}
  answer=$(curl -s -o /dev/null -w '%{http_code} %{redirect_url}' "127.0.0.1:13002/${code%\"}/")
  [ "$answer" = "302 $target" ] || { missing=$((missing + 1)) && echo "${code%\"}: $answer"; }
done < <(grep -h ' 201 ' "$folder"/made?)
echo "$missing of them are missing"

echo "Starting node $lost again"
start_node "$lost"
wait_for 60 "standby" is "$lost" replica
echo "Node $lost follows"
[ "$missing" = 0 ]

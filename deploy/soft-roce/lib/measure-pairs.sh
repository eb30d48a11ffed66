#!/usr/bin/env bash
# Where the two devices are: PAIRS DEPTH JAVA-OPTIONS FIGURES. Both JVMs live from the first turn to the last, so that
# what is compiled stays so; they sleep while perftest has its turn.
set -euo pipefail

pairs=$1 depth=$2
read -ra java_options <<<"$3"
figures=$4
read -r near far <<<"$RAILHEAD_RIG_DEVICES"
readonly NEAR=10.99.0.1 FAR=10.99.0.2 TURN_SECONDS=120
readonly SIZES=(65536 1048576 16777216)
declare -rA COUNTS=([65536]=512 [1048576]=64 [16777216]=8)
readonly LATENCIES=300

note() { printf '%s,%s,%s,%s\n' "$@" | tee -a "$figures" >&2; }
problem() { printf 'measure: %s\n' "$*" >&2; exit 1; }

# perftest PROGRAM ARGUMENT...: the last line of its table
perftest() {
    local server line='' try
    timeout $TURN_SECONDS "$1" -d "$near" -x 1 -F "${@:2}" >/dev/null 2>&1 &
    server=$!
    for try in 1 2 3 4 5 6 7 8; do
        sleep 0.5   # it does not say when it listens
        line=$(timeout $TURN_SECONDS "$1" -d "$far" -x 1 -F "${@:2}" $NEAR 2>/dev/null \
            | awk '/^ *[0-9]+ +[0-9]+ / { line = $0 } END { print line }') || true
        if [ -n "$line" ]; then break; fi
    done
    kill $server 2>/dev/null || true
    [ -n "$line" ] || problem "$1 failed $try times"
    printf '%s\n' "$line"
}
column() { awk -v n="$1" '{ print $n }'; }

# ask FD-OUT FD-IN LINE
ask() {
    local answer
    printf '%s\n' "$3" >&"$1"
    read -r -t $TURN_SECONDS answer <&"$2" || problem "no answer to $3"
    printf '%s\n' "$answer"
}
peer() { ask "${client[1]}" "${client[0]}" "$1"; }
gateway() { ask "${server[1]}" "${server[0]}" spent; }
number() { sed -n "s/.*\"$1\": \([0-9.]*\).*/\1/p"; }

java=("${JAVA_HOME:+$JAVA_HOME/bin/}java" "${java_options[@]}" -XX:-UsePerfData --enable-native-access=ALL-UNNAMED
    --sun-misc-unsafe-memory-access=allow --add-exports java.base/sun.nio.ch=ALL-UNNAMED -Djava.io.tmpdir=/dev/shm
    -cp 'benchmarks/target/classes:benchmarks/target/lib/*')
readonly PACKAGE=io.railhead.benchmarks.channel
: >"$figures"
coproc server { exec "${java[@]}" $PACKAGE.VerbsGateway $NEAR 2>target/soft-roce/measure-gateway.log; }
exec 7<&"${server[0]}" 8>&"${server[1]}"
server=(7 8)
read -r -t $TURN_SECONDS port <&7 || problem "the gateway does not serve; see target/soft-roce/measure-gateway.log"
{ coproc client { exec "${java[@]}" $PACKAGE.VerbsHits $FAR "$port" 2>target/soft-roce/measure-client.log; }; } 2>/dev/null   # bash would have but one
exec 5<&"${client[0]}" 6>&"${client[1]}"
client=(5 6)
read -r -t $TURN_SECONDS <&5 || problem "no hits; see target/soft-roce/measure-client.log"

for bytes in "${SIZES[@]}"; do peer "bandwidth $bytes $depth ${COUNTS[$bytes]}" >/dev/null; done
for _ in {1..12}; do peer "latency 4096 500" >/dev/null; done
for ((pair = 1; pair <= pairs; pair++)); do
    for bytes in "${SIZES[@]}"; do
        note bandwidth "$bytes" perftest "$(perftest ib_write_bw -s "$bytes" -t "$depth" -n "${COUNTS[$bytes]}" | column 4)"
        note bandwidth "$bytes" railhead "$(peer "bandwidth $bytes $depth ${COUNTS[$bytes]}" | number mib_per_second)"
    done
    note latency 4096 ib_write_lat "$(perftest ib_write_lat -s 4096 -n $LATENCIES | column 5)"
    note latency 128 ib_send_lat "$(perftest ib_send_lat -s 128 -n $LATENCIES | column 5)"
    before=$(gateway)
    note latency 4096 railhead "$(peer "latency 4096 $LATENCIES" | number p50_us)"
    after=$(gateway)
    for spent in allocated_bytes cpu_nanos; do
        note "$spent" 4096 railhead $((($(number $spent <<<"$after") - $(number $spent <<<"$before")) / LATENCIES))
    done
done
# shellcheck disable=SC2154  # coproc sets them
kill "$client_PID" "$server_PID"
wait || true

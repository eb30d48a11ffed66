# shellcheck shell=bash
# COMMAND on this machine, where its kernel has soft-RoCE. lib/pair.sh says what is added to its network meanwhile.

# shellcheck source=deploy/soft-roce/lib/pair.sh
. "$here/lib/pair.sh"

readonly HOST_LINKS=(railhead0 railhead1) HOST_DEVICES=(railhead0 railhead1)
readonly HOST_LOCK=/run/railhead-soft-roce.lock

can_use_host() {
    [ "$(id -u)" = 0 ] && [ -w /run ] && command -v ip >/dev/null && command -v rdma >/dev/null \
        && command -v setpriv >/dev/null && command -v flock >/dev/null \
        && command -v modprobe >/dev/null && modprobe -nq rdma_rxe && modprobe -nq rdma_ucm && is_network_free
}

# The addresses, or a network that they are in, may be another's.
is_network_free() {
    local in_use
    in_use=$(ip -o -4 route show table all to match 10.99.0.1 2>/dev/null | grep -v -e '^default' -e ' railhead[01] ')
    [ -z "$in_use" ]
}

check_host() { say "would run on this machine's kernel $(uname -r) with soft-RoCE, not RDMA hardware"; }

prepare_host() {
    local module
    for module in rdma_rxe rdma_ucm ib_uverbs; do
        modprobe "$module" || fail $CANNOT_RUN "cannot run here: modprobe $module failed"
    done
}

run_in_host() {
    # One at a time: there is one pair of addresses.
    exec 9>"$HOST_LOCK"
    flock -w "$limit_seconds" 9 || fail 124 "another run has held the devices for $limit_seconds s"
    if [ -z "${TMPDIR:-}" ]; then
        own_tmp=$(mktemp -d /tmp/soft-roce.XXXXXX)
        export TMPDIR="$own_tmp"
    fi
    drop_pair   # of a run that was killed before its guard began
    if ! make_pair "${HOST_LINKS[@]}" "${HOST_DEVICES[@]}"; then
        drop_pair
        fail $NOT_RUN_TO_ITS_END "the devices could not be made"
    fi
    # After what make_pair leaves running, which must not hold this pipe open.
    exec 8> >(guard)
    guard=$!
    trap end_host EXIT
    trap 'exit 129' HUP
    trap 'exit 130' INT
    trap 'exit 143' TERM
    ulimit -l unlimited 2>/dev/null || true
    export RAILHEAD_RIG=host RAILHEAD_RIG_DEVICES="${HOST_DEVICES[*]}" RAILHEAD_RIG_LINKS="${HOST_LINKS[*]}"
    local status=0
    limited "$limit_seconds" "$@" </dev/null 8>&- 9>&- &
    command_pid=$!
    wait "$command_pid" || status=$?
    command_pid=
    if [ "$status" = 124 ] || [ "$status" = 137 ]; then say "the time limit of $limit_seconds s has passed"; status=124; fi
    exit "$status"
}

drop_pair() { remove_pair "${HOST_LINKS[0]}" "${HOST_DEVICES[@]}" || true; }

# Removes the devices when this script ends, however it ends: nobody holds the other end of its pipe any more then.
guard() {
    trap '' HUP INT TERM
    cat >/dev/null
    drop_pair
    if [ -n "${own_tmp:-}" ]; then rm -rf "$own_tmp"; fi
} >/dev/null 2>&1

end_host() {
    if [ -n "${command_pid:-}" ]; then
        kill "$command_pid" 2>/dev/null || true
        wait "$command_pid" 2>/dev/null || true
    fi
    exec 8>&-
    wait "$guard" || true
}

# shellcheck shell=bash
# What the scripts of this folder share.

# Where modprobe and depmod are, which a login that is not root's does not look through.
PATH=$PATH:/usr/sbin:/sbin

readonly CANNOT_RUN=69   # EX_UNAVAILABLE
readonly NOT_RUN_TO_ITS_END=125

say() { printf 'soft-roce: %s\n' "$*" >&2; }
fail() { local status=$1; shift; say "$*"; exit "$status"; }

as_root() {
    if [ "$(id -u)" = 0 ]; then "$@"; elif command -v sudo >/dev/null; then sudo -n "$@"; else return 1; fi
}

# Becomes the program, which has so many seconds and ends with this script, also when that is killed: `timeout` is then
# sent SIGTERM and passes it on to its group, and were it killed itself, the program would be too.
limited() {
    local seconds=$1; shift
    exec setpriv --pdeathsig TERM timeout -k 5 "$seconds" setpriv --pdeathsig KILL "$@"
}

is_25() { [ -x "$1/bin/java" ] && grep -qs '^JAVA_VERSION="25[".+-]' "$1/release"; }

find_java() {
    local home java
    java=$(command -v java) && java=$(dirname "$(dirname "$(readlink -f "$java")")") || java=
    for home in "${RAILHEAD_JAVA_HOME:-}" "${JAVA_HOME:-}" /usr/lib/jvm/* "$java"; do
        if [ -n "$home" ] && is_25 "$home"; then echo "$home/bin/java"; return; fi
    done
    fail $CANNOT_RUN "cannot run here: no JDK 25 found; set RAILHEAD_JAVA_HOME to one"
}

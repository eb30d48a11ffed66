#!/bin/bash
# The emulated machine's second program, on the host's files: mounts what is shared, makes the devices, runs COMMAND,
# leaves its exit status in the control folder and reboots, which ends the emulator.
export PATH=/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin
readonly CONTROL=/run/soft-roce B=/run/busybox
finish() {
    echo "$1" >$CONTROL/status.new && $B mv $CONTROL/status.new $CONTROL/status
    $B sync
    exec $B reboot -f
}
# As an error, which a quiet boot shows. Without a status the caller knows that COMMAND was not run to its end.
give_up() { echo "<3>soft-roce: $*" >/dev/kmsg; exec $B reboot -f; }

# shellcheck source=/dev/null
. $CONTROL/settings.sh   # MODULES, SHARED, BARE, HOST_NAME
# shellcheck source=deploy/soft-roce/lib/pair.sh
. $CONTROL/pair.sh

for index in "${!SHARED[@]}"; do
    $B mkdir -p "${SHARED[index]}"
    $B mount -t 9p -o trans=virtio,version=9p2000.L,msize=512000,cache=mmap "shared$index" "${SHARED[index]}" \
        || give_up "cannot mount ${SHARED[index]}"
done
[ -d /lib/modules ] || $B mkdir -p /lib/modules
$B mount -o bind "$MODULES" /lib/modules
ulimit -l unlimited   # what is registered counts as locked
$B ip link set lo up
echo "$HOST_NAME" >/proc/sys/kernel/hostname   # which the host's /etc/hosts knows
if [ -z "$BARE" ]; then
    make_pair v0 v1 rxe0 rxe1 || give_up "the devices could not be made"
    # Here, other than on a host that others use, TCP may bind to the two addresses: see pair.sh.
    echo 1 >/proc/sys/net/ipv4/ip_nonlocal_bind
fi

# soft-RoCE works in softirq context: a program that spins on a completion queue must not keep ksoftirqd waiting.
for comm in /proc/[0-9]*/comm; do
    read -r name <"$comm" && case $name in ksoftirqd/*) pid=${comm%/comm}; chrt -f -p 1 "${pid#/proc/}" ;; esac
done 2>/dev/null

for port in /sys/class/virtio-ports/*; do
    case $(<"$port/name") in stdout) out=/dev/${port##*/} ;; stderr) err=/dev/${port##*/} ;; esac
done
echo "soft-roce: the command starts" >/dev/kmsg
: >$CONTROL/started
# A session of its own: no signal that COMMAND sends to its group reaches this one.
$B setsid /bin/bash $CONTROL/command.sh </dev/null >"$out" 2>"$err"
finish $?

# shellcheck shell=bash
# COMMAND under another kernel, on this machine's files. The emulator is qemu without hardware support, so that it runs
# wherever this script does. Each figure of its options was measured; README.md has the table.

# Not `max`: five-level page tables, AVX, pclmul and `rep movsb` are slower than the plain code when they are emulated
# (soft-RoCE moves 50 MB/s then, and 120 MB/s so).
readonly CPU=qemu64,+ssse3,+sse4.1,+sse4.2,+popcnt,+rdrand
readonly boot_seconds=${RAILHEAD_RIG_BOOT_SECONDS:-90}

run_in_emulation() {
    run_dir=$(mktemp -d "${TMPDIR:-/tmp}/soft-roce.XXXXXX")
    trap end_emulation EXIT
    trap 'exit 129' HUP
    trap 'exit 130' INT
    trap 'exit 143' TERM
    if [ -z "${TMPDIR:-}" ]; then
        mkdir "$run_dir/tmp"
        export TMPDIR="$run_dir/tmp"
    fi
    : >"$run_dir/console"
    console=${kernel_log:-$run_dir/console}
    share_folders
    write_control_folder "$@"
    boot
    await_emulator
    report "$emulator_status"
}

# An emulated boot has been seen to hang, about once in some hundred. Until the command starts nothing is lost by another.
boot() {
    local try
    for try in 1 2 3; do
        start_emulator
        if is_booted; then return; fi
        kill "$emulator" 2>/dev/null || true
        await_emulator
        say "the emulated machine did not boot within $boot_seconds s (try $try of 3)"
    done
}

# Whether the command has started, or the emulator has ended by itself, before the time for that was over.
is_booted() {
    local deadline=$((SECONDS + boot_seconds))
    until [ -e "$run_dir/control/started" ]; do
        kill -0 "$emulator" 2>/dev/null || return 0
        [ $SECONDS -lt $deadline ] || return 1
        sleep 0.2
    done
}

await_emulator() {
    emulator_status=0
    if [ -z "$emulator" ]; then return; fi
    wait "$emulator" || emulator_status=$?
    emulator=
    exec 7>&- 8>&-
    wait "${readers[@]}" || true
}

end_emulation() {
    if [ -n "${emulator:-}" ]; then
        kill "$emulator" 2>/dev/null || true
        wait "$emulator" 2>/dev/null || true
    fi
    rm -rf "$run_dir"
}

report() {
    if [ -s "$run_dir/control/status" ]; then exit "$(<"$run_dir/control/status")"; fi
    if [ "$1" = 124 ] || [ "$1" = 137 ]; then fail 124 "the time limit of $limit_seconds s has passed"; fi
    say "the emulated machine ended before the command did (qemu: $1); its last messages:"
    tail -n 25 "$console" >&2
    exit $NOT_RUN_TO_ITS_END
}

# The working directory and TMPDIR, but not one within the other: twice mounted, its files would not be seen the same.
share_folders() {
    local work tmp
    work=$(pwd -P)
    tmp=$(realpath -e -- "$TMPDIR") || fail 2 "TMPDIR is not a folder: $TMPDIR"
    if [ "$work" = / ] || [ "$tmp" = / ]; then fail 2 "the working directory and TMPDIR cannot be /"; fi
    case $tmp/ in
        "$work"/*) shared=("$work") ;;
        *) case $work/ in "$tmp"/*) shared=("$tmp") ;; *) shared=("$work" "$tmp") ;; esac ;;
    esac
}

# What goes in: settings for guest/start.sh, and COMMAND with this environment. What comes out: `status`.
write_control_folder() {
    local control=$run_dir/control
    mkdir "$control"
    cp "$here/guest/start.sh" "$here/lib/pair.sh" "$control"
    {
        printf 'MODULES=%q\n' "$KERNEL/lib/modules"
        printf 'BARE=%q\n' "$bare"
        printf 'HOST_NAME=%q\n' "$(uname -n)"
        printf 'SHARED=(%s)\n' "${shared[*]@Q}"
    } >"$control/settings.sh"
    {
        export -p
        echo 'export RAILHEAD_RIG=emulation RAILHEAD_RIG_DEVICES="rxe0 rxe1" RAILHEAD_RIG_LINKS="v0 v1"'
        if [ -n "$bare" ]; then echo 'export RAILHEAD_RIG_DEVICES= RAILHEAD_RIG_LINKS='; fi
        printf 'cd -- %q || exit %s\n' "$(pwd -P)" $NOT_RUN_TO_ITS_END
        printf 'exec --'
        printf ' %q' "$@"
        echo
    } >"$control/command.sh"
}

# The emulated time stamp counter is the host's. Left to measure it against an emulated timer, the guest's kernel
# sometimes fails and hangs, so it is told; half of bogomips is its rate, where `cpu MHz` may be a momentary one.
time_stamp_khz() { awk -F: '/^bogomips/ { printf "%d", $2 * 500; exit }' /proc/cpuinfo; }

start_emulator() {
    local options index
    options="console=ttyS0 reboot=t panic=-1 tsc=reliable tsc_early_khz=$(time_stamp_khz) no_timer_check"
    options+=" random.trust_cpu=on mitigations=off nokaslr nowatchdog"
    if [ -n "$kernel_log" ]; then options+=" ignore_loglevel"; else options+=" quiet"; fi
    # microvm has no firmware and no PCI, so it boots soonest. Debian's kernel finds its devices by ACPI, and without
    # KVM's clock it needs the old interrupt controller and timer.
    local machine=(
        -accel tcg,thread=multi,tb-size=512 -cpu "$CPU" -smp 2 -m "$memory"
        -M microvm,x-option-roms=off,pit=on,pic=on,rtc=on,isa-serial=on,acpi=on,auto-kernel-cmdline=on
        -global virtio-mmio.force-legacy=false
        -nodefaults -no-user-config -display none -no-reboot
        -kernel "$KERNEL/vmlinux" -initrd "$initrd" -append "$options"
        -device virtio-rng-device
        -device virtio-serial-device
        -chardev "file,id=stdout,path=/dev/fd/7,append=on"
        -device virtserialport,chardev=stdout,name=stdout
        -chardev "file,id=stderr,path=/dev/fd/8,append=on"
        -device virtserialport,chardev=stderr,name=stderr
        -chardev "file,id=console,path=${console//,/,,}" -serial chardev:console
    )
    add_share control "$run_dir/control"
    add_share host / ,readonly=on
    for index in "${!shared[@]}"; do add_share "shared$index" "${shared[index]}"; done

    # Through pipes, because qemu opens a file by its path and cannot be given our own descriptors.
    exec 7> >(exec cat)
    readers=($!)
    exec 8> >(exec cat >&2 7>&-)
    readers+=($!)
    limited "$limit_seconds" qemu-system-x86_64 "${machine[@]}" </dev/null >&2 &
    emulator=$!
}

# add_share TAG FOLDER [OPTIONS]
add_share() {
    machine+=(-fsdev "local,id=$1,path=${2//,/,,},security_model=none,multidevs=remap${3:-}"
        -device "virtio-9p-device,fsdev=$1,mount_tag=$1")
}

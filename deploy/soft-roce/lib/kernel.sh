# shellcheck shell=bash
# What emulation needs: packages of the distribution, and a kernel with soft-RoCE in a cache folder.

# Command and package that brings it. verbs' providers and the tools are not commands that we run, but without them
# no program of COMMAND's finds a device.
readonly NEEDED=(
    qemu-system-x86_64=qemu-system-x86
    busybox=busybox-static
    ip=iproute2
    rdma=iproute2
    modprobe=kmod
    cpio=cpio
    xz=xz-utils
    setpriv=util-linux
    flock=util-linux
    chrt=util-linux
)
readonly NEEDED_LIBRARIES=(rdma-core libibverbs1 librdmacm1 ibverbs-providers ibverbs-utils rdmacm-utils perftest)

readonly CACHE="${RAILHEAD_RIG_CACHE:-${HOME:-/root}/.cache/railhead/soft-roce}"
# Raised when what `unpack_kernel` makes changes: an older cache is then not taken for a present one.
readonly KERNEL="$CACHE/kernel-1"

# In the order of loading: what the root file system needs, then RDMA. Debian's *cloud* kernels lack 9p and rxe.
readonly BOOT_MODULES=(virtio_mmio virtio_console 9pnet_virtio 9p overlay virtio_rng veth rdma_rxe ib_uverbs rdma_ucm)
# What `modprobe` finds in the guest besides these: whatever a fault may need (netem, nftables, …).
readonly KEPT_MODULES=(arch crypto lib net drivers/infiniband)

missing_packages() {
    local entry package
    {
        for entry in "${NEEDED[@]}"; do command -v "${entry%%=*}" >/dev/null || echo "${entry#*=}"; done
        # The guest has no libraries when its first program starts.
        if command -v busybox >/dev/null && ldd "$(command -v busybox)" >/dev/null 2>&1; then echo busybox-static; fi
        for package in "${NEEDED_LIBRARIES[@]}"; do
            dpkg-query -W -f '${db:Status-Status}' "$package" 2>/dev/null | grep -qx installed || echo "$package"
        done
    } | awk '!seen[$0]++'
}

apt_line() { printf 'apt-get install --no-install-recommends %s' "$*"; }

# The first reason why emulation is impossible here whatever is installed, or nothing.
emulation_obstacle() {
    if [ "$(uname -m)" != x86_64 ]; then
        echo "emulation needs an x86_64 machine, because the guest runs this machine's programs"
    elif ! command -v dpkg-query >/dev/null || ! command -v apt-get >/dev/null; then
        echo "emulation needs Debian 12 or later: its kernel and qemu come by apt-get"
    fi
}

check_emulation() {
    local obstacle missing
    obstacle=$(emulation_obstacle)
    [ -z "$obstacle" ] || fail $CANNOT_RUN "cannot run here: $obstacle"
    mapfile -t missing < <(missing_packages)
    [ ${#missing[@]} = 0 ] || fail $CANNOT_RUN "cannot run here, missing: $(apt_line "${missing[@]}")"
    if [ -d "$KERNEL" ]; then
        say "would run in emulation: kernel $(<"$KERNEL/release") in $KERNEL, not RDMA hardware"
    else
        say "would run in emulation, not RDMA hardware; the first run downloads Debian's kernel (70 MB) into $CACHE"
    fi
}

prepare_emulation() {
    local obstacle missing
    obstacle=$(emulation_obstacle)
    [ -z "$obstacle" ] || fail $CANNOT_RUN "cannot run here: $obstacle"
    mapfile -t missing < <(missing_packages)
    if [ ${#missing[@]} != 0 ]; then
        [ -n "$install" ] || fail $CANNOT_RUN "cannot run here, missing: $(apt_line "${missing[@]}")"
        install_packages "${missing[@]}"
    fi
    mkdir -p "$CACHE" || fail $CANNOT_RUN "cannot make $CACHE; set RAILHEAD_RIG_CACHE"
    initrd="$CACHE/initrd-$(cat "$here/guest/init" "$(command -v busybox)" "$here/lib/kernel.sh" | sha256sum | head -c 16)"
    [ -d "$KERNEL" ] && [ -f "$initrd" ] && return
    # Others wait here, then find it made. What is half made has another name, and is removed by whoever is next.
    exec 9>"$CACHE/lock"
    flock 9
    rm -rf "$CACHE"/making.*
    making=$(mktemp -d "$CACHE/making.XXXXXX")
    if [ ! -d "$KERNEL" ]; then make_kernel; fi
    if [ ! -f "$initrd" ]; then make_initrd; fi
    rm -rf "$making"
    exec 9>&-
}

install_packages() {
    say "installing $*"
    {
        as_root apt-get update -q || true
        as_root env DEBIAN_FRONTEND=noninteractive apt-get install -q -y --no-install-recommends "$@"
    } >&2 || fail $CANNOT_RUN "cannot run here, could not install: $(apt_line "$@")"
}

kernel_package() {
    apt-cache depends linux-image-amd64 2>/dev/null | sed -n 's/.*Depends: \(linux-image-[0-9].*\)/\1/p' | head -n 1
}

# Downloads and unpacks, never installs: this machine's own boot is left alone.
make_kernel() {
    local package module
    package=$(kernel_package)
    if [ -z "$package" ] && [ -n "$install" ]; then
        as_root apt-get update -q >&2 || true
        package=$(kernel_package)
    fi
    [ -n "$package" ] || fail $CANNOT_RUN "cannot run here, apt knows no linux-image-amd64; try: apt-get update"
    say "first use: downloading $package (70 MB) into $CACHE"
    (cd "$making" && apt-get download -q -o APT::Sandbox::User=root "$package" >&2) \
        || fail $CANNOT_RUN "cannot run here, could not download $package; try: apt-get update"
    say "first use: unpacking the kernel and its modules"
    mkdir "$making/deb" "$making/kernel"
    dpkg-deb -x "$making"/linux-image-*.deb "$making/deb"
    unpack_kernel "$making/deb" "$making/kernel"
    rm -f "$CACHE"/initrd-*   # they hold modules of another kernel
    mv "$making/kernel" "$KERNEL"
    rm -rf "$making/deb" "$making"/*.deb
}

# unpack_kernel FROM TO: makes in TO release, vmlinux and lib/modules, with modprobe's index.
unpack_kernel() {
    local base=$1 to=$2 release modules kept
    [ -d "$base/lib/modules" ] || base=$1/usr
    release=$(basename "$base"/lib/modules/*)
    modules=$to/lib/modules/$release
    mkdir -p "$modules"
    depmod -b "$base" "$release"
    (
        cd "$base/lib/modules/$release"
        list_modules "$base" "$release" | sed "s,.*/$release/,,"
        for kept in "${KEPT_MODULES[@]}"; do find "kernel/$kept" -type f; done
        printf '%s\n' modules.order modules.builtin modules.builtin.modinfo
    ) | sort -u | (cd "$base/lib/modules/$release" && cpio -pdm --quiet "$modules")
    depmod -b "$to" "$release"
    extract_elf "$1/boot/vmlinuz-$release" >"$to/vmlinux" \
        || fail $CANNOT_RUN "cannot run here, no kernel found in $release's vmlinuz"
    echo "$release" >"$to/release"
}

# list_modules BASE RELEASE: BOOT_MODULES' files and all that they need, in the order of loading
list_modules() {
    local module
    for module in "${BOOT_MODULES[@]}"; do
        modprobe -d "$1" -S "$2" --show-depends "$module" \
            || fail $CANNOT_RUN "cannot run here, the kernel has no $module"
    done | sed -n 's/^insmod \([^ ]*\).*/\1/p' | awk '!seen[$0]++'
}

# The kernel proper out of a bzImage. qemu starts it directly, where decompressing it under emulation would cost each
# boot seconds. The decompressors complain of what follows the stream; whether it was one, the result tells.
extract_elf() {
    local image=$1 offset
    while IFS=: read -r offset _; do
        if is_elf < <(unpack_at "$offset" "$image"); then
            unpack_at "$offset" "$image" || true
            return 0
        fi
    done < <(LC_ALL=C grep -abo $'\xfd7zXZ' "$image")
    return 1
}

unpack_at() { tail -c "+$(($1 + 1))" "$2" | xz -dcq 2>/dev/null; }

is_elf() {
    local magic
    magic=$(head -c 4 | od -An -tx1)
    [ "$magic" = ' 7f 45 4c 46' ]
}

# The first root file system: busybox, the modules that are needed before this machine's own files are, and init.
make_initrd() {
    local stage=$making/initrd module list
    say "first use: making the first root file system"
    mkdir -p "$stage"/{bin,dev,proc,sys,modules,host,memory,root,control}
    list=$stage/modules/order
    cp "$(command -v busybox)" "$stage/bin/busybox"
    list_modules "$KERNEL" "$(<"$KERNEL/release")" >"$making/modules"
    while read -r module; do
        case $module in
            *.xz) xz -dc "$module" >"$stage/modules/$(basename "$module" .xz)" ;;
            *.ko) cp "$module" "$stage/modules" ;;
            *) fail $CANNOT_RUN "cannot run here, cannot unpack $module" ;;
        esac
        basename "$module" .xz >>"$list"
    done <"$making/modules"
    install -m 755 "$here/guest/init" "$stage/init"
    # Not compressed: it is 6 MB, and the guest would pay for each.
    (cd "$stage" && find . | cpio -o -H newc --quiet) >"$making/initrd.img"
    find "$CACHE" -maxdepth 1 -name "initrd-*" -mtime +30 -delete
    mv "$making/initrd.img" "$initrd"
}

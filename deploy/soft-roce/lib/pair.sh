# shellcheck shell=bash
# Two soft-RoCE devices in one network namespace, joined by a cable: 10.99.0.1 on the first, 10.99.0.2 on the second.
#
# soft-RoCE up to Linux 6.1 (and some after) receives in the initial network namespace only, so the devices cannot each
# have their own. Instead their addresses are taken out of the table `local`, which the kernel asks first, into tables
# of ours: what goes from one address to the other leaves by one interface and comes in by the other, where its counters,
# loss, delay and `ip link set … down` act as on a network. Only rules and routes are added that name these two addresses
# and interfaces; nothing that was there is changed. The price: the kernel does not take the addresses for its own where
# TCP or UDP *binds* to one of them, unless net.ipv4.ip_nonlocal_bind is 1; connecting to them works.

readonly PAIR_TABLE=9900   # tables and rule preferences PAIR_TABLE + 1 … 6

# make_pair LINK0 LINK1 DEVICE0 DEVICE1
make_pair() {
    ip link add "$1" type veth peer name "$2" || return
    ip -batch - <<END || return
addr add 10.99.0.1/24 dev $1
addr add 10.99.0.2/24 dev $2
link set $1 mtu 4200 up
link set $2 mtu 4200 up
rule add pref $((PAIR_TABLE + 1)) iif $1 lookup $((PAIR_TABLE + 1))
rule add pref $((PAIR_TABLE + 2)) iif $2 lookup $((PAIR_TABLE + 2))
rule add pref $((PAIR_TABLE + 3)) from 10.99.0.1 to 10.99.0.1 lookup $((PAIR_TABLE + 1))
rule add pref $((PAIR_TABLE + 4)) from 10.99.0.2 to 10.99.0.2 lookup $((PAIR_TABLE + 2))
rule add pref $((PAIR_TABLE + 5)) to 10.99.0.2 lookup $((PAIR_TABLE + 3))
rule add pref $((PAIR_TABLE + 6)) to 10.99.0.1 lookup $((PAIR_TABLE + 4))
END
    route_pair "$1" "$2" 2>/dev/null
    keep_pair_routed "$1" "$2" >/dev/null 2>&1 &
    local link settings=/proc/sys/net/ipv4/conf
    for link in "$1" "$2"; do
        echo 1 >$settings/"$link"/accept_local
        echo 1 >$settings/"$link"/arp_ignore
        echo 2 >$settings/"$link"/arp_announce
    done
    rdma link add "$3" type rxe netdev "$1" || return
    rdma link add "$4" type rxe netdev "$2" || return
    is_pair_active "$3" "$4"
}

# route_pair LINK0 LINK1, which says what it found in place already. The neighbours are set: with ARP a first connection
# has been seen to wait 30 s for its address in vain, in a machine where much else ran.
route_pair() {
    ip -force -batch - <<END || true
route replace 10.99.0.2 dev $1 src 10.99.0.1 table $((PAIR_TABLE + 3))
route replace 10.99.0.1 dev $2 src 10.99.0.2 table $((PAIR_TABLE + 4))
route replace local 10.99.0.1 dev $1 table $((PAIR_TABLE + 1))
route replace local 10.99.0.2 dev $2 table $((PAIR_TABLE + 2))
route del local 10.99.0.1 dev $1 table local
route del local 10.99.0.2 dev $2 table local
neigh replace 10.99.0.1 lladdr $(<"/sys/class/net/$1/address") dev $2 nud permanent
neigh replace 10.99.0.2 lladdr $(<"/sys/class/net/$2/address") dev $1 nud permanent
END
}

# The kernel drops an interface's routes when it goes down and on its return restores only its own. Ends with the link.
keep_pair_routed() {
    local line
    while read -r line; do
        case $line in
            Deleted*" $1@"*) return ;;
            *" $1@"*[\<,]UP[,\>]* | *" $2@"*[\<,]UP[,\>]*) route_pair "$1" "$2" ;;
        esac
    done < <(exec setpriv --pdeathsig KILL ip monitor link)
}

is_pair_active() {
    local device state
    for device in "$@"; do
        state=$(<"/sys/class/infiniband/$device/ports/1/state") || return
        [ "$state" = '4: ACTIVE' ] || return
    done
}

# remove_pair LINK0 DEVICE0 DEVICE1: removes what is there of it, and says nothing of what is not
remove_pair() {
    local rule
    rdma link del "$2"
    rdma link del "$3"
    ip link del "$1"
    for rule in 1 2 3 4 5 6; do ip rule del pref $((PAIR_TABLE + rule)); done
} 2>/dev/null

package io.railhead.cli.doctor;

import static io.railhead.cli.doctor.Finding.ok;
import static io.railhead.cli.doctor.Finding.warn;

import io.railhead.gateway.config.Adapters;
import io.railhead.gateway.config.MachineNeeds;
import io.railhead.os.devices.Gid;
import io.railhead.os.devices.GidChoice;
import io.railhead.os.devices.PortCounters;
import java.util.ArrayList;
import java.util.List;
import java.util.stream.Collectors;
import java.util.stream.Stream;

/**
 * Checks losses and congestion, counted by the ports since their drivers were loaded, and the ECN
 * settings in sysfs. No file shows PFC, so its tools are named.
 */
final class CongestionCheck implements Check {
    private static final List<String> LOST = List.of("out_of_sequence", "packet_seq_err",
            "local_ack_timeout_err", "rnr_nak_retry_err", "oos_drop_count", "to_retransmits",
            "out_of_seq_request", "rcvd_seq_err", "retry_exceeded_err");
    private static final List<String> DAMAGED = List.of("symbol_error", "link_error_recovery",
            "port_rcv_errors", "local_link_integrity_errors", "rx_icrc_encapsulated");
    private static final List<String> MARKED = List.of("np_ecn_marked_roce_packets",
            "np_cnp_sent", "rp_cnp_handled", "rx_ecn_marked_pkts", "rx_cnp_pkts", "tx_cnp_pkts");
    private static final List<String> REFUSED = List.of("resp_remote_access_errors",
            "remote_access_err");
    /** A rate of loss that has no noticeable effect. */
    private static final long BYTES_PER_LOSS = 1L << 30;

    @Override
    public List<Finding> run(Host host, MachineNeeds needs) {
        List<Finding> findings = new ArrayList<>();
        Adapters.choose(needs.rdma(), host.devices())
                .stream()
                .flatMap(choice -> choice instanceof GidChoice.Chosen chosen
                        ? Stream.of(chosen)
                        : Stream.empty())
                .forEach(chosen -> findings.addAll(port(host, chosen)));
        return findings;
    }

    private static List<Finding> port(Host host, GidChoice.Chosen chosen) {
        String place = chosen.device().name() + "/" + chosen.port().number();
        PortCounters counters = PortCounters.read(host.at("/sys"), chosen.device().name(),
                chosen.port().number());
        List<Finding> findings = new ArrayList<>();
        if (counters.events().isEmpty()) {
            return List.of(ok("counters", place + " has none in sysfs",
                    "ethtool -S or the vendor's tool may have them"));
        }
        findings.add(lost(counters, place));
        findings.add(damaged(counters, place));
        findings.add(refused(counters, place));
        if (!chosen.port().isInfiniband()) {
            chosen.gid()
                    .network()
                    .map(Gid.NetworkInterface::name)
                    .ifPresent(
                            network -> findings.add(marking(host, network, place)));
        }
        return findings;
    }

    private static Finding lost(PortCounters counters, String place) {
        String losses = nonZero(counters, LOST);
        String marks = nonZero(counters, MARKED);
        String found = place + " has counted "
                + (losses.isEmpty() ? "no lost packet" : losses)
                + (marks.isEmpty() ? ", and no mark of congestion" : "; marks: " + marks);
        String why = "over RoCE one lost packet has all that follow it sent again. Counted since"
                + " the driver was loaded: what grows under load matters";
        long count = LOST.stream().mapToLong(counters::event).sum();
        long bytes = counters.sentBytes().orElse(0) + counters.receivedBytes().orElse(0);
        if (count == 0 || (bytes > 0 && count < bytes / BYTES_PER_LOSS)) {
            return ok("loss", found, why);
        }
        return warn("loss", found, why, "give RDMA a lossless or ECN-marked class on adapters and"
                + " switches alike (rdma.verbs.traffic_class says which), and the same MTU");
    }

    private static Finding damaged(PortCounters counters, String place) {
        String damage = nonZero(counters, DAMAGED);
        String why = "bits that arrive wrong come from cables, optics or dirt, not from load."
                + " Counted since the driver was loaded";
        return damage.isEmpty()
                ? ok("link errors", place + none(counters, DAMAGED), why)
                : warn("link errors", place + " has counted " + damage, why,
                        "change or clean cable and transceiver, then look whether it still grows:"
                                + " ethtool -m, ibqueryerrors, mlxlink");
    }

    private static Finding refused(PortCounters counters, String place) {
        String refused = nonZero(counters, REFUSED);
        String why = "a peer named memory that it has no right to; Railhead gives no remote"
                + " rights, so it is another program's peer or somebody tries keys";
        return refused.isEmpty()
                ? ok("remote access", place + none(counters, REFUSED), why)
                : warn("remote access", place + " has counted " + refused, why,
                        "rdma resource show qp says who else uses the adapter; keep RDMA on a VLAN"
                                + " or partition key of its own");
    }

    /** Only the vendor's mlx5 driver has these files. */
    private static Finding marking(Host host, String network, String place) {
        String folder = "/sys/class/net/" + network + "/ecn";
        String tools = "dcb pfc show dev " + network + ", mlnx_qos -i " + network
                + ", ethtool -S " + network + " | grep -E 'pause|discard'";
        String why = "without ECN or PFC on the path, congestion becomes loss. PFC is in no file:"
                + " " + tools;
        if (!host.has(folder + "/roce_np/enable")) {
            return ok("ecn and pfc", "not to be read without " + tools, why);
        }
        String notified = enabled(host, folder + "/roce_np/enable");
        String reacted = enabled(host, folder + "/roce_rp/enable");
        String found = place + " notifies of marks on priorities " + words(notified)
                + ", slows down on " + words(reacted);
        return notified.isEmpty() || reacted.isEmpty()
                ? warn("ecn and pfc", found, why, "echo 1 > " + folder
                        + "/roce_np/enable/3; echo 1 > " + folder + "/roce_rp/enable/3, with the"
                        + " priority that RDMA has on the switches")
                : ok("ecn and pfc", found, why);
    }

    private static String words(String priorities) {
        return priorities.isEmpty() ? "none" : priorities;
    }

    private static String enabled(Host host, String folder) {
        return host.names(folder)
                .stream()
                .filter(priority -> host.line(folder + "/" + priority).orElse("0").equals("1"))
                .collect(Collectors.joining(","));
    }

    private static String none(PortCounters counters, List<String> names) {
        return names.stream().anyMatch(counters.events()::containsKey)
                ? " has counted none"
                : " does not count them";
    }

    private static String nonZero(PortCounters counters, List<String> names) {
        return names.stream()
                .filter(name -> counters.event(name) > 0)
                .map(name -> name + " " + counters.event(name))
                .collect(Collectors.joining(", "));
    }
}

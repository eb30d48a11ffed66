package io.railhead.os.devices;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.Collections;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.OptionalLong;

/**
 * The counters of a port since its driver was loaded, from sysfs. Drivers have different counters;
 * missing ones are left out.
 *
 * @param events counters of errors and congestion by the kernel's names, from a fixed list
 * @param sentBytes empty if the driver does not count them
 * @see <a href= "https://docs.kernel.org/admin-guide/abi-stable.html">sysfs-class-infiniband</a>
 */
public record PortCounters(Map<String, Long> events, OptionalLong sentBytes,
        OptionalLong receivedBytes) {
    /** The unit of the kernel's data counters: a word of the InfiniBand link, over RoCE too. */
    private static final int DATA_UNIT_BYTES = 4;

    /** Counters of the link and its port, below {@code counters}. */
    private static final List<String> LINK = List.of("symbol_error", "link_error_recovery",
            "link_downed", "port_rcv_errors", "port_rcv_remote_physical_errors",
            "port_xmit_discards", "port_xmit_wait", "local_link_integrity_errors",
            "excessive_buffer_overrun_errors");

    /** Counters of mlx5, then bnxt_re, then soft-RoCE, below {@code hw_counters}. */
    private static final List<String> TRANSPORT = List.of("out_of_buffer", "out_of_sequence",
            "packet_seq_err", "implied_nak_seq_err", "duplicate_request", "rnr_nak_retry_err",
            "local_ack_timeout_err", "req_cqe_error", "req_remote_access_errors",
            "req_remote_invalid_request", "resp_cqe_error", "resp_local_length_error",
            "resp_remote_access_errors", "np_cnp_sent", "np_ecn_marked_roce_packets",
            "rp_cnp_handled", "rp_cnp_ignored", "roce_adp_retrans", "roce_adp_retrans_to",
            "roce_slow_restart", "rx_icrc_encapsulated",
            "to_retransmits", "seq_err_naks_rcvd", "rnr_naks_rcvd", "max_retry_exceeded",
            "remote_access_err", "oos_drop_count", "rx_ecn_marked_pkts", "rx_cnp_pkts",
            "tx_cnp_pkts",
            "out_of_seq_request", "rcvd_seq_err", "rcvd_rnr_err", "send_rnr_err",
            "completer_retry_err", "retry_exceeded_err", "retry_rnr_exceeded_err", "send_err",
            "link_downed");

    public PortCounters {
        events = Collections.unmodifiableMap(new LinkedHashMap<>(events));
    }

    /** Reads the counters. Blocks: some adapters ask their firmware. */
    public static PortCounters read(String device, int port) {
        return read(Path.of("/sys"), device, port);
    }

    /** Reads the counters below another root than {@code /sys}. */
    public static PortCounters read(Path sysfs, String device, int port) {
        Path folder = sysfs.resolve("class/infiniband")
                .resolve(device)
                .resolve("ports")
                .resolve(String.valueOf(port));
        Path link = folder.resolve("counters");
        Path transport = folder.resolve("hw_counters");
        Map<String, Long> events = new LinkedHashMap<>();
        LINK.forEach(name -> add(events, link, name));
        TRANSPORT.forEach(name -> add(events, transport, name));
        return new PortCounters(events, bytes(link.resolve("port_xmit_data")),
                bytes(link.resolve("port_rcv_data")));
    }

    /** Returns a counter; 0 if it is missing here. */
    public long event(String name) {
        return events.getOrDefault(name, 0L);
    }

    private static void add(Map<String, Long> events, Path folder, String name) {
        number(folder.resolve(name)).ifPresent(count -> events.putIfAbsent(name, count));
    }

    private static OptionalLong bytes(Path file) {
        OptionalLong words = number(file);
        return words.isEmpty()
                ? words
                : OptionalLong.of(words.getAsLong() * DATA_UNIT_BYTES);
    }

    /** Parses a counter: ports without a management agent print text in place of a number. */
    private static OptionalLong number(Path file) {
        try {
            return OptionalLong.of(Long.parseLong(Files.readString(file).strip()));
        } catch (IOException | NumberFormatException e) {
            return OptionalLong.empty();
        }
    }
}

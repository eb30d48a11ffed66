package io.railhead.cli.bench;

import java.util.List;
import java.util.Map;

/**
 * The content of {@code peers.json}.
 *
 * @param command that was typed
 * @param software the contenders' versions
 * @param notes what a reader must know before believing a figure
 */
record PeersReport(String command, Machine machine, Map<String, String> software, PeersPlan plan,
        List<String> notes, List<BenchRow> rows) {}

package io.railhead.cli.bench;

import java.util.List;

/**
 * The content of {@code misses.json}.
 *
 * @param command that was typed
 * @param notes what a reader must know before believing a figure
 */
record MissesReport(String command, Machine machine, MissesPlan plan, List<String> notes,
        List<Goal> goals, List<MissRow> rows) {}

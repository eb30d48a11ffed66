package io.railhead.cli.qualify;

import io.railhead.cli.reading.ReadingRow;
import java.util.List;

/**
 * A report that a site may send back. It names no host, user or address.
 *
 * @param qualified whether nothing failed, and bytes used the requested transport
 * @param railhead version, commit and runtime
 * @param fabric loopback or verbs
 * @param rows the results of reading the same objects in several ways
 */
record QualifyReport(int version, boolean qualified, List<String> railhead, String fabric,
        Hardware hardware, List<Trial> trials, List<ReadingRow> rows) {
    private static final int VERSION = 1;

    static QualifyReport of(List<String> railhead, String fabric, Hardware hardware,
            List<Trial> trials,
            List<ReadingRow> rows) {
        boolean hasMoved = trials.stream()
                .anyMatch(trial -> trial.name().equals(Qualification.READS) && trial.hasPassed());
        boolean hasFailed = trials.stream()
                .anyMatch(trial -> trial.outcome() == Trial.Outcome.FAILED);
        return new QualifyReport(VERSION, hasMoved && !hasFailed, railhead, fabric, hardware,
                trials,
                rows);
    }
}

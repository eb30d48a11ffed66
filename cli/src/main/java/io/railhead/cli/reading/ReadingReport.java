package io.railhead.cli.reading;

import java.util.List;

/** What {@code --json} writes. */
public record ReadingReport(boolean verified, List<ReadingRow> rows) {}

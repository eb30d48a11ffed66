package io.railhead.cli.reading;

import java.util.List;

/** The content of {@code --json}. */
public record ReadingReport(boolean verified, List<ReadingRow> rows) {}

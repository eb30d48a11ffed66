package io.railhead.cli.reading;

import java.util.List;

/** What {@code --json} writes. */
public record Report(boolean verified, List<Row> rows) {}

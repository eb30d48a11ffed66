package io.railhead.cli.demo;

import java.util.List;

/** What {@code --json} writes. */
record Report(boolean verified, List<Row> rows) {}

package io.railhead.cli.site;

import io.railhead.cli.reading.ReadingRow;
import java.util.List;

/**
 * The content of {@code --json}.
 *
 * @param verified false after any failure; then there are no rows
 * @param bytes of the objects, read once
 */
record SiteReport(boolean verified, String endpoint, String bucket, int objects, long bytes,
        List<ReadingRow> rows, List<String> saving) {}

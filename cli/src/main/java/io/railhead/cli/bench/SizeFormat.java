package io.railhead.cli.bench;

import io.railhead.gateway.config.ByteCount;
import java.util.regex.Pattern;

/** Sizes as people write them, a blank before the unit. */
final class SizeFormat {
    private static final Pattern UNIT = Pattern.compile("(?<=[0-9])(?=[KMGT])");

    private SizeFormat() {}

    static String text(long bytes) {
        return UNIT.matcher(new ByteCount(bytes).toString()).replaceFirst(" ");
    }
}

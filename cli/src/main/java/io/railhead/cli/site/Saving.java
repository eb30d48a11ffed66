package io.railhead.cli.site;

import io.railhead.cli.reading.ReadingRow;
import java.math.BigDecimal;
import java.math.MathContext;
import java.math.RoundingMode;
import java.util.List;
import java.util.Locale;

/** The saving in words, a sentence for each path through the gateway; a loss is called a loss. */
final class Saving {
    private static final double MIB = 1 << 20;
    private static final double GIB = 1 << 30;
    /** Ratios this close to 1 count as equal. */
    private static final double SAME = 0.05;
    /** Processor time has a resolution of 0.01 s: no ratio is given below this. */
    private static final double LEAST_CPU_SECONDS = 0.1;

    private final ReadingRow direct;
    private final long bytes;

    private Saving(ReadingRow direct, long bytes) {
        this.direct = direct;
        this.bytes = bytes;
    }

    /**
     * @param rows the rows, the direct one among them
     * @param bytes of all objects, read once
     */
    static List<String> words(List<ReadingRow> rows, long bytes) {
        ReadingRow direct = rows.stream()
                .filter(Saving::isDirect)
                .findFirst()
                .orElseThrow(() -> new IllegalArgumentException("no direct row"));
        Saving saving = new Saving(direct, bytes);
        return rows.stream()
                .filter(readingRow -> !isDirect(readingRow))
                .map(saving::sentence)
                .toList();
    }

    private static boolean isDirect(ReadingRow readingRow) {
        return readingRow.path().equals("direct");
    }

    private String sentence(ReadingRow readingRow) {
        return way(readingRow) + ", the same " + size(bytes) + " took " + seconds(readingRow)
                + " instead of "
                + seconds(direct) + ": " + speed(readingRow) + clientCpu(readingRow)
                + store(readingRow) + ".";
    }

    private static String way(ReadingRow readingRow) {
        return switch (readingRow.path()) {
            case "cold" -> "Read for the first time through the gateway";
            case "http-hit" -> "Read from the gateway over HTTP";
            case "rdma-hit" -> "Delivered one-sided, asked for by a token in HTTP";
            default -> "Read over the native channel (" + readingRow.fabric() + ")";
        };
    }

    private static String size(long bytes) {
        return bytes < MIB
                ? number(bytes / 1024.0) + " KiB"
                : number(bytes / MIB) + " MiB";
    }

    private String seconds(ReadingRow readingRow) {
        return number(bytes / MIB / readingRow.mibPerS()) + " s";
    }

    private String speed(ReadingRow readingRow) {
        double ratio = readingRow.mibPerS() / direct.mibPerS();
        if (Math.abs(ratio - 1) <= SAME) {
            return "as fast";
        }
        return ratio > 1
                ? number(ratio) + " times as fast"
                : "slower, it took " + number(1 / ratio) + " times as long";
    }

    private String clientCpu(ReadingRow readingRow) {
        if (direct.clientCpuSPerGib() * direct.bytes() / GIB < LEAST_CPU_SECONDS) {
            return "";
        }
        double ratio = readingRow.clientCpuSPerGib() / direct.clientCpuSPerGib();
        if (Math.abs(ratio - 1) <= SAME) {
            return ", with the same processor time of the client";
        }
        String share = ratio < 0.01 ? "less than 1 %" : number(ratio * 100) + " %";
        return ", with " + (ratio < 1 ? share : number(ratio) + " times")
                + (ratio < 1 ? " of" : "") + " the client's processor time";
    }

    /**
     * Describes the store's work over all passes: a mean of few requests would be no whole number.
     */
    private String store(ReadingRow readingRow) {
        Long requests = readingRow.backendRequests();
        Long sent = readingRow.backendBytes();
        if (requests == null || sent == null) {
            return "";
        }
        if (requests == 0) {
            return "; the store was not asked";
        }
        long passes = readingRow.bytes() / bytes;
        if (passes == 1 && sent == bytes) {
            return "; the store was asked for each byte once";
        }
        return "; in " + count(passes, "pass", "es") + " the store was sent "
                + count(requests, "request", "s")
                + (sent == 0 ? " and no byte was read from it" : " and gave " + size(sent));
    }

    private static String count(long many, String one, String ending) {
        return many + " " + one + (many == 1 ? "" : ending);
    }

    /** Formats two significant digits, or all before the point. */
    private static String number(double value) {
        if (value >= 10) {
            return String.format(Locale.ROOT, "%.0f", value);
        }
        return new BigDecimal(value, new MathContext(2, RoundingMode.HALF_UP))
                .stripTrailingZeros()
                .toPlainString();
    }
}

package io.railhead.benchmarks.pagesize;

import io.railhead.gateway.config.ConfigException;
import java.io.IOException;
import java.util.Comparator;
import java.util.List;
import java.util.Locale;
import java.util.stream.IntStream;

/**
 * Prints the figures of {@code docs/adr/0001-page-size.md}: {@code waste} what each page size
 * wastes of the reference mix, {@code speed [rounds]} how fast hits are with each.
 */
public final class PageSizes {
    /** {@code cache.page} where the configuration says nothing. */
    static final int DEFAULT_BYTES = 256 << 10;

    static final List<Integer> ALL = List.of(64 << 10, 128 << 10, 256 << 10, 512 << 10, 1 << 20);

    private static final long CHURNED_BYTES = 256L << 20;
    private static final int SEEDS = 5;
    private static final int READ_BYTES = 110 << 10;
    private static final int ROUNDS = 31;

    private PageSizes() {}

    public static void main(String[] arguments) throws IOException, ConfigException {
        String what = arguments.length == 0 ? "waste" : arguments[0];
        switch (what) {
            case "waste" -> printWaste();
            case "speed" -> SpeedTrial
                    .run(arguments.length > 1 ? Integer.parseInt(arguments[1]) : ROUNDS)
                    .forEach(PageSizes::print);
            default -> throw new IllegalArgumentException("waste or speed, not " + what);
        }
    }

    private static void printWaste() {
        ReferenceMix mix = ReferenceMix.read();
        print("page      rounding  churned: lost       evictions per page  cold read");
        for (int pageBytes : ALL) {
            List<Churn.Result> churned = IntStream.rangeClosed(1, SEEDS)
                    .mapToObj(seed -> Churn.run(mix, pageBytes, CHURNED_BYTES, seed))
                    .sorted(Comparator.comparingDouble(Churn.Result::lostRatio))
                    .toList();
            print(String.format(Locale.ROOT, "%4d KiB  %7.2f%%  %5.2f%% to %5.2f%%  %16.3f  %8.1fx",
                    pageBytes >> 10, 100 * SlotWaste.of(mix, pageBytes).ratio(),
                    100 * churned.getFirst().lostRatio(), 100 * churned.getLast().lostRatio(),
                    churned.getLast().evictionsPerPage(), fetchedPerByteRead(pageBytes)));
        }
    }

    /**
     * What the store is asked for, whole pages, over what was asked for: an image anywhere in an
     * archive that nobody has read yet.
     */
    private static double fetchedPerByteRead(int pageBytes) {
        return (double) (READ_BYTES + pageBytes - 1) / READ_BYTES;
    }

    private static void print(String line) {
        System.out.println(line);
    }
}

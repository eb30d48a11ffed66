package io.railhead.benchmarks.hitratio;

import com.github.benmanes.caffeine.cache.Cache;
import com.github.benmanes.caffeine.cache.Caffeine;
import com.github.benmanes.caffeine.cache.RemovalCause;
import java.util.Arrays;
import java.util.HashSet;
import java.util.LinkedHashMap;
import java.util.LinkedHashSet;
import java.util.Locale;
import java.util.Map;
import java.util.Objects;
import java.util.Random;
import java.util.Set;
import java.util.stream.LongStream;
import org.jspecify.annotations.Nullable;

/**
 * Traces through the product's cache over its disk tier, and through simulations of other ways to
 * choose what is written. The disk gives up its oldest pages. A trace lasts some days, in each of which so much may be written as the disk holds.
 */
final class DiskRatios {
    private static final double DAYS = 2;
    private static final int SLOT_BYTES = 4 << 10;
    private static final double GOAL_POINTS = 2;
    private static final double BUDGET_SLACK = 0.05;

    private DiskRatios() {}

    /**
     * What a way came to.
     *
     * @param writes pages that were written after the disk was full, of those that were allowed
     */
    record Ratio(double hits, double writes) {}

    /** The ways that are simulated. */
    private enum Admission {
        ALL,
        SECOND_TOUCH,
        FILL_THEN_SECOND,
        FILL_THEN_SECOND_OF_FOUR
    }

    /** @param times how many times the memory's pages the disk has */
    static String line(Trace trace, int most, int times) {
        int pages = RealCache.capacity(trace.cachePages());
        long[] reads = Arrays.stream(trace.pages().get()).limit(most).toArray();
        int distinct = (int) LongStream.of(reads).distinct().count();
        int diskPages = RealCache.diskPages(times * pages);
        Ratio ours = ours(trace, reads, diskPages);
        Map<Admission, Ratio> others = new LinkedHashMap<>();
        for (Admission each : Admission.values()) {
            others.put(each, simulate(each, reads, pages, diskPages));
        }
        // Those that write more than is allowed are no measure.
        double best = others.values()
                .stream()
                .filter(each -> each.writes() <= 1 + BUDGET_SLACK)
                .mapToDouble(Ratio::hits)
                .max()
                .orElse(0);
        StringBuilder line = new StringBuilder(String.format(Locale.ROOT,
                "| %s | %,d | %,d of %,d | %.2f (%.2f) |", trace.name(), reads.length, pages,
                Math.min(diskPages, distinct), ours.hits(), ours.writes()));
        others.values().forEach(each -> line.append(
                String.format(Locale.ROOT, " %.2f (%.2f) |", each.hits(), each.writes())));
        return line.append(String.format(Locale.ROOT, " %.2f%s |", best - ours.hits(),
                best - ours.hits() <= GOAL_POINTS && ours.writes() <= 1 + BUDGET_SLACK
                        ? ""
                        : ", missed")).toString();
    }

    static String title() {
        StringBuilder title = new StringBuilder(
                "| trace | reads | pages of memory, of all or of the disk | Railhead |");
        for (Admission each : Admission.values()) {
            title.append(' ').append(each.name().toLowerCase(Locale.ROOT).replace('_', ' '))
                    .append(" |");
        }
        return title.append(" behind the best within the budget |\n|")
                .append("---|".repeat(5 + Admission.values().length)).toString();
    }

    private static Ratio ours(Trace trace, long[] reads, int diskPages) {
        int hits = 0;
        double allowed = 0;
        double writes;
        try (RealCache cache = new RealCache(trace.cachePages(), diskPages,
                (long) (DAYS * 86_400e9 / reads.length), (long) diskPages * SLOT_BYTES)) {
            long fullAt = -1;
            long before = 0;
            for (int i = 0; i < reads.length; i++) {
                hits += cache.read(reads[i]) ? 1 : 0;
                if (fullAt < 0 && cache.diskIsFull()) {
                    fullAt = i;
                    before = cache.writtenPages();
                }
            }
            allowed = fullAt < 0 ? 0 : allowed(reads.length, reads.length - fullAt, diskPages);
            writes = fullAt < 0 ? 0 : (cache.writtenPages() - before) / allowed;
        }
        return new Ratio(100.0 * hits / reads.length, writes);
    }

    /** An hour's part is there at once, and the rest comes evenly. */
    private static double allowed(long reads, long left, int diskPages) {
        return diskPages / 24.0 + DAYS * diskPages * left / reads;
    }

    private static Ratio simulate(Admission admission, long[] reads, int pages, int diskPages) {
        Random random = new Random(1);
        LinkedHashSet<Long> disk = new LinkedHashSet<>();
        Set<Long> seen = new HashSet<>();
        boolean[] full = {false};
        long[] writes = {0};
        Cache<Long, Boolean> memory = Caffeine.newBuilder()
                .executor(Runnable::run)
                .maximumSize(pages)
                .evictionListener((@Nullable Long evicted, @Nullable Boolean value,
                        RemovalCause cause) -> {
                    Long page = Objects.requireNonNull(evicted);
                    boolean again = !seen.add(page);
                    boolean kept = switch (admission) {
                        case ALL -> true;
                        case SECOND_TOUCH -> again;
                        case FILL_THEN_SECOND -> !full[0] || again;
                        case FILL_THEN_SECOND_OF_FOUR ->
                            !full[0] || (again && random.nextInt(4) == 0);
                    };
                    if (kept && disk.add(page)) {
                        writes[0] += full[0] ? 1 : 0;
                        if (disk.size() > diskPages) {
                            full[0] = true;
                            disk.removeFirst();
                        }
                    }
                })
                .build();
        long fullAt = -1;
        int hits = 0;
        for (int i = 0; i < reads.length; i++) {
            long page = reads[i];
            boolean inMemory = memory.getIfPresent(page) != null;
            hits += inMemory || disk.contains(page) ? 1 : 0;
            if (!inMemory) {
                memory.put(page, true);
            }
            if (fullAt < 0 && full[0]) {
                fullAt = i;
            }
        }
        return new Ratio(100.0 * hits / reads.length, fullAt < 0
                ? 0
                : writes[0] / allowed(reads.length, reads.length - fullAt, diskPages));
    }
}

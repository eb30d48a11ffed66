package io.railhead.cache;

import io.railhead.cache.FillException.Reason;
import io.railhead.cache.memory.PageMemory.Pool;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CompletionStage;
import java.util.concurrent.atomic.AtomicBoolean;
import org.jspecify.annotations.Nullable;

/**
 * One request about an object of unknown version, and the callers that wait for its response. Pages
 * for the body are claimed before any caller learns the metadata, so no caller fetches them again.
 */
final class DiscoveryFlight implements DiscoverySource.Flight {

    private final FillTable table;
    private final ObjectCache cache;
    private final String tenant;
    private final Runnable landed;
    private final AtomicBoolean answered = new AtomicBoolean();
    private final CompletableFuture<Discovery> outcome = new CompletableFuture<>();

    /**
     * @param tenant the tenant that pages are fetched for
     * @param landed removes the flight from the table of flights
     */
    DiscoveryFlight(FillTable table, ObjectCache cache, String tenant, Runnable landed) {
        this.table = table;
        this.cache = cache;
        this.tenant = tenant;
        this.landed = landed;
    }

    CompletionStage<Discovery> owner() {
        return outcome.minimalCompletionStage();
    }

    CompletionStage<Discovery> joiner() {
        return outcome.thenApply(known -> new Discovery(known.metadata(), false))
                .minimalCompletionStage();
    }

    @Override
    public PageSource.@Nullable Sink found(ObjectMetadata metadata, long offset, long length) {
        answer();
        Fill fill = null;
        try {
            ObjectMetadata shared = cache.shared(metadata);
            fill = tryFill(shared.version(), offset, length);
            cache.keep(shared);
            return fill;
        } catch (RuntimeException | Error e) {
            if (fill != null) {
                // No source will write into this fill.
                fill.fail(new FillException(Reason.BACKEND_FAILED, "not learnt", e));
            }
            throw e;
        } finally {
            land(metadata);
        }
    }

    @Override
    public void failed() {
        answer();
        land(null);
    }

    @Override
    public void failedIfUnanswered() {
        if (answered.compareAndSet(false, true)) {
            land(null);
        }
    }

    private void answer() {
        if (!answered.compareAndSet(false, true)) {
            throw new IllegalStateException("a flight is answered once");
        }
    }

    private void land(@Nullable ObjectMetadata metadata) {
        landed.run();
        outcome.complete(new Discovery(metadata, true));
    }

    private @Nullable Fill tryFill(ObjectVersion version, long offset, long length) {
        int pageBytes = table.pageBytes();
        long end = Math.min(offset + length, version.sizeBytes());
        boolean toTheEnd = end == version.sizeBytes();
        long endPage = toTheEnd ? Math.ceilDiv(end, pageBytes) : end / pageBytes;
        long first = offset / pageBytes;
        if (offset % pageBytes != 0 || endPage <= first) {
            return null;
        }
        @Nullable
        FillClaim[] claims = claim(version, first, endPage);
        int[] lengths = new int[claims.length];
        Arrays.setAll(lengths, i -> table.lengthOf(new PageKey(version, first + i)));
        if (Arrays.stream(claims).allMatch(fillClaim -> fillClaim == null)) {
            return null;
        }
        long tail = toTheEnd ? 0 : end - endPage * pageBytes;
        Fill fill = table.tryFill(Arrays.asList(claims), lengths, tail, Pool.CACHE, null);
        if (fill == null) {
            List<FillClaim> unused = new ArrayList<>();
            for (FillClaim fillClaim : claims) {
                if (fillClaim != null) {
                    unused.add(fillClaim);
                }
            }
            table.abandon(unused);
        }
        return fill;
    }

    /** Claims pages block by block, since each block has its own lock. */
    private @Nullable FillClaim[] claim(ObjectVersion version, long first, long end) {
        @Nullable
        FillClaim[] claims = new @Nullable FillClaim[(int) (end - first)];
        long at = first;
        while (at < end) {
            long blockEnd = Math.min(end, (at / table.pagesPerRun() + 1) * table.pagesPerRun());
            List<FillTable.Missing> block = new ArrayList<>();
            for (long page = at; page < blockEnd; page++) {
                block.add(new FillTable.Missing(new PageKey(version, page)));
            }
            for (FillClaim fillClaim : table.claimMissing(block, tenant)) {
                claims[(int) (fillClaim.key().index() - first)] = fillClaim;
            }
            at = blockEnd;
        }
        return claims;
    }
}

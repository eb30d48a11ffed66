package io.railhead.cache;

import io.railhead.cache.FillException.Reason;
import io.railhead.cache.FillTable.Fetcher;
import io.railhead.cache.PendingPage.Held;
import io.railhead.cache.PendingPage.Lost;
import io.railhead.cache.PendingPage.Without;
import io.railhead.cache.memory.Lease;
import io.railhead.cache.memory.Page;
import io.railhead.cache.memory.PageMemory.Pool;
import io.railhead.cache.memory.PageSlice;
import java.util.ArrayDeque;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.Executor;
import java.util.concurrent.RejectedExecutionException;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.concurrent.atomic.AtomicLong;
import java.util.zip.Checksum;
import org.jspecify.annotations.Nullable;

/**
 * The reader behind {@link RangeReader}.
 *
 * <pre>
 *   from        position              planned                 to
 *    │ handed over │ ahead: held, waiting │ not looked at yet │
 *    └─ some still outstanding ─┴─ together at most the window ─┘
 * </pre>
 *
 * All state is confined to the executor, except {@link #wake} and {@link #closed}. Each event is
 * counted in {@code news}. The one that counted from zero schedules the drain, or starts it when
 * already on the executor; the drain runs until no event is left. So nothing recurses, even if a
 * receiver closes slices within a call. A lost page matters only when it is next in line; then the
 * plan is dropped and made again.
 *
 * <p> While the reader waits for memory it holds no claim and no page ahead, so that readers with
 * memory can finish.
 */
final class WindowReader implements RangeReader {
    /** The failures of other readers' fills on one page after which the backend counts as down. */
    private static final int OTHERS_LOSSES = 4;

    private final FillTable table;
    private final MemoryWait memoryWait;
    private final long windowBytes;
    private final ReadRequest request;
    private final PageSource source;
    private final Executor executor;
    private final Sink sink;
    private final FillChecksums.@Nullable Sums sums;
    private final ArrayDeque<PendingPage> ahead = new ArrayDeque<>();
    private final AtomicInteger news = new AtomicInteger();
    private final AtomicLong outstandingBytes = new AtomicLong();
    private volatile boolean cancelled;
    private volatile boolean done;
    private long position;
    private long plannedPage;
    private long aheadBytes;
    private int ownLosses;
    private int othersLosses;

    WindowReader(FillTable table, MemoryWait.Clock clock, long windowBytes, ReadRequest request,
            PageSource source, Executor executor, Sink sink) {
        this.table = table;
        this.memoryWait = new MemoryWait(clock, this::wake);
        this.windowBytes = windowBytes;
        this.request = request;
        this.source = table.throughLower(source);
        this.executor = executor;
        this.sink = sink;
        this.sums = table.sums(request.version(), source);
        this.position = request.from();
        this.plannedPage = pageOf(position);
    }

    @Override
    public void start() {
        if (news.getAndIncrement() == 0) {
            drain();
        }
    }

    @Override
    public void cancel() {
        cancelled = true;
        wake();
    }

    void closed(int bytes) {
        outstandingBytes.addAndGet(-bytes);
        if (!done) {
            wake();
        }
    }

    void wake() {
        if (news.getAndIncrement() == 0) {
            try {
                executor.execute(this::drain);
            } catch (RejectedExecutionException e) {
                // The executor is gone, and the receiver with it; no drain will run any more.
                stop();
            }
        }
    }

    private void drain() {
        int seen = news.get();
        while (seen != 0) {
            try {
                advance();
            } catch (RuntimeException | Error e) {
                stop();
                throw e;
            }
            seen = news.addAndGet(-seen);
        }
    }

    private void stop() {
        cancelled = true;
        dropAhead();
    }

    private void advance() {
        boolean planned = true;
        while (planned && deliver()) {
            planned = plan();
        }
        if (cancelled || done) {
            dropAhead();
        }
    }

    /** Hands cached pages over; false once there is nothing more to do. */
    private boolean deliver() {
        while (!cancelled && !done) {
            if (position == request.to()) {
                done = true;
                sink.end();
                return false;
            }
            PendingPage next = ahead.peek();
            if (next == null || next.state() == Without.WAITING) {
                return true;
            }
            if (sums != null && sums.isRefuted()) {
                fail(FillChecksums.mismatch());
                return false;
            }
            switch (next.state()) {
                case Held held -> {
                    if (!agrees(next.key(), held.lease().page())) {
                        fail(FillChecksums.mismatch());
                        return false;
                    }
                    handOver(next, held.lease());
                }
                case Lost lost -> {
                    dropAhead();
                    if (!mayGoOn(next.fetcher(), lost.cause())) {
                        return false;
                    }
                }
                case Without _ -> dropAhead();
            }
        }
        return false;
    }

    /**
     * Compares a page without a known checksum, such as an uploaded one; false if its bytes are
     * wrong.
     */
    private boolean agrees(PageKey key, Page page) {
        if (sums == null || sums.knows(key.index())) {
            return true;
        }
        Checksum sum = sums.page();
        page.addTo(sum);
        if (sums.agrees(key.index(), sum.getValue())) {
            return true;
        }
        table.corrupt(key.version(), sums);
        return false;
    }

    private void handOver(PendingPage next, Lease lease) {
        ahead.remove();
        aheadBytes -= next.length();
        outstandingBytes.addAndGet(next.length());
        next.handOver();
        ownLosses = 0;
        othersLosses = 0;
        long pageStart = next.key().index() * table.pageBytes();
        long from = position;
        position = Math.min(pageStart + next.length(), request.to());
        lease.page().readTo((int) (position - pageStart));
        sink.slice(new PageSlice(lease, from, (int) (from - pageStart), (int) (position - from)));
    }

    private boolean mayGoOn(Fetcher fetcher, FillException cause) {
        boolean fatal = switch (cause.reason()) {
            case VERSION_CHANGED, NOT_FOUND -> true;
            // Another fill's checksums were refuted, which this reader does not share: it began
            // before that.
            case CORRUPT -> sums == null || ++othersLosses >= OTHERS_LOSSES;
            case REFUSED -> fetcher == Fetcher.SELF;
            case BACKEND_FAILED, BACKEND_ERROR -> fetcher == Fetcher.SELF
                    ? ++ownLosses > 1
                    : ++othersLosses >= OTHERS_LOSSES;
            case NO_MEMORY -> false;
        };
        if (fatal) {
            fail(cause);
            return false;
        }
        if (cause.reason() == Reason.NO_MEMORY && !mayUseReserve()) {
            waitForMemory();
            return false;
        }
        return true;
    }

    private void fail(FillException cause) {
        done = true;
        dropAhead();
        sink.failed(cause, position);
    }

    private void dropAhead() {
        ahead.forEach(PendingPage::drop);
        ahead.clear();
        aheadBytes = 0;
        plannedPage = pageOf(position);
    }

    /** Looks up the pages of the next block if the window has room; false if nothing changed. */
    private boolean plan() {
        int count = pagesToPlan();
        if (count == 0) {
            return false;
        }
        List<PendingPage> block = new ArrayList<>(count);
        for (int i = 0; i < count; i++) {
            PageKey key = new PageKey(request.version(), plannedPage + i);
            block.add(new PendingPage(this, key, offsetIn(key), table.lengthOf(key)));
        }
        List<FillClaim> claimed = table.claimMissing(block, request.tenant());
        List<FillClaim> unfetched = fetchRuns(claimed);
        int kept = unfetched.isEmpty()
                ? count
                : (int) (unfetched.getFirst().key().index() - plannedPage);
        block.subList(kept, count).forEach(PendingPage::drop);
        // Abandoned last: otherwise the reader's own abandoned claims would wake it in an endless
        // loop.
        table.abandon(unfetched);
        for (PendingPage page : block.subList(0, kept)) {
            ahead.add(page);
            aheadBytes += page.length();
        }
        plannedPage += kept;
        if (kept > 0) {
            memoryWait.end();
            return true;
        }
        if (ahead.isEmpty()) {
            waitForMemory();
        }
        return false;
    }

    private int offsetIn(PageKey key) {
        return (int) Math.max(0, position - key.index() * table.pageBytes());
    }

    private int pagesToPlan() {
        long lastPage = pageOf(request.to() - 1);
        int perRun = table.pagesPerRun();
        boolean tooFar = plannedPage / perRun > pageOf(position) / perRun + 1;
        if (plannedPage > lastPage || tooFar) {
            return 0;
        }
        long wanted = Math.min((plannedPage / perRun + 1) * perRun, lastPage + 1) - plannedPage;
        long held = aheadBytes + outstandingBytes.get();
        long room = (windowBytes - held) / table.pageBytes();
        if (room >= wanted) {
            return (int) wanted;
        }
        return held > 0 ? 0 : (int) Math.max(1, room);
    }

    /**
     * Fetches claimed pages in runs of adjacent ones; returns the claims that must be abandoned.
     */
    private List<FillClaim> fetchRuns(List<FillClaim> claimed) {
        int fetched = 0;
        for (List<FillClaim> run : table.runs(claimed)) {
            int found = fetchRun(run);
            fetched += found;
            if (found < run.size()) {
                return claimed.subList(fetched, claimed.size());
            }
        }
        return List.of();
    }

    /**
     * Returns how many of the run's pages found memory; a part of a run only if it is next in line.
     */
    private int fetchRun(List<FillClaim> run) {
        int fetched = fetchFrom(run, Pool.CACHE);
        boolean nextInLine = run.getFirst().key().index() == pageOf(position);
        if (fetched == 0 && nextInLine && mayUseReserve()) {
            fetched = fetchFrom(run, Pool.RESERVE);
        }
        return fetched;
    }

    private int fetchFrom(List<FillClaim> run, Pool pool) {
        boolean nextInLine = run.getFirst().key().index() == pageOf(position);
        for (int count = run.size(); count > 0; count = nextInLine ? count / 2 : 0) {
            if (table.tryFetch(run.subList(0, count), source, pool, sums)) {
                return count;
            }
        }
        return 0;
    }

    private boolean mayUseReserve() {
        return outstandingBytes.get() == 0 && memoryWait.look()
                && request.fallback() == Pool.RESERVE;
    }

    private void waitForMemory() {
        table.shortages.increment();
        if (outstandingBytes.get() > 0) {
            // The reader's own receiver holds memory: the next closed slice continues the reader.
            return;
        }
        if (memoryWait.isOver()) {
            fail(new FillException(Reason.NO_MEMORY, "no memory for a page", null));
        } else {
            memoryWait.await(table.memory());
        }
    }

    private long pageOf(long offset) {
        return offset / table.pageBytes();
    }
}

package io.railhead.cache;

import com.github.benmanes.caffeine.cache.Cache;
import com.github.benmanes.caffeine.cache.Caffeine;
import io.railhead.cache.ReadStream.Stretch;
import io.railhead.cache.ReadStreams.Wanted;
import io.railhead.cache.memory.LentMemory;
import io.railhead.cache.memory.MemoryStats;
import io.railhead.cache.memory.PageMemory;
import io.railhead.cache.memory.PageMemory.Pool;
import java.nio.ByteBuffer;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.ConcurrentMap;
import java.util.concurrent.atomic.AtomicBoolean;
import java.util.concurrent.atomic.AtomicLong;
import java.util.concurrent.atomic.LongAdder;
import org.jspecify.annotations.Nullable;

/**
 * Fetches the bytes that a sequential reader will request next. The fetch uses the reader's own
 * credential and cached pages only. It does less without memory, or with too much under way for one
 * tenant. No request waits for it. Any thread; no call blocks.
 */
public final class ReadAhead {
    private static final long MAX_OBJECTS = 10_000;
    private static final Duration FORGOTTEN_AFTER = Duration.ofMinutes(1);
    /** The part of the cache's memory that all of one tenant's read-ahead may take. */
    private static final int MEMORY_PART = 4;

    private final PageMemory memory;
    private final PageIndex index;
    private final FillTable table;
    private final Limits limits;
    private final Cache<Key, ReadStreams> objects = Caffeine.newBuilder()
            .executor(Runnable::run)
            .maximumSize(MAX_OBJECTS)
            .expireAfterAccess(FORGOTTEN_AFTER)
            .build();
    private final ConcurrentMap<String, AtomicLong> underWay = new ConcurrentHashMap<>();
    private final LongAdder bytes = new LongAdder();

    /**
     * The limits of read-ahead.
     *
     * @param windowBytes the most bytes ahead of one reader; 0 for no read-ahead
     * @param tenantBytes the most bytes under way for one tenant
     */
    public record Limits(long windowBytes, long tenantBytes) {

        public Limits {
            if (windowBytes < 0 || tenantBytes < 0) {
                throw new IllegalArgumentException(
                        "limits must be >= 0: " + windowBytes + ", " + tenantBytes);
            }
        }
    }

    /** The principal that reads in sequence, and the tenant that its fetches count against. */
    public record Reader(String principal, String tenant) {}

    /** The tenant, the source and the expected checksums of a fetch. */
    private record Fetching(String tenant, PageSource source,
            FillChecksums.@Nullable Sums against) {}

    private record Key(ObjectVersion version, String principal) {}

    ReadAhead(PageMemory memory, PageIndex index, FillTable table, Limits limits) {
        this.memory = memory;
        this.index = index;
        this.table = table;
        this.limits = limits;
    }

    /**
     * Notes that bytes {@code [from, to)}, less than the whole object, are being read, and fetches
     * ahead if that is due.
     *
     * @param source the source under the reader's identity
     */
    public void read(ObjectVersion version, long from, long to, Reader reader, PageSource source) {
        if (limits.windowBytes() == 0) {
            return;
        }
        ReadStreams streams = objects.get(new Key(version, reader.principal()),
                key -> new ReadStreams(key.version()));
        Wanted wanted = streams.read(from, to, window(), at -> isThere(version, at));
        if (wanted != null) {
            long reached = fetch(version, wanted.stretch(),
                    new Fetching(reader.tenant(), source, table.sums(version, source)));
            if (reached < wanted.stretch().to()) {
                streams.gaveUp(wanted.stream(), reached);
            }
        }
    }

    /**
     * Returns the window: if each new page evicts another, only this much is likely to be cached
     * until it is read.
     */
    private long window() {
        return Math.min(limits.windowBytes(), Math.max(index.roomBytes(), index.unreadBytes() / 2));
    }

    private boolean isThere(ObjectVersion version, long at) {
        PageKey key = new PageKey(version, at / table.pageBytes());
        return index.holds(key) || table.isFetching(key);
    }

    /**
     * Notes that bytes {@code [from, to)} are cached and about to be handed over.
     *
     * @return true if {@link #read} must be called too, since more is to be fetched
     */
    public boolean isDue(ObjectVersion version, long from, long to, String principal) {
        ReadStreams streams = objects.getIfPresent(new Key(version, principal));
        return streams != null && streams.passed(from, to);
    }

    /** Returns the bytes requested since the start. */
    long bytes() {
        return bytes.sum();
    }

    /** Returns the bytes under way for one tenant. */
    long underWay(String tenant) {
        AtomicLong counted = underWay.get(tenant);
        return counted == null ? 0 : counted.get();
    }

    /** Fetches run by run; returns the offset where it had to stop. */
    private long fetch(ObjectVersion version, Stretch stretch, Fetching fetching) {
        long page = Math.ceilDiv(stretch.from(), (long) table.pageBytes());
        long end = Math.ceilDiv(stretch.to(), (long) table.pageBytes());
        while (page < end) {
            long blockEnd = (page / table.pagesPerRun() + 1) * table.pagesPerRun();
            long to = Math.min(blockEnd, end);
            if (!tryFetch(missing(version, page, to), fetching)) {
                return page * table.pageBytes();
            }
            page = to;
        }
        return stretch.to();
    }

    private List<FillTable.Missing> missing(ObjectVersion version, long page, long end) {
        List<FillTable.Missing> missing = new ArrayList<>();
        for (long i = page; i < end; i++) {
            PageKey key = new PageKey(version, i);
            if (!index.holds(key)) {
                missing.add(new FillTable.Missing(key));
            }
        }
        return missing;
    }

    /** Returns false if there was not enough room. */
    private boolean tryFetch(List<FillTable.Missing> pages, Fetching fetching) {
        List<List<FillClaim>> runs = table.runs(table.claimMissing(pages, fetching.tenant()));
        for (int i = 0; i < runs.size(); i++) {
            if (!tryFetchRun(runs.get(i), fetching)) {
                runs.subList(i, runs.size()).forEach(table::abandon);
                return false;
            }
        }
        return true;
    }

    private boolean tryFetchRun(List<FillClaim> run, Fetching fetching) {
        long length = run.stream().mapToLong(fillClaim -> table.lengthOf(fillClaim.key())).sum();
        AtomicLong counted = underWay.computeIfAbsent(fetching.tenant(), _ -> new AtomicLong());
        Account account = new Account(counted, length);
        boolean fetched = counted.addAndGet(length) <= limit()
                && table.tryFetch(run, account.of(table.throughLower(fetching.source())),
                        Pool.CACHE,
                        fetching.against());
        if (fetched) {
            bytes.add(length);
        } else {
            account.settle();
        }
        return fetched;
    }

    private long limit() {
        MemoryStats stats = memory.stats();
        return Math.min(limits.tenantBytes(),
                (stats.capacityBytes() - stats.reserveBytes()) / MEMORY_PART);
    }

    /** The bytes of one fetch, which count as under way until it has ended. */
    private record Account(AtomicLong counted, long bytes, AtomicBoolean settled) {

        Account(AtomicLong counted, long bytes) {
            this(counted, bytes, new AtomicBoolean());
        }

        void settle() {
            if (settled.compareAndSet(false, true)) {
                counted.addAndGet(-bytes);
            }
        }

        PageSource of(PageSource source) {
            return (version, offset, length, sink) -> {
                try {
                    source.fetch(version, offset, length, new Counted(sink, this));
                } catch (RuntimeException | Error e) {
                    settle();
                    throw e;
                }
            };
        }
    }

    private record Counted(PageSource.Sink sink, Account account) implements PageSource.Sink {

        @Override
        public @Nullable ByteBuffer room() {
            return sink.room();
        }

        @Override
        public void landed(int bytes) {
            sink.landed(bytes);
        }

        @Override
        public @Nullable LentMemory lend() {
            return sink.lend();
        }

        @Override
        public void placed(int crc32c) {
            sink.placed(crc32c);
        }

        @Override
        public void guest() {
            sink.guest();
        }

        @Override
        public void renew() {
            sink.renew();
        }

        @Override
        public void write(ByteBuffer some) {
            sink.write(some);
        }

        @Override
        public void complete() {
            account.settle();
            sink.complete();
        }

        @Override
        public void fail(FillException cause) {
            account.settle();
            sink.fail(cause);
        }
    }
}

package io.railhead.cache.writeback;

import io.railhead.cache.disk.BlockFiles;
import io.railhead.cache.disk.DiskRefusedException;
import io.railhead.cache.writeback.JournalRecovery.Found;
import io.railhead.os.BlockFile;
import io.railhead.os.OsException;
import java.security.SecureRandom;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.NavigableMap;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CompletionStage;
import java.util.function.Consumer;
import org.jspecify.annotations.Nullable;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * A file of writes that survive a kill and a power cut. An entry is bytes with a description. The
 * stage of a commit completes once both are flushed. Entries stay until they are removed: nothing
 * is ever evicted, and a full log takes nothing more.
 *
 * <p> A failed write or flush poisons the log for good, since nobody knows what the disk has then.
 * Nothing is acknowledged any more, and no removal: what was committed can still be read.
 *
 * <p> Any thread; only {@link #open} and {@link #close} block. Stages complete on the log's own
 * threads, which must not be blocked. Lock order: this, then nothing.
 *
 * <p> A long class: one lock guards all of its state, and each call is short.
 */
public final class WriteLog implements AutoCloseable {
    private static final Logger LOG = LoggerFactory.getLogger(WriteLog.class);

    /** A long key, percent-encoded, and S3's most metadata. */
    private static final int LONGEST_DESCRIPTION = 16 << 10;
    /** Several uploads at a time have room in the smallest journal. */
    private static final int PART_OF_DESCRIPTION = 64;

    private final BlockFile file;
    private final LogLayout layout;
    private final String name;
    private final LogJournal journal;
    private final ChunkWorkers workers;
    private final FreeSpace free; // guarded by this
    private final NavigableMap<Long, LogEntry> entries; // guarded by this
    private final Thread thread;
    private List<Commit> queue = new ArrayList<>(); // guarded by this
    private long nextId; // guarded by this
    private final LogHoldings holdings = new LogHoldings(); // guarded by this
    private int entryBytes; // guarded by this
    private int queuedBytes; // guarded by this
    private int reservedBytes; // guarded by this
    private boolean closed; // guarded by this
    private @Nullable Throwable failure; // guarded by this

    private record Commit(LogChange change, Consumer<List<LogEntry>> onSafe,
            CompletableFuture<List<LogEntry>> done) {}

    /** The state of a log, for metrics. */
    public record Stats(long capacityBytes, long freeBytes, int entries, boolean failed) {}

    private WriteLog(BlockFile ownedFile, LogHeader header) {
        this.file = ownedFile;
        this.name = Long.toHexString(header.log());
        this.layout = header.layout();
        Found found = new JournalRecovery(file, layout, header.log()).read();
        this.entries = found.entries();
        this.nextId = found.lastId() + 1;
        this.free = new FreeSpace(layout.dataAt(), layout.dataBytes());
        for (LogEntry entry : entries.values()) {
            entryBytes += entry.encodedBytes();
            for (Extent extent : entry.bytes.extents()) {
                if (!free.tryTake(extent)) {
                    throw new LogDamagedException("two writes have one place");
                }
            }
        }
        this.journal = new LogJournal(file, layout, header.log(), found.highestEpoch(),
                found.half());
        try {
            // The bytes read may still be in the drive's own memory, and the other half is written
            // over next. All that was found becomes safe at both places.
            file.sync();
            journal.begin(entries.values());
            this.workers = new ChunkWorkers(file, layout.chunkBytes());
        } catch (RuntimeException | Error e) {
            journal.close();
            throw e;
        }
        this.thread = Thread.ofPlatform().daemon().name("railhead-write-log").unstarted(this::run);
    }

    /**
     * Opens a log, or makes one in a new file, which is written whole. Blocks.
     *
     * @param bytes the size, a multiple of the block's size
     * @throws DiskRefusedException if the file cannot be used as it is
     */
    public static WriteLog open(String path, long bytes) throws DiskRefusedException {
        BlockFile file = BlockFiles.open(path, bytes);
        try {
            return open(file, LogLayout.of(bytes));
        } catch (OsException | LogDamagedException | IllegalArgumentException e) {
            file.close();
            throw BlockFiles.refused(path, e);
        } catch (RuntimeException | Error e) {
            file.close();
            throw e;
        }
    }

    /** Returns the size of the smallest log. */
    public static long leastBytes() {
        return LogLayout.LEAST_BYTES;
    }

    /**
     * Returns the least part of a log of this size, in percent, in which its owner has room for any
     * one record.
     */
    public static int leastPercent(long fileBytes) {
        return leastPercent(LogLayout.of(fileBytes));
    }

    static int leastPercent(LogLayout layout) {
        int record = JournalFormat.putBytes(longestDescription(layout), 1, 1);
        return Math.ceilDiv(record, layout.mostEntryBytes() / 100);
    }

    /** Opens a log in a file that is closed with it. */
    static WriteLog open(BlockFile ownedFile, LogLayout layout) {
        LogHeader header = LogHeader.read(ownedFile);
        if (header == null) {
            header = new LogHeader(new SecureRandom().nextLong(), layout);
            header.create(ownedFile);
        } else if (!header.layout().equals(layout)) {
            throw new IllegalArgumentException("it was made with a size of "
                    + header.layout().fileBytes() + " bytes; a log keeps its size");
        }
        WriteLog log = new WriteLog(ownedFile, header);
        log.thread.start();
        return log;
    }

    /** Returns a name that no other log has, in hexadecimal digits. */
    public String name() {
        return name;
    }

    /** Returns all entries in the order of their commits. */
    public synchronized List<LogEntry> entries() {
        return List.copyOf(entries.values());
    }

    public synchronized Stats stats() {
        return new Stats(layout.dataBytes(), free.freeBytes(), entries.size(), failure != null);
    }

    /**
     * Reserves room for one write: its bytes, and its record with a description of at most
     * {@link #longestDescription}.
     *
     * @return null if there is no room, its owner would hold too much, too many writes arrive at
     *         once, or the log has failed
     */
    public synchronized @Nullable LogUpload tryBegin(LogOwner owner, long lengthBytes) {
        long bytes = LogLayout.wholeBlocks(lengthBytes);
        boolean isOpen = failure == null && !closed && !isTooMuch(owner, lengthBytes);
        List<Extent> extents = isOpen ? free.tryTake(bytes) : null;
        if (extents == null) {
            return null;
        }
        int record = longestRecord(lengthBytes, extents);
        // Under the lock, or the memory could be freed by a close meanwhile.
        LogUpload upload = isFull(record, 0)
                ? null
                : workers.tryUpload(this, owner.name(), lengthBytes, extents, record);
        if (upload == null) {
            release(extents);
        } else {
            reservedBytes += record;
            holdings.add(owner.name(), bytes, record);
        }
        return upload;
    }

    /** Returns whether an owner would hold more than it may with a write of this length. */
    public synchronized boolean isTooMuch(LogOwner owner, long lengthBytes) {
        return isTooMuch(owner, holdings.of(owner.name()), lengthBytes);
    }

    /** Returns whether an owner has taken more than so many percent of its own part. */
    public synchronized boolean hasTaken(LogOwner owner, int percent) {
        LogHoldings.Held held = holdings.of(owner.name());
        return isBeyond(owner, held.bytes(), layout.dataBytes() / 100 * percent)
                || isBeyond(owner, held.journalBytes(), journal.mostEntryBytes() / 100L * percent);
    }

    /** Returns whether a write of this length has no room in an empty log, or an owner's part. */
    public boolean isTooLong(LogOwner owner, long lengthBytes) {
        return lengthBytes > layout.dataBytes()
                || isTooMuch(owner, LogHoldings.NOTHING, lengthBytes);
    }

    private boolean isTooMuch(LogOwner owner, LogHoldings.Held held, long lengthBytes) {
        long bytes = held.bytes() + LogLayout.wholeBlocks(lengthBytes);
        // The record of one run: its exact length is known once the bytes have their places.
        long record = longestRecord(lengthBytes, List.of(new Extent(0, 0)));
        return isBeyond(owner, bytes, layout.dataBytes())
                || isBeyond(owner, held.journalBytes() + record, journal.mostEntryBytes());
    }

    private static boolean isBeyond(LogOwner owner, long held, long all) {
        return owner.mostPercent() < 100 && held > all / 100 * owner.mostPercent();
    }

    /** Counts an entry that was found at the start as its owner's; once for each. */
    public synchronized void own(LogEntry entry, String owner) {
        if (!entry.owner.isEmpty()) {
            throw new IllegalStateException("it has an owner: " + entry.id());
        }
        entry.owner = owner;
        holdings.add(owner, LogHoldings.bytesOf(entry.bytes.extents()), entry.encodedBytes());
    }

    private int longestRecord(long lengthBytes, List<Extent> extents) {
        int sums = (int) ((lengthBytes + layout.chunkBytes() - 1) / layout.chunkBytes());
        return JournalFormat.putBytes(longestDescription(), extents.size(), sums);
    }

    private boolean isFull(int moreBytes, int freedBytes) {
        int grown = moreBytes - freedBytes;
        int taken = entryBytes + queuedBytes + reservedBytes;
        return moreBytes > journal.mostChangeBytes()
                || (grown > 0 && taken + grown > journal.mostEntryBytes());
    }

    /** Returns the room of entries in the journal, with that of the records of their removal. */
    private static int freedBytes(List<LogEntry> removed) {
        return removed.stream()
                .mapToInt(entry -> entry.encodedBytes() + JournalFormat.REMOVE_BYTES)
                .sum();
    }

    /**
     * Returns the longest description for which there is always room once an upload has begun. The
     * commit of a longer one may fail.
     */
    public int longestDescription() {
        return longestDescription(layout);
    }

    private static int longestDescription(LogLayout layout) {
        return Math.min(LONGEST_DESCRIPTION, layout.mostEntryBytes() / PART_OF_DESCRIPTION);
    }

    /** An entry to be: its bytes, and what its owner needs to know of it. */
    public static final class Draft {
        private final String owner;
        private final @Nullable LogUpload finished;
        private final byte[] description;

        /**
         * @param owner the name of whose entry it is; "" for nobody
         * @param finished null for no bytes
         */
        public Draft(String owner, @Nullable LogUpload finished, byte[] description) {
            this.owner = owner;
            this.finished = finished;
            this.description = description.clone();
        }
    }

    /**
     * Adds and removes entries, all or none. On the stage's completion a power cut does not undo
     * that. After a failure with {@link LogUnusableException} a restart may show it done.
     *
     * <p> A full journal refuses a commit only if it adds more than it removes.
     *
     * @param drafts uploads that have been finished, and belong to the log from now on
     * @param removed entries that are there; their room is free again once their readers are gone
     * @param onSafe called with the new entries before the stage completes, one commit at a time in
     *            their order; if it throws, its owner is behind the log, so the log fails
     */
    public CompletionStage<List<LogEntry>> commit(List<Draft> drafts, List<LogEntry> removed,
            Consumer<List<LogEntry>> onSafe) {
        Commit commit;
        synchronized (this) {
            List<LogEntry> added = new ArrayList<>();
            for (Draft draft : drafts) {
                LogUpload upload = draft.finished;
                LogEntry entry = new LogEntry(nextId++, draft.description,
                        upload == null ? StoredBytes.NONE : upload.moveBytes());
                added.add(entry);
                entry.owner = draft.owner;
                if (upload != null) {
                    reservedBytes -= upload.recordBytes();
                    long moved = LogHoldings.bytesOf(entry.bytes.extents());
                    holdings.add(upload.owner(), -moved, -upload.recordBytes());
                    holdings.add(draft.owner, moved, 0);
                }
            }
            commit = new Commit(
                    new LogChange(added, removed.stream().map(LogEntry::id).toList()), onSafe,
                    new CompletableFuture<>());
            int bytes = commit.change.encodedBytes();
            boolean isFull = !added.isEmpty() && isFull(bytes, freedBytes(removed));
            Throwable cause = failure;
            if (closed || cause != null || isFull) {
                if (cause == null) {
                    added.forEach(this::releaseBytes);
                }
                return CompletableFuture.failedStage(new LogUnusableException(
                        isFull ? "the journal is full" : "the log has failed or is closed",
                        cause));
            }
            queuedBytes += bytes;
            added.forEach(entry -> holdings.add(entry.owner, 0, entry.encodedBytes()));
            queue.add(commit);
            notifyAll();
        }
        return commit.done;
    }

    /** Adds and removes entries, as the other method does. */
    public CompletionStage<List<LogEntry>> commit(List<Draft> drafts, List<LogEntry> removed) {
        return commit(drafts, removed, _ -> {});
    }

    /** Opens entries for reading, one after the other; null if any has been removed. */
    public @Nullable LogReader tryRead(List<LogEntry> inOrder) {
        synchronized (this) {
            if (closed || inOrder.stream().anyMatch(entry -> entry.removed)) {
                return null;
            }
            inOrder.forEach(entry -> entry.users++);
        }
        return new LogReader(this, workers, inOrder);
    }

    /** Ends one use of an entry; the last one frees its room. */
    synchronized void release(LogEntry entry) {
        entry.users--;
        if (entry.users == 0) {
            releaseBytes(entry);
        }
    }

    private void releaseBytes(LogEntry entry) {
        List<Extent> extents = entry.bytes.extents();
        holdings.add(entry.owner, -LogHoldings.bytesOf(extents), 0);
        release(extents);
    }

    /** Takes back what an upload has reserved and not used. */
    synchronized void release(String owner, List<Extent> extents, int recordBytes) {
        reservedBytes -= recordBytes;
        holdings.add(owner, -LogHoldings.bytesOf(extents), -recordBytes);
        release(extents);
    }

    private void release(List<Extent> extents) {
        extents.forEach(free::release);
    }

    int chunkBytes() {
        return layout.chunkBytes();
    }

    /** Refuses everything from now on. */
    void fail(Throwable cause) {
        List<Commit> lost;
        synchronized (this) {
            if (failure == null) {
                failure = cause;
                LOG.error("the write-back log has failed: nothing is acknowledged at disk any more,"
                        + " and what waits in it stays there until a restart", cause);
            }
            lost = queue;
            queue = new ArrayList<>();
            notifyAll();
        }
        lost.forEach(commit -> commit.done.completeExceptionally(
                new LogUnusableException("the log has failed", cause)));
    }

    private void run() {
        List<Commit> batch = next();
        while (!batch.isEmpty()) {
            try {
                write(batch);
                for (Commit commit : batch) {
                    commit.onSafe.accept(commit.change.added());
                    commit.done.complete(commit.change.added());
                }
            } catch (RuntimeException | Error e) {
                fail(e);
                Throwable cause = e;
                batch.forEach(commit -> commit.done.completeExceptionally(
                        new LogUnusableException("the log has failed", cause)));
                return;
            }
            batch = next();
        }
    }

    /** Waits for commits; returns none once the log is closed or has failed. */
    private synchronized List<Commit> next() {
        while (queue.isEmpty() && !closed && failure == null) {
            try {
                wait();
            } catch (InterruptedException e) {
                // Nobody interrupts this thread; closing wakes it.
                Thread.currentThread().interrupt();
                return List.of();
            }
        }
        if (failure != null) {
            return List.of();
        }
        List<Commit> batch = new ArrayList<>();
        int bytes = 0;
        for (Commit commit : queue) {
            bytes += commit.change.encodedBytes();
            if (!batch.isEmpty() && bytes > journal.mostChangeBytes()) {
                break;
            }
            batch.add(commit);
        }
        queue = new ArrayList<>(queue.subList(batch.size(), queue.size()));
        return batch;
    }

    private void write(List<Commit> batch) {
        // The bytes first: a commit that a power cut leaves must never lead to other bytes.
        if (batch.stream().anyMatch(commit -> commit.change.hasBytes())) {
            file.sync();
        }
        journal.append(batch.stream().map(Commit::change).toList(), this::entries);
        synchronized (this) {
            batch.forEach(commit -> apply(commit.change));
        }
    }

    private void apply(LogChange change) {
        queuedBytes -= change.encodedBytes();
        for (LogEntry entry : change.added()) {
            entries.put(entry.id(), entry);
            entryBytes += entry.encodedBytes();
        }
        for (long id : change.removed()) {
            LogEntry entry = entries.remove(id);
            if (entry != null) {
                entryBytes -= entry.encodedBytes();
                holdings.add(entry.owner, 0, -entry.encodedBytes());
                entry.removed = true;
                release(entry);
            }
        }
    }

    /** Writes what is committed, then ends all threads and closes the file. */
    @Override
    public void close() {
        synchronized (this) {
            if (closed) {
                return;
            }
            closed = true;
            notifyAll();
        }
        boolean ended = false;
        try {
            ended = thread.join(Duration.ofSeconds(10));
        } catch (InterruptedException e) {
            Thread.currentThread().interrupt();
        }
        workers.close();
        if (ended) {
            // A hanging disk keeps its thread, and the memory that the thread writes from.
            journal.close();
        }
        file.close();
    }
}

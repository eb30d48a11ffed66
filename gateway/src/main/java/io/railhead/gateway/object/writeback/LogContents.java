package io.railhead.gateway.object.writeback;

import io.railhead.cache.Writes;
import io.railhead.cache.writeback.LogEntry;
import io.railhead.cache.writeback.WriteLog;
import java.io.IOException;
import java.io.UncheckedIOException;
import java.util.ArrayList;
import java.util.Comparator;
import java.util.HashMap;
import java.util.HashSet;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.TreeMap;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * The entries of a log at a start, put together: objects with their parts, and open uploads. Parts
 * that belong to nothing are what a crash has left of a replacement or an abort: they are removed.
 */
final class LogContents {
    private static final Logger LOG = LoggerFactory.getLogger(LogContents.class);

    private final WriteLog log;
    private final Map<LogEntry, LogRecord.Write> writes = new HashMap<>();
    private final Map<LogEntry, LogRecord.Upload> uploads = new HashMap<>();
    private final Map<String, TreeMap<Integer, LogPart>> parts = new HashMap<>();
    private final Map<String, StoreUpload> storeUploads = new HashMap<>();
    private final List<LogEntry> orphans = new ArrayList<>();

    private LogContents(WriteLog log) {
        this.log = log;
    }

    /** Throws {@link UncheckedIOException} if the log holds what no version of it has written. */
    static LogContents of(WriteLog log) {
        LogContents contents = new LogContents(log);
        for (LogEntry entry : log.entries()) {
            contents.add(entry);
        }
        return contents;
    }

    private void add(LogEntry entry) {
        switch (LogRecord.decode(entry.description())) {
            case LogRecord.Write write -> writes.put(entry, write);
            case LogRecord.Upload upload -> uploads.put(entry, upload);
            case LogRecord.StoreUpload(String upload, String storeId) -> {
                StoreUpload former = storeUploads.put(upload, new StoreUpload(storeId, entry));
                if (former != null) {
                    orphans.addAll(former.entries());
                }
            }
            case LogRecord.Part part -> {
                // Entries come in the order of their commits: the later one has replaced the other.
                LogPart former = parts.computeIfAbsent(part.upload(), _ -> new TreeMap<>())
                        .put(part.number(), new LogPart(part, entry));
                if (former != null) {
                    orphans.add(former.entry());
                }
            }
        }
    }

    /** Returns the acknowledged objects in their order. */
    List<PendingWrite> writes(Writes open) {
        List<PendingWrite> found = new ArrayList<>();
        writes.forEach((entry, write) -> found.add(write.isMultipart()
                ? new PendingWrite(write, entry, wholeParts(write), takeStoreUpload(write), open)
                : new PendingWrite(write, entry, open)));
        found.sort(Comparator.comparingLong(PendingWrite::sequence));
        warnOfUnknownUploads(found);
        return found;
    }

    /** Names the uploads that a process may have begun at a store just before its end. */
    private static void warnOfUnknownUploads(List<PendingWrite> inOrder) {
        Set<PendingName.Bucket> seen = new HashSet<>();
        for (PendingWrite write : inOrder) {
            PendingName name = write.name();
            boolean isFirst = seen.add(name.inBucket());
            if (isFirst && write.write().isMultipart() && write.storeUpload().id() == null) {
                LOG.warn("{}/{} at {} is not written yet: a multipart upload of it, begun just"
                        + " before the last end of this gateway, may be left at the store,"
                        + " without parts", name.bucket(), name.key(), name.backend());
            }
        }
    }

    private List<LogPart> wholeParts(LogRecord.Write write) {
        List<LogPart> whole = takeParts(write.upload());
        if (!Completion.etag(whole.stream().map(LogPart::etag).toList()).equals(write.etag())) {
            throw new UncheckedIOException(new IOException("the parts of "
                    + write.head().name().bucket() + "/" + write.head().name().key()
                    + " are not those that were acknowledged"));
        }
        return whole;
    }

    private List<LogPart> takeParts(String upload) {
        Map<Integer, LogPart> found = parts.remove(upload);
        return found == null ? List.of() : List.copyOf(found.values());
    }

    private StoreUpload takeStoreUpload(LogRecord.Write write) {
        StoreUpload found = storeUploads.remove(write.upload());
        return found == null ? new StoreUpload() : found;
    }

    List<OpenUpload> uploads() {
        return uploads.entrySet()
                .stream()
                .map(upload -> new OpenUpload(log, upload.getValue(), upload.getKey(),
                        takeParts(upload.getValue().id())))
                .toList();
    }

    /** Removes what neither of the other calls has returned before. */
    void removeTheRest() {
        parts.values().forEach(left -> left.values().forEach(part -> orphans.add(part.entry())));
        storeUploads.values().forEach(left -> orphans.addAll(left.entries()));
        if (!orphans.isEmpty()) {
            // A failure leaves them for the next start.
            var _ = log.commit(List.of(), orphans);
        }
    }
}

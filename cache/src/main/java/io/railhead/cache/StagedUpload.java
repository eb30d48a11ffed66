package io.railhead.cache;

import io.railhead.cache.memory.Page;
import io.railhead.cache.memory.PageMemory.Pool;
import java.nio.ByteBuffer;
import java.util.ArrayList;
import java.util.List;
import org.jspecify.annotations.Nullable;

/**
 * The bytes of an object that is being uploaded, kept in pages that nobody can find until the store
 * has confirmed what it holds. Without memory for them they are given up, and the upload goes on.
 * It owns its pages until {@link #publish} or {@link #close}, one of which must come; one thread at
 * a time.
 */
public final class StagedUpload implements AutoCloseable {
    private final FillTable table;
    private final long sizeBytes;
    private final String tenant;
    private final Runnable afterClose;
    private final List<Page> pages = new ArrayList<>();
    private long written;
    private boolean closed;

    /**
     * @param tenant whose it is
     * @param afterClose runs once
     */
    StagedUpload(FillTable table, long sizeBytes, String tenant, Runnable afterClose) {
        this.table = table;
        this.sizeBytes = sizeBytes;
        this.tenant = tenant;
        this.afterClose = afterClose;
    }

    /** Copies what remains of {@code bytes}, which come in order; ignored once closed. */
    public void write(ByteBuffer bytes) {
        while (!closed && bytes.hasRemaining()) {
            Page page = pageWithRoom();
            if (page == null) {
                close();
                return;
            }
            int count = Math.min(page.remaining(), bytes.remaining());
            page.write(bytes.slice(bytes.position(), count));
            bytes.position(bytes.position() + count);
            written += count;
        }
    }

    /** Null where there is no memory, or more bytes come than were announced. */
    private @Nullable Page pageWithRoom() {
        if (!pages.isEmpty() && pages.getLast().remaining() > 0) {
            return pages.getLast();
        }
        int length = (int) Math.min(table.pageBytes(), sizeBytes - written);
        List<Page> more = length == 0
                ? null
                : table.tryAllocate(new int[]{length}, Pool.CACHE, tenant);
        if (more != null) {
            pages.addAll(more);
        }
        return more == null ? null : more.getFirst();
    }

    /** Whether every byte is here. */
    public boolean isWhole() {
        return !closed && written == sizeBytes;
    }

    /** Puts each page where nobody has, or is fetching, the same. */
    void publish(ObjectVersion version) {
        for (int i = 0; i < pages.size(); i++) {
            Page page = pages.get(i);
            FillClaim fillClaim = table.tryClaim(new PageKey(version, i), tenant);
            if (fillClaim == null) {
                page.condemn();
            } else {
                page.publish();
                table.uploaded(fillClaim, page);
            }
        }
        pages.clear();
        close();
    }

    /** Gives up what was not published; again does nothing. */
    @Override
    public void close() {
        if (!closed) {
            closed = true;
            pages.forEach(Page::condemn);
            pages.clear();
            afterClose.run();
        }
    }
}

package io.railhead.cache;

import io.railhead.cache.memory.LentMemory;
import io.railhead.cache.memory.Page;
import io.railhead.cache.memory.PageMemory.Pool;
import java.nio.ByteBuffer;
import java.util.ArrayList;
import java.util.List;
import org.jspecify.annotations.Nullable;

/**
 * The bytes of an object that is being uploaded, in pages that no reader can find until the store
 * has confirmed the upload. Without memory the pages are dropped, and the upload goes on. This
 * object owns its pages until {@link #publish} or {@link #close}, one of which must be called; one
 * thread at a time.
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
     * @param tenant the owner of the pages
     * @param afterClose runs once
     */
    StagedUpload(FillTable table, long sizeBytes, String tenant, Runnable afterClose) {
        this.table = table;
        this.sizeBytes = sizeBytes;
        this.tenant = tenant;
        this.afterClose = afterClose;
    }

    /** Copies the remaining bytes, which must come in order; ignored once closed. */
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

    /** Returns null if there is no memory, or if more bytes come than were announced. */
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

    /** Lends the memory of the next page to a disk; null if there is none, or all have come. */
    @Nullable
    LentMemory lend() {
        Page page = closed ? null : pageWithRoom();
        return page == null ? null : page.lend();
    }

    /** Takes the page whose memory was lent last, with the CRC32C of its bytes. */
    void placed(int crc32c) {
        Page page = pages.getLast();
        page.placed(crc32c);
        written += page.length();
    }

    /** Returns whether every byte has come. */
    public boolean isWhole() {
        return !closed && written == sizeBytes;
    }

    /** Publishes each page that is neither cached nor being fetched. */
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

    String tenant() {
        return tenant;
    }

    /**
     * Publishes all pages of a whole upload, and passes them on to a caller that keeps them. They
     * count as an upload's until {@link #close}.
     */
    List<Page> takePublished() {
        List<Page> taken = List.copyOf(pages);
        taken.forEach(page -> {
            page.fetchedFor(tenant);
            page.publish();
        });
        pages.clear();
        return taken;
    }

    /** Drops the unpublished pages; a second call does nothing. */
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

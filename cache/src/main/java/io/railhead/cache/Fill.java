package io.railhead.cache;

import io.railhead.cache.FillException.Reason;
import io.railhead.cache.memory.LentMemory;
import io.railhead.cache.memory.Page;
import java.nio.ByteBuffer;
import java.util.List;
import java.util.zip.Checksum;
import org.jspecify.annotations.Nullable;

/**
 * One ranged GET on its way into pages. Each page is published when it is full, and the last one
 * only when the body ended at the right length. Calls come from the source, one at a time; calls
 * after the end are ignored.
 */
final class Fill implements PageSource.Sink {

    /**
     * One page's part of the body; without a claim, another fill has the page and the bytes are
     * skipped.
     */
    record Part(@Nullable FillClaim claim, @Nullable Page page, int length) {}

    private final FillTable table;
    private final List<Part> parts;
    private final FillChecksums.@Nullable Sums sums;
    private @Nullable Checksum sum;
    private long ignoredTail;
    private int at;
    private int filled;
    private boolean ended;

    /**
     * @param ignoredTail bytes of the body beyond the last whole page
     * @param sums the checksums that the pages must match; null for no check
     */
    Fill(FillTable table, List<Part> parts, long ignoredTail, FillChecksums.@Nullable Sums sums) {
        this.table = table;
        this.parts = parts;
        this.ignoredTail = ignoredTail;
        this.sums = sums;
        this.sum = sums == null ? null : sums.page();
    }

    @Override
    public @Nullable ByteBuffer room() {
        Page page = ended ? null : parts.get(at).page();
        return page == null || page.remaining() == 0 ? null : page.room();
    }

    @Override
    public void landed(int bytes) {
        Page page = ended ? null : parts.get(at).page();
        if (page == null) {
            throw new IllegalStateException("no page has room");
        }
        if (sum != null) {
            sum.update(page.room().limit(bytes));
        }
        page.landed(bytes);
        filled(bytes);
    }

    @Override
    public @Nullable LentMemory lend() {
        Page page = ended || filled > 0 ? null : parts.get(at).page();
        return page == null ? null : page.lend();
    }

    @Override
    public void placed(int crc32c) {
        Page page = ended ? null : parts.get(at).page();
        if (page == null) {
            throw new IllegalStateException("no memory was lent");
        }
        page.placed(crc32c);
        if (sum != null) {
            page.addTo(sum);
        }
        filled(page.length());
    }

    @Override
    public void guest() {
        Page page = ended ? null : parts.get(at).page();
        if (page != null) {
            page.asGuest();
        }
    }

    @Override
    public void renew() {
        if (ended) {
            return;
        }
        Part old = parts.get(at);
        Page given = old.page();
        if (given == null || old.claim() == null) {
            throw new IllegalStateException("no memory was lent");
        }
        List<Page> others = table.tryAllocate(new int[]{old.length()}, given.pool(),
                old.claim().tenant());
        parts.set(at, new Part(old.claim(), others == null ? null : others.getFirst(),
                old.length()));
        // Whoever was lent it holds it until its end.
        given.condemn();
        if (others == null) {
            fail(new FillException(Reason.NO_MEMORY, "no memory for a page", null));
        }
    }

    @Override
    public void write(ByteBuffer bytes) {
        while (!ended && bytes.hasRemaining()) {
            int room = parts.get(at).length() - filled;
            if (room > 0) {
                fillPart(bytes, Math.min(room, bytes.remaining()));
            } else if (bytes.remaining() <= ignoredTail) {
                ignoredTail -= bytes.remaining();
                bytes.position(bytes.limit());
            } else {
                fail(new FillException(Reason.BACKEND_FAILED, "more bytes than asked for", null));
            }
        }
        bytes.position(bytes.limit());
    }

    private void fillPart(ByteBuffer bytes, int count) {
        Page page = parts.get(at).page();
        if (page != null) {
            page.write(bytes.slice(bytes.position(), count));
            if (sum != null) {
                sum.update(bytes.slice(bytes.position(), count));
            }
        }
        bytes.position(bytes.position() + count);
        filled(count);
    }

    private void filled(int count) {
        filled += count;
        if (filled == parts.get(at).length() && at < parts.size() - 1 && isRight(parts.get(at))) {
            publish(parts.get(at));
            at++;
            filled = 0;
        }
    }

    /**
     * Returns false if the page's bytes do not match the store's checksum; then the whole fill has
     * failed.
     */
    private boolean isRight(Part part) {
        if (part.claim() == null || sums == null || sum == null) {
            return true;
        }
        PageKey key = part.claim().key();
        if (sums.agrees(key.index(), sum.getValue())) {
            table.agreed(key.version(), sums);
            sum = sums.page();
            return true;
        }
        table.corrupt(key.version(), sums);
        fail(FillChecksums.mismatch());
        return false;
    }

    private void publish(Part part) {
        if (part.claim() != null && part.page() != null) {
            part.page().publish();
            table.published(part.claim(), part.page(), sums);
        }
    }

    @Override
    public void complete() {
        if (ended) {
            return;
        }
        if (filled < parts.get(at).length() || at < parts.size() - 1 || ignoredTail > 0) {
            fail(new FillException(Reason.BACKEND_FAILED, "fewer bytes than asked for", null));
            return;
        }
        if (isRight(parts.get(at))) {
            ended = true;
            publish(parts.get(at));
        }
    }

    @Override
    public void fail(FillException cause) {
        if (ended) {
            return;
        }
        ended = true;
        table.failures.increment();
        for (Part part : parts.subList(at, parts.size())) {
            if (part.claim() != null) {
                table.failed(part.claim(), part.page(), cause);
            }
        }
    }
}

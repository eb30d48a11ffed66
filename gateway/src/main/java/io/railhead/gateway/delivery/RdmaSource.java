package io.railhead.gateway.delivery;

import io.railhead.cache.ObjectCache;
import io.railhead.cache.memory.PageSlice;
import io.railhead.gateway.http.VerifiedBody;
import io.railhead.gateway.s3.S3Error;
import io.railhead.gateway.s3.S3Refusal;
import io.railhead.gateway.s3.body.BodyReader;
import io.railhead.rdma.Transfer;
import java.nio.ByteBuffer;
import java.util.concurrent.Executor;
import org.jspecify.annotations.Nullable;

/**
 * A body that is read from the client's memory, one page of the reserve at a time. Each page is
 * copied before it is passed on, because the backend does not tell when its socket has taken the
 * bytes.
 */
public final class RdmaSource extends VerifiedBody {
    private final ObjectCache cache;
    private final Transfer transfer;
    private final Executor executor;
    private final long length;
    private long pulled;

    /** @param reader verifies the bytes, {@code length} in all */
    public RdmaSource(ObjectCache cache, Transfer transfer, Executor executor, BodyReader reader,
            long length) {
        super(executor, reader);
        this.cache = cache;
        this.transfer = transfer;
        this.executor = executor;
        this.length = length;
    }

    @Override
    protected void begin() {
        // Nothing to prepare: the first fetch reads the first page.
    }

    @Override
    protected void fetch() {
        if (pulled == length) {
            ended();
            return;
        }
        PageSlice landing = cache.land(pulled, (int) Math.min(cache.pageBytes(), length - pulled));
        if (landing == null) {
            fail(new S3Refusal(S3Error.SLOW_DOWN,
                    "The gateway has no memory to receive into; please retry."));
            return;
        }
        transfer.read(landing, pulled)
                .whenComplete((landed, cause) -> executor.execute(() -> settled(landed, cause)));
    }

    private void settled(@Nullable PageSlice ownedSlice, @Nullable Throwable cause) {
        if (ownedSlice == null) {
            fail(cause == null ? new IllegalStateException("no page came back") : cause);
            return;
        }
        ByteBuffer copy = ByteBuffer.allocate(ownedSlice.length());
        try (ownedSlice) {
            ownedSlice.buffers().forEach(copy::put);
        }
        pulled += copy.position();
        received(copy.flip());
    }
}

package io.railhead.gateway.frontdoor;

import io.netty.buffer.ByteBuf;
import io.netty.buffer.Unpooled;
import io.netty.channel.Channel;
import io.netty.channel.ChannelFuture;
import io.netty.channel.ChannelFutureListener;
import io.netty.handler.ssl.SslHandler;
import io.railhead.cache.memory.PageSlice;
import io.railhead.gateway.delivery.AnswerHead;
import io.railhead.gateway.delivery.CacheResult;
import io.railhead.gateway.delivery.ReadPlan;
import io.railhead.gateway.log.AccessLog;
import io.railhead.gateway.log.HttpAccess;
import io.railhead.gateway.request.S3Request;
import io.vertx.core.MultiMap;
import java.nio.ByteBuffer;
import java.util.ArrayList;
import java.util.List;
import javax.net.ssl.SSLSession;
import org.jspecify.annotations.Nullable;

/**
 * A hit's response while it is written. Holds the page leases and the admission permit until the
 * kernel has taken the last byte, or the connection fails. The connection's event loop only.
 */
final class Hit implements ChannelFutureListener, HttpAccess.Talk {
    private final PlannedHit planned;
    private final String requestId;
    private final Channel connection;
    private final long arrivedAtNanos;
    private final HitCounts counts;
    private final AccessLog log;
    private final PageSlice[] slices;
    private final long headNanos;

    /** @param ownedSlices the bytes of the plan */
    Hit(PlannedHit planned, String requestId, Channel connection, long arrivedAtNanos,
            HitCounts counts, AccessLog log, PageSlice[] ownedSlices) {
        this.planned = planned;
        this.requestId = requestId;
        this.connection = connection;
        this.arrivedAtNanos = arrivedAtNanos;
        this.counts = counts;
        this.log = log;
        this.slices = ownedSlices;
        this.headNanos = System.nanoTime() - arrivedAtNanos;
    }

    S3Request request() {
        return planned.request();
    }

    ReadPlan plan() {
        return planned.plan();
    }

    String requestId() {
        return requestId;
    }

    /** Copies the body behind the bytes that the target holds already. */
    ByteBuf copyTo(ByteBuf target) {
        for (PageSlice slice : slices) {
            for (ByteBuffer bytes : slice.buffers()) {
                target.writeBytes(bytes);
            }
        }
        return target;
    }

    /** Wraps the body's pages without a copy; valid until the leases end. */
    ByteBuf reference() {
        List<ByteBuffer> buffers = new ArrayList<>(slices.length);
        for (PageSlice slice : slices) {
            buffers.addAll(slice.buffers());
        }
        return buffers.size() == 1
                ? Unpooled.wrappedBuffer(buffers.getFirst())
                : Unpooled.wrappedBuffer(buffers.size(), buffers.toArray(ByteBuffer[]::new));
    }

    void begun() {
        counts.begun(bucket(), plan().length());
    }

    /** Releases the leases and the permit; no byte of the response is written any more. */
    void giveBack() {
        for (PageSlice slice : slices) {
            slice.close();
        }
        planned.ownedPermit().close();
    }

    private String bucket() {
        return String.valueOf(planned.request().address().bucket());
    }

    @Override
    public void operationComplete(ChannelFuture written) {
        giveBack();
        long nanos = System.nanoTime() - arrivedAtNanos;
        counts.ended(planned.request().tenant(), bucket(), status(), bodyBytes(), nanos);
        if (log.isOn()) {
            new HttpAccess(this, requestId, planned.request().address(),
                    planned.request().query(), planned.request(), "", null,
                    new HttpAccess.Times(nanos, headNanos)).writeTo(log);
        }
    }

    @Override
    public String method() {
        return planned.request().method();
    }

    @Override
    public String uri() {
        String query = planned.request().head().rawQuery();
        String path = planned.request().head().rawPath();
        return query == null ? path : path + '?' + query;
    }

    @Override
    public @Nullable String header(String name) {
        return planned.request().header(name);
    }

    @Override
    public @Nullable String peer() {
        return planned.request().asker().source() == null
                ? null
                : planned.request().asker().source().getHostAddress();
    }

    @Override
    public @Nullable SSLSession tls() {
        SslHandler tls = connection.pipeline().get(SslHandler.class);
        return tls == null ? null : tls.engine().getSession();
    }

    @Override
    public int status() {
        return planned.plan().status();
    }

    @Override
    public @Nullable String answerHeader(String name) {
        MultiMap fields = MultiMap.caseInsensitiveMultiMap().add("x-amz-request-id", requestId);
        AnswerHead.forEach(planned.request(), planned.plan(), CacheResult.HIT, fields::set);
        return fields.get(name);
    }

    @Override
    public long bodyBytes() {
        return planned.plan().length();
    }
}

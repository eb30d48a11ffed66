package io.railhead.gateway.frontdoor;

import io.netty.buffer.ByteBuf;
import io.netty.buffer.Unpooled;
import io.netty.channel.Channel;
import io.netty.channel.ChannelFuture;
import io.netty.channel.ChannelFutureListener;
import io.netty.handler.ssl.SslHandler;
import io.railhead.cache.memory.PageSlice;
import io.railhead.gateway.admission.Permit;
import io.railhead.gateway.delivery.AnswerHead;
import io.railhead.gateway.delivery.CacheResult;
import io.railhead.gateway.delivery.ReadPlan;
import io.railhead.gateway.http.HttpExchange;
import io.railhead.gateway.log.HttpAccess;
import io.railhead.gateway.request.S3Request;
import io.vertx.core.MultiMap;
import java.lang.foreign.MemorySegment;
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
    private final S3Request request;
    private final ReadPlan plan;
    private final Permit permit;
    private final PageSlice[] slices;
    private final Channel connection;
    private final HitLogs logs;
    private final long arrivedAtNanos;
    private final long headNanos;
    private final String requestId = HttpExchange.newId();

    /** @param ownedSlices the bytes of the plan */
    Hit(S3Request request, ReadPlan plan, Permit ownedPermit, PageSlice[] ownedSlices,
            Channel connection, HitLogs logs, long arrivedAtNanos) {
        this.request = request;
        this.plan = plan;
        this.permit = ownedPermit;
        this.slices = ownedSlices;
        this.connection = connection;
        this.logs = logs;
        this.arrivedAtNanos = arrivedAtNanos;
        this.headNanos = System.nanoTime() - arrivedAtNanos;
    }

    S3Request request() {
        return request;
    }

    ReadPlan plan() {
        return plan;
    }

    String requestId() {
        return requestId;
    }

    /** Copies the body behind the bytes that the target holds already. */
    ByteBuf copyTo(ByteBuf target) {
        int at = target.writerIndex();
        MemorySegment room = MemorySegment
                .ofBuffer(target.internalNioBuffer(at, (int) plan.length()));
        long copied = 0;
        for (PageSlice slice : slices) {
            slice.copyTo(room, copied);
            copied += slice.length();
        }
        return target.writerIndex(at + (int) copied);
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
        logs.begun(bucket(), plan.length());
    }

    /** Releases the leases and the permit; no byte of the response is written any more. */
    void giveBack() {
        for (PageSlice slice : slices) {
            slice.close();
        }
        permit.close();
    }

    private String bucket() {
        return String.valueOf(request.address().bucket());
    }

    @Override
    public void operationComplete(ChannelFuture written) {
        giveBack();
        long nanos = System.nanoTime() - arrivedAtNanos;
        logs.ended(request.tenant(), bucket(), status(), bodyBytes(), nanos);
        if (logs.accessLog().isOn()) {
            new HttpAccess(this, requestId, request.address(), request.query(), request, "", null,
                    new HttpAccess.Times(nanos, headNanos)).writeTo(logs.accessLog());
        }
    }

    @Override
    public String method() {
        return request.method();
    }

    @Override
    public String uri() {
        String query = request.head().rawQuery();
        String path = request.head().rawPath();
        return query == null ? path : path + '?' + query;
    }

    @Override
    public @Nullable String header(String name) {
        return request.header(name);
    }

    @Override
    public @Nullable String peer() {
        return request.asker().source() == null
                ? null
                : request.asker().source().getHostAddress();
    }

    @Override
    public @Nullable SSLSession tls() {
        SslHandler tls = connection.pipeline().get(SslHandler.class);
        return tls == null ? null : tls.engine().getSession();
    }

    @Override
    public int status() {
        return plan.status();
    }

    @Override
    public @Nullable String answerHeader(String name) {
        MultiMap fields = MultiMap.caseInsensitiveMultiMap().add("x-amz-request-id", requestId);
        AnswerHead.forEach(request, plan, CacheResult.HIT, fields::set);
        return fields.get(name);
    }

    @Override
    public long bodyBytes() {
        return plan.length();
    }
}

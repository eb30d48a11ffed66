package io.railhead.gateway.frontdoor;

import io.netty.buffer.ByteBuf;
import io.netty.channel.ChannelDuplexHandler;
import io.netty.channel.ChannelFutureListener;
import io.netty.channel.ChannelHandlerContext;
import io.netty.channel.ChannelInboundHandlerAdapter;
import io.netty.channel.ChannelPipeline;
import io.netty.channel.ChannelPromise;
import io.netty.handler.codec.http.HttpHeaderNames;
import io.netty.handler.codec.http.HttpHeaderValues;
import io.netty.handler.codec.http.HttpMethod;
import io.netty.handler.codec.http.HttpRequest;
import io.netty.handler.codec.http.HttpRequestDecoder;
import io.netty.handler.codec.http.HttpVersion;
import io.netty.handler.codec.http.LastHttpContent;
import io.netty.handler.timeout.IdleStateHandler;
import io.netty.util.ReferenceCountUtil;
import io.railhead.cache.memory.PageSlice;
import io.railhead.gateway.delivery.AnswerHead;
import io.railhead.gateway.delivery.CacheResult;
import io.railhead.gateway.http.HttpDate;
import io.railhead.gateway.http.HttpExchange;
import io.railhead.gateway.log.AccessLog;
import io.railhead.gateway.metrics.Metrics;
import io.railhead.gateway.object.read.HitLookup;
import io.railhead.gateway.request.RequestSource;
import io.railhead.gateway.request.S3Request;
import io.railhead.gateway.s3.S3Refusal;
import io.vertx.core.MultiMap;
import io.vertx.core.http.HttpServerRequest;
import java.util.List;
import java.util.Objects;
import java.util.function.BooleanSupplier;
import org.jspecify.annotations.Nullable;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * The hit path over HTTP: a plain GET of what is held whole, fresh and allowed is answered where
 * its head was decoded, by one write. All other requests, and all that is wrong with this one, go
 * on to Vert.x as if nothing had been tried. One event loop's only.
 *
 * <pre>
 *   bytes ─▶ decoder ─▶ Lane ──another, or one not answered yet──▶ … ─▶ Answers ─▶ Vert.x
 *                        │ a hit                                          │
 *   bytes ◀──────────────┴────────────────── encoder ◀────────────────────┘
 * </pre>
 */
final class HttpHitHandler {
    private static final Logger LOG = LoggerFactory.getLogger(HttpHitHandler.class);
    /** What is shorter is copied: to have the kernel gather two pieces costs more than that. */
    private static final long MOST_COPIED_BYTES = 8 << 10;
    /** Of one connection, since each has a place in admission: who does not read has not all. */
    private static final int MOST_WRITING = 16;

    private final FrontDoor door;
    private final HitLookup held;
    private final FairScheduler fairScheduler;
    private final BooleanSupplier standingAside;
    private final HitCounts counts;
    private final AccessLog log;
    private final HttpDate date;
    private final HeadBytes head = new HeadBytes();
    private final @Nullable PageSlice[] slices;
    /** Of the request that goes on to Vert.x at this moment. */
    private @Nullable VerifiedRequest verifiedRequest;

    HttpHitHandler(FrontDoor door, HitLookup held, FairScheduler fairScheduler,
            BooleanSupplier standingAside,
            Metrics metrics,
            AccessLog log, HttpDate date) {
        this.door = door;
        this.held = held;
        this.fairScheduler = fairScheduler;
        this.standingAside = standingAside;
        this.counts = new HitCounts(metrics);
        this.log = log;
        this.date = date;
        this.slices = new @Nullable PageSlice[(int) (PlannedHit.MOST_BYTES / held.pageBytes())
                + 2];
    }

    /** The outcome of verifying this very request; null where it has not been verified. */
    @Nullable
    VerifiedRequest verifiedRequestOf(HttpServerRequest request) {
        VerifiedRequest known = verifiedRequest;
        return known != null && known.isOf(request) ? known : null;
    }

    /**
     * Answers what it can of a connection, before its first byte.
     *
     * @param last the handler that serves everything else
     * @param peer who is at the other end
     */
    void serve(ChannelHandlerContext last, RequestSource peer, MinimumRateGuard pace,
            Connections.Waiting place) {
        ChannelPipeline pipeline = last.pipeline();
        Lane lane = new Lane(peer, pace, place, pipeline.get(IdleStateHandler.class));
        pipeline.addAfter(pipeline.context(HttpRequestDecoder.class).name(), null, lane);
        pipeline.addBefore(last.name(), null, lane.new Answers());
    }

    /** Requests of one connection. Sees them as they were decoded, and writes past the encoder. */
    private final class Lane extends ChannelInboundHandlerAdapter {
        private final RequestSource peer;
        private final MinimumRateGuard pace;
        private final Connections.Waiting place;
        private final @Nullable IdleStateHandler idle;
        /** Those that went on, and have no whole answer yet: what comes later waits for theirs. */
        private int unanswered;
        /** The end of what was answered already is still to come. */
        private boolean endFollows;
        private boolean unflushed;
        private int writing;
        private final ChannelFutureListener written = _ -> written();

        Lane(RequestSource peer, MinimumRateGuard pace, Connections.Waiting place,
                @Nullable IdleStateHandler idle) {
            this.peer = peer;
            this.pace = pace;
            this.place = place;
            this.idle = idle;
        }

        @Override
        public void channelRead(ChannelHandlerContext context, Object message) {
            if (message instanceof HttpRequest request) {
                endFollows = tryAnswer(context, request);
                if (!endFollows) {
                    handOn(context, request);
                }
            } else if (endFollows) {
                endFollows = !(message instanceof LastHttpContent);
                ReferenceCountUtil.release(message);
            } else {
                context.fireChannelRead(message);
            }
        }

        @Override
        public void channelReadComplete(ChannelHandlerContext context) {
            if (unflushed) {
                unflushed = false;
                context.flush();
            }
            context.fireChannelReadComplete();
        }

        private boolean mayTry(ChannelHandlerContext context, HttpRequest request) {
            return unanswered == 0 && writing < MOST_WRITING && isPlain(request)
                    && context.channel().isWritable()
                    && !HttpExchange.isEnding(context.channel()) && !standingAside.getAsBoolean()
                    && fairScheduler.isFree();
        }

        private VerifiedRequest verify(HttpRequest request) {
            try {
                return new VerifiedRequest(request.headers(),
                        door.verify("GET", request.uri(), request.headers(), peer), null);
            } catch (S3Refusal e) {
                return new VerifiedRequest(request.headers(), null, e);
            }
        }

        /** Hands the request to Vert.x, and forgets its verification once Vert.x has begun it. */
        private void handOn(ChannelHandlerContext context, HttpRequest request) {
            unanswered++;
            try {
                context.fireChannelRead(request);
            } finally {
                verifiedRequest = null;
            }
        }

        /** Hands the request to Vert.x, whose handler answers, where anything is thrown. */
        private boolean tryAnswer(ChannelHandlerContext context, HttpRequest request) {
            long arrivedAtNanos = System.nanoTime();
            try {
                VerifiedRequest found = mayTry(context, request) ? verify(request) : null;
                S3Request asked = found == null ? null : found.request();
                Hit hit = asked == null ? null : findHit(context, asked, arrivedAtNanos);
                if (hit != null) {
                    write(context, hit);
                    return true;
                }
                verifiedRequest = found;
            } catch (Throwable thrown) {
                failed(thrown);
            }
            return false;
        }

        private @Nullable Hit findHit(ChannelHandlerContext context, S3Request asked,
                long arrivedAtNanos) {
            PlannedHit planned = door.findHit(asked);
            if (planned == null) {
                return null;
            }
            int count = -1;
            try {
                count = held.tryLease(planned.plan(), slices);
            } finally {
                if (count < 0) {
                    planned.ownedPermit().close();
                }
            }
            return count < 0
                    ? null
                    : new Hit(planned, RequestIds.next(), context.channel(), arrivedAtNanos,
                            counts, log, leased(count));
        }

        private void failed(Throwable thrown) {
            LOG.warn("a hit could not be answered", thrown);
            counts.failed();
        }

        private void write(ChannelHandlerContext context, Hit ownedHit) {
            ByteBuf bytes = null;
            boolean handedOver = false;
            try {
                int headLength = writeHead(ownedHit);
                boolean copies = ownedHit.bodyBytes() <= MOST_COPIED_BYTES;
                bytes = context.alloc()
                        .directBuffer(headLength + (copies ? (int) ownedHit.bodyBytes() : 0));
                head.writeTo(bytes);
                ByteBuf body = copies ? ownedHit.copyTo(bytes) : ownedHit.reference();
                ownedHit.begun();
                handedOver = true;
                if (!copies) {
                    var _ = context.write(bytes);
                }
                writing++;
                var _ = context.write(body,
                        context.newPromise().addListener(ownedHit).addListener(written));
                unflushed = true;
                noted(context, headLength + ownedHit.bodyBytes());
            } catch (Throwable thrown) {
                if (!handedOver) {
                    throw thrown;
                }
                // A second answer must not follow this one.
                failed(thrown);
                var _ = context.close();
            } finally {
                if (!handedOver) {
                    ReferenceCountUtil.release(bytes);
                    ownedHit.giveBack();
                }
            }
        }

        /** Who takes slowly what he was sent is not idle. */
        private void written() {
            writing--;
            if (idle != null) {
                idle.resetWriteTimeout();
            }
        }

        /** What guards a connection stands behind, and has seen nothing of this. */
        private void noted(ChannelHandlerContext context, long bytes) {
            pace.wrote(context, bytes);
            place.asked();
            if (idle != null) {
                idle.resetReadTimeout();
                idle.resetWriteTimeout();
            }
        }

        /** Sees the answers of what went on. */
        private final class Answers extends ChannelDuplexHandler {

            @Override
            public void write(ChannelHandlerContext context, Object message,
                    ChannelPromise written) {
                if (AnswerEnd.is(message)) {
                    unanswered--;
                }
                var _ = context.write(message, written);
            }
        }
    }

    /** Without a body, or anything else that concerns the connection. */
    private static boolean isPlain(HttpRequest request) {
        return request.decoderResult().isSuccess()
                && request.method().equals(HttpMethod.GET)
                && request.protocolVersion().equals(HttpVersion.HTTP_1_1)
                && request.headers() instanceof MultiMap headers
                && !headers.contains(HttpHeaderNames.CONTENT_LENGTH)
                && !headers.contains(HttpHeaderNames.TRANSFER_ENCODING)
                && !headers.contains(HttpHeaderNames.EXPECT)
                && !headers.contains(HttpHeaderNames.UPGRADE)
                && keepsConnection(headers.getAll(HttpHeaderNames.CONNECTION))
                && FramingCheck.problem(headers, io.vertx.core.http.HttpVersion.HTTP_1_1,
                        request.uri()) == null;
    }

    private static boolean keepsConnection(List<String> options) {
        return options.isEmpty() || (options.size() == 1
                && HttpHeaderValues.KEEP_ALIVE.contentEqualsIgnoreCase(options.getFirst()));
    }

    private int writeHead(Hit hit) {
        head.begin(hit.status())
                .field(HttpExchange.AMZ_REQUEST_ID, hit.requestId())
                .field(HttpExchange.REQUEST_ID, hit.requestId())
                .field(HttpHeaderNames.DATE, date.now());
        AnswerHead.forEach(hit.request(), hit.plan(), CacheResult.HIT, head::field);
        return head.end();
    }

    private PageSlice[] leased(int count) {
        PageSlice[] leased = new PageSlice[count];
        for (int i = 0; i < count; i++) {
            leased[i] = Objects.requireNonNull(slices[i]);
            slices[i] = null;
        }
        return leased;
    }
}

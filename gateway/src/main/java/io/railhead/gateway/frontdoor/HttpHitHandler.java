package io.railhead.gateway.frontdoor;

import io.netty.buffer.ByteBuf;
import io.netty.channel.ChannelFutureListener;
import io.netty.channel.ChannelHandlerContext;
import io.netty.channel.ChannelInboundHandlerAdapter;
import io.netty.channel.ChannelPipeline;
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
import io.railhead.gateway.admission.Admission;
import io.railhead.gateway.admission.Permit;
import io.railhead.gateway.delivery.AnswerHead;
import io.railhead.gateway.delivery.CacheResult;
import io.railhead.gateway.delivery.ReadPlan;
import io.railhead.gateway.http.HttpDate;
import io.railhead.gateway.http.HttpExchange;
import io.railhead.gateway.request.RequestSource;
import io.railhead.gateway.request.S3Request;
import io.railhead.gateway.s3.S3Refusal;
import io.railhead.gateway.s3.sigv4.SignatureMemory;
import io.vertx.core.MultiMap;
import io.vertx.core.http.HttpServerRequest;
import java.time.InstantSource;
import java.util.List;
import java.util.Objects;
import java.util.function.BooleanSupplier;
import org.jspecify.annotations.Nullable;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * The hit path over HTTP. A plain GET is answered right behind the decoder, by one write, if its
 * bytes are all cached, fresh and permitted. All other requests, and invalid ones, go on to Vert.x
 * unchanged. Used by one event loop only.
 *
 * <pre>
 *   bytes ─▶ decoder ─▶ Lane ──another, or one not answered yet──▶ … ─▶ Vert.x
 *                        │ a hit                                          │
 *   bytes ◀──────────────┴────────────────── encoder ◀────────────────────┘
 * </pre>
 */
final class HttpHitHandler {
    private static final Logger LOG = LoggerFactory.getLogger(HttpHitHandler.class);
    /**
     * Bodies up to this size are copied into the head's buffer: one write is cheaper than a gather.
     */
    private static final long MOST_COPIED_BYTES = 8 << 10;
    /**
     * The longest response. Above this size copying dominates, and one write could exceed the idle
     * timeout.
     */
    private static final long MOST_BYTES = 256 << 10;
    /** The limit for one connection: each response holds a permit until its client has read all. */
    private static final int MOST_WRITING = 16;

    private final HitServices services;
    private final FairScheduler fairScheduler;
    private final BooleanSupplier standingAside;
    private final HitLogs logs;
    private final HttpDate date = new HttpDate(InstantSource.system());
    private final HeadBytes head = new HeadBytes();
    private final @Nullable PageSlice[] slices;
    /** The verification of the request that is being handed to Vert.x at this moment. */
    private @Nullable VerifiedRequest verifiedRequest;

    /** @param standingAside true while Vert.x must serve every request */
    HttpHitHandler(HitServices services, FairScheduler fairScheduler,
            BooleanSupplier standingAside) {
        this.services = services;
        this.fairScheduler = fairScheduler;
        this.standingAside = standingAside;
        this.logs = new HitLogs(services.logs());
        this.slices = new @Nullable PageSlice[(int) (MOST_BYTES / services.lookup().pageBytes())
                + 2];
    }

    /** Returns the result of verifying this very request; null if it was not verified. */
    @Nullable
    VerifiedRequest verifiedRequestOf(HttpServerRequest request) {
        VerifiedRequest known = verifiedRequest;
        return known != null && known.isOf(request) ? known : null;
    }

    /**
     * Adds the handler of a connection, before its first byte.
     *
     * @param peer the client's address
     */
    void serve(ChannelPipeline pipeline, RequestSource peer, ConnectionState state,
            MinimumRateGuard pace) {
        pipeline.addAfter(pipeline.context(HttpRequestDecoder.class).name(), null,
                new Lane(peer, state, pace, pipeline.get(IdleStateHandler.class)));
    }

    /** The requests of one connection. Reads them as decoded, and writes past the encoder. */
    private final class Lane extends ChannelInboundHandlerAdapter {
        private final RequestSource peer;
        private final ConnectionState state;
        private final MinimumRateGuard pace;
        private final @Nullable IdleStateHandler idle;
        private final SignatureMemory signatureMemory = new SignatureMemory();
        /** The decoder has still to deliver the end of a request that was answered already. */
        private boolean endFollows;
        private boolean unflushed;
        private int writing;
        private final ChannelFutureListener written = _ -> written();

        Lane(RequestSource peer, ConnectionState state, MinimumRateGuard pace,
                @Nullable IdleStateHandler idle) {
            this.peer = peer;
            this.state = state;
            this.pace = pace;
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
            return state.isAnswered() && writing < MOST_WRITING && isPlain(request)
                    && context.channel().isWritable()
                    && !HttpExchange.isEnding(context.channel()) && !standingAside.getAsBoolean()
                    && fairScheduler.isFree();
        }

        private VerifiedRequest verify(HttpRequest request) {
            try {
                return new VerifiedRequest(request.headers(),
                        services.verifier()
                                .verify("GET", request.uri(), request.headers(), peer,
                                        signatureMemory),
                        null);
            } catch (S3Refusal e) {
                return new VerifiedRequest(request.headers(), null, e);
            }
        }

        /** Hands the request to Vert.x, and forgets its verification once Vert.x has begun it. */
        private void handOn(ChannelHandlerContext context, HttpRequest request) {
            try {
                context.fireChannelRead(request);
            } finally {
                verifiedRequest = null;
            }
        }

        /**
         * Answers the request if it is a hit. Otherwise, or where anything is thrown, Vert.x must
         * answer.
         */
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

        /** Leases the object's bytes if they are cached, servable now and admitted; else null. */
        private @Nullable Hit findHit(ChannelHandlerContext context, S3Request asked,
                long arrivedAtNanos) {
            ReadPlan plan = services.lookup().find(asked, MOST_BYTES);
            Permit permit = plan == null ? null : tryEnter(asked, plan);
            if (plan == null || permit == null) {
                return null;
            }
            int count = -1;
            try {
                count = taken(permit, plan, services.lookup().tryLease(plan, slices));
            } finally {
                if (count < 0) {
                    permit.close();
                }
            }
            return count < 0
                    ? null
                    : new Hit(asked, plan, permit, leased(count), context.channel(), logs,
                            arrivedAtNanos);
        }

        /** Ends the leases of a hit that is above its tenant's rate, which Vert.x refuses. */
        private int taken(Permit permit, ReadPlan plan, int count) {
            if (count < 0 || permit.tryTake(plan.length())) {
                return count;
            }
            for (PageSlice slice : leased(count)) {
                slice.close();
            }
            return -1;
        }

        private void failed(Throwable thrown) {
            LOG.warn("a hit could not be answered", thrown);
            logs.failed();
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
                // The bytes may have left already, and a second response must not follow them.
                failed(thrown);
                var _ = context.close();
            } finally {
                if (!handedOver) {
                    ReferenceCountUtil.release(bytes);
                    ownedHit.giveBack();
                }
            }
        }

        /** Restarts the write timeout: a client that reads slowly is not idle. */
        private void written() {
            writing--;
            if (idle != null) {
                idle.resetWriteTimeout();
            }
        }

        /**
         * Reports a write to the connection's guards: they stand later in the pipeline and did not
         * see it.
         */
        private void noted(ChannelHandlerContext context, long bytes) {
            pace.wrote(context, bytes);
            state.answered(context.channel());
            if (idle != null) {
                idle.resetReadTimeout();
                idle.resetWriteTimeout();
            }
        }
    }

    /** Returns whether the request has no body and no field that concerns the connection. */
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

    private @Nullable Permit tryEnter(S3Request asked, ReadPlan plan) {
        Admission admission = services.admission();
        return admission.tryEnter(admission.share(asked.authentication(), asked.asker()),
                plan.length());
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

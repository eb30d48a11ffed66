package io.railhead.gateway.channel;

import io.railhead.cache.ObjectCache;
import io.railhead.cache.ObjectMetadata;
import io.railhead.cache.ObjectVersion;
import io.railhead.cache.memory.PageSlice;
import io.railhead.gateway.freshness.Servability;
import io.railhead.protocol.channel.Answer;
import io.railhead.protocol.channel.AnswerOrigin;
import io.railhead.protocol.channel.RequestOperation;
import io.railhead.protocol.channel.RequestView;
import io.railhead.rdma.RemoteBuffer;
import io.railhead.rdma.channel.RequestChannel;
import java.util.function.LongConsumer;
import org.jspecify.annotations.Nullable;

/**
 * The hit path of one channel. Cached, fresh and permitted bytes are sent on the channel's own
 * thread. A hit allocates only the leases, the response, the window and, if it is on, a line of the
 * access log.
 */
final class ChannelHitHandler {
    private final ObjectCache cache;
    private final Servability servability;
    private final ChannelCounts counts;
    private final ChannelLog log;
    private final long windowBytes;
    private final LongConsumer rate;
    private final @Nullable PageSlice[] slices;

    /**
     * @param windowBytes the most bytes that one request may hold leased
     * @param rate charges a hit's bytes to the caller's tenant
     */
    ChannelHitHandler(Servability servability, long windowBytes, ChannelCounts counts,
            ChannelLog log, LongConsumer rate) {
        this.cache = servability.cache();
        this.servability = servability;
        this.counts = counts;
        this.log = log;
        this.rate = rate;
        this.windowBytes = windowBytes;
        this.slices = new @Nullable PageSlice[(int) (windowBytes / cache.pageBytes()) + 1];
    }

    /**
     * Serves the request if it is a hit. Returns false, with nothing changed, if the store must be
     * asked.
     */
    boolean tryServe(RequestView request, CachedRoute known, RemoteBuffer window,
            RequestChannel channel) {
        long arrivedAtNanos = System.nanoTime();
        ObjectMetadata held = findServable(request, known);
        if (held == null) {
            return false;
        }
        ObjectVersion version = held.version();
        long size = version.sizeBytes();
        long from = from(request, size);
        long end = to(request, size);
        if (from >= end) {
            return false;
        }
        long to = end - from <= window.length() ? end : from + window.length();
        if (to - from > windowBytes || isReadOn(version, from, to, known)) {
            return false;
        }
        int count = cache.tryLease(version, from, to, slices);
        if (count < 0) {
            return false;
        }
        int status = request.hasRange() || to < end ? 206 : 200;
        Answer answer = Answer.delivered(request.id(), status, to - from, size, from,
                known.lastModifiedMillis(held), version.etag(), version.versionId(),
                AnswerOrigin.HIT);
        rate.accept(to - from);
        channel.deliver(window, slices, count, answer);
        counts.hit(known.id().bucket(), known.usage(), to - from,
                System.nanoTime() - arrivedAtNanos);
        if (log.isOn()) {
            log.ended(RequestOperation.GET, known.name().bucket(), known.name().key(), answer,
                    arrivedAtNanos);
        }
        return true;
    }

    /** Returns whether read-ahead is due, because the peer reads the object in sequence. */
    private boolean isReadOn(ObjectVersion version, long from, long to, CachedRoute known) {
        return to - from < version.sizeBytes()
                && cache.readAhead().isDue(version, from, to, known.grant().principal());
    }

    private @Nullable ObjectMetadata findServable(RequestView request, CachedRoute known) {
        if (!known.hitsPossible() || request.hasVersionId() || request.hasIfMatch()) {
            return null;
        }
        ObjectMetadata held = cache.find(known.id());
        boolean servable = held != null
                && held.version().sizeBytes() <= known.rule().maxObject().bytes()
                && servability.allows(known.grant(), known.rule(), held);
        return servable ? held : null;
    }

    private static long from(RequestView request, long size) {
        if (!request.hasRange()) {
            return 0;
        }
        return request.isSuffix() ? Math.max(0, size - request.rangeFirst()) : request.rangeFirst();
    }

    /** Returns one past the last requested byte. */
    private static long to(RequestView request, long size) {
        boolean bounded = request.hasRange() && !request.isSuffix() && request.rangeLast() >= 0
                && request.rangeLast() < size;
        return bounded ? request.rangeLast() + 1 : size;
    }
}

package io.railhead.gateway.authorization;

import io.railhead.gateway.request.PeerConnection;
import io.railhead.gateway.s3.S3Error;
import io.railhead.gateway.s3.S3Refusal;
import io.railhead.gateway.s3.sigv4.Authentication.Signed;
import java.time.Duration;
import java.time.InstantSource;
import java.util.Map;
import java.util.Queue;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.ConcurrentLinkedQueue;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicBoolean;
import java.util.function.BooleanSupplier;
import java.util.function.LongSupplier;
import org.jspecify.annotations.Nullable;

/**
 * The memory of used signatures of requests that name a client's memory or its queue pair. A
 * replayed request would name memory that has another use by then. Any thread, without a lock.
 *
 * <p> SigV4's dates have whole seconds: a client that makes the same request twice within one
 * second sends the same signature. A signature may therefore be repeated for a moment, by its first
 * sender alone.
 *
 * <p> A signature covers the token, so one entry stands for both. It is remembered as long as its
 * date is acceptable, or until there are too many. Dates up to {@link #forgottenNanos} are refused,
 * since their signatures may have been forgotten. Times are on the monotonic clock, and dates are
 * compared by their age: setting the wall clock forgets no signature, and refuses valid requests
 * only briefly.
 */
public final class ReplayGuard {
    private static final long REPEATABLE_NANOS = TimeUnit.SECONDS.toNanos(2);
    private static final long DATE_NANOS = TimeUnit.SECONDS.toNanos(1);
    private static final int MOST = 1_000_000;

    private final Duration age;
    private final BooleanSupplier severalTenants;
    private final InstantSource clock;
    private final LongSupplier nanoClock;
    private final int most;
    private final long startNanos;
    private final Map<String, Use> uses = new ConcurrentHashMap<>();
    /** Uses in order, the oldest first; only the holder of {@link #forgetting} removes any. */
    private final Queue<Use> order = new ConcurrentLinkedQueue<>();
    private final AtomicBoolean forgetting = new AtomicBoolean();
    private volatile long forgottenNanos;

    /** The first request with a signature. */
    private record Use(String signature, String principal, PeerConnection connection, long nanos) {}

    /** The decision on one use of a signature. */
    public sealed interface Judgement {}

    /** The signature is used for the first time. */
    public record First() implements Judgement {}

    /** The signature is repeated, within the limits for clients. */
    public record Repeated() implements Judgement {}

    public record Refused(S3Refusal error) implements Judgement {}

    /**
     * @param age the largest distance between a signature's date and now, in both directions
     * @param severalTenants true while there are several tenants
     */
    public ReplayGuard(Duration age, BooleanSupplier severalTenants, InstantSource clock,
            LongSupplier nanoClock) {
        this(age, severalTenants, clock, nanoClock, MOST);
    }

    ReplayGuard(Duration age, BooleanSupplier severalTenants, InstantSource clock,
            LongSupplier nanoClock, int most) {
        this.age = age;
        this.severalTenants = severalTenants;
        this.clock = clock;
        this.nanoClock = nanoClock;
        this.most = most;
        this.startNanos = nanoClock.getAsLong();
        // A request that is signed after the start may carry the date of the start's second.
        this.forgottenNanos = startNanos - DATE_NANOS;
    }

    /** Judges a pairing request, which must never repeat: a queue pair is paired once. */
    public Judgement judgeOnce(Signed signed, PeerConnection connection) {
        Judgement judgement = judge(signed, connection);
        return judgement instanceof Repeated
                ? replayed("a queue pair is paired once")
                : judgement;
    }

    /** Judges a request for an object, which a client may repeat. */
    public Judgement judge(Signed signed, PeerConnection connection) {
        if (Duration.between(signed.signedAt(), clock.instant()).abs().compareTo(age) > 0) {
            return stale("A request that names memory must be signed within " + age.toSeconds()
                    + " seconds.");
        }
        Use use = new Use(signed.signature(), signed.principal().name(), connection,
                nanoClock.getAsLong());
        Use first = uses.putIfAbsent(use.signature(), use);
        if (first == null) {
            order.add(use);
            forget(use.nanos());
            // Read last: a signature that is forgotten meanwhile must not count as new.
            return isUpTo(forgottenNanos, signed)
                    ? stale("The request's date is before the gateway's start, or before the oldest"
                            + " request that it remembers.")
                    : new First();
        }
        String reason = reasonAgainst(first, use);
        return reason == null ? new Repeated() : replayed(reason);
    }

    private static Refused replayed(String reason) {
        return new Refused(new S3Refusal(S3Error.RDMA_TOKEN_REPLAYED,
                "This signature came before: " + reason + "."));
    }

    private @Nullable String reasonAgainst(Use first, Use again) {
        PeerConnection before = first.connection();
        PeerConnection now = again.connection();
        if (again.nanos() - first.nanos() > REPEATABLE_NANOS) {
            return "more than 2 seconds ago";
        }
        if (!first.principal().equals(again.principal()) || !now.isFromPeerOf(before)) {
            return "from another peer";
        }
        boolean isHeardByNone = before.secure() && now.secure();
        return before.id().equals(now.id()) || isHeardByNone || !severalTenants.getAsBoolean()
                ? null
                : "on another connection without TLS, and there are several tenants";
    }

    /**
     * Returns whether a request may have been signed before the start. Requests that arrived then
     * are not remembered, and dates have whole seconds.
     */
    public boolean mayPrecedeStart(Signed signed) {
        return isUpTo(startNanos, signed);
    }

    private boolean isUpTo(long nanos, Signed signed) {
        return signed.isAtLeastAsOldAs(Duration.ofNanos(nanoClock.getAsLong() - nanos), clock);
    }

    private static Refused stale(String message) {
        return new Refused(new S3Refusal(S3Error.RDMA_TOKEN_STALE, message));
    }

    private void forget(long now) {
        if (!forgetting.compareAndSet(false, true)) {
            return;
        }
        try {
            for (Use oldest = order.peek(); oldest != null
                    && isForgettable(oldest, now); oldest = order.peek()) {
                forgottenNanos = oldest.nanos();
                order.remove();
                uses.remove(oldest.signature());
            }
        } finally {
            forgetting.set(false);
        }
    }

    private boolean isForgettable(Use use, long now) {
        // A date may be ahead of the clock by the age, and stays acceptable for the age after that.
        return now - use.nanos() > 2 * age.toNanos() + DATE_NANOS || uses.size() > most;
    }
}

package io.railhead.client;

import io.railhead.protocol.channel.Request;
import io.railhead.protocol.channel.RequestOperation;
import io.railhead.protocol.channel.RequestRange;
import io.railhead.protocol.placement.Ownership;
import java.io.IOException;
import java.net.URI;
import java.net.URISyntaxException;
import java.nio.charset.StandardCharsets;
import java.time.Duration;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import java.util.Set;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicBoolean;
import java.util.concurrent.atomic.AtomicLong;
import org.jspecify.annotations.Nullable;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;
import software.amazon.awssdk.http.SdkHttpMethod;

/**
 * The gateways that share objects out, as this client sees them: the one that it was given, which
 * is home, and the owners of objects' bytes. A read at its owner needs no transfer between
 * gateways. All gateways serve the same bytes of a store, so home takes what an owner cannot. It
 * takes all other requests, too, since cache-only objects are each gateway's own. Any thread.
 */
final class Gateways implements AutoCloseable {
    private static final Logger LOG = LoggerFactory.getLogger(Gateways.class);
    private static final int DOCUMENT_LIMIT = 1 << 20;
    private static final String MEMBERS = "placement.members.";
    private static final long LOOK_NANOS = Duration.ofSeconds(30).toNanos();
    private static final long DOUBT_NANOS = Duration.ofSeconds(1).toNanos();
    /** The longest silence of an owner that is asked for a session. Nothing waits for it. */
    private static final Duration OWNERS_TIMEOUT = Duration.ofSeconds(5);
    /** The time that the first request leaves owners' sessions to be opened. */
    private static final long FIRST_WAIT_MILLIS = 500;
    private static final long FIRST_PAUSE_NANOS = Duration.ofSeconds(6).toNanos();
    private static final int MOST_DOUBLINGS = 4;

    private final ClientConfig config;
    private final S3Http http;
    private final FabricConnector fabricConnector;
    private final Set<RegisteredBuffer> buffers = ConcurrentHashMap.newKeySet();
    private final Sessions home;
    private final Map<URI, Member> members = new HashMap<>();
    /** Members that own nothing any more; closed when nothing is under way with them. */
    private final Set<Member> retired = ConcurrentHashMap.newKeySet();
    private final AtomicLong lookAtNanos = new AtomicLong(System.nanoTime());
    private volatile boolean hasLooked;
    private volatile Placement placement = Placement.NONE;
    private boolean closed;

    /** Sessions with one owner. Any thread. */
    private static final class Member {
        private final S3Http ownedHttp;
        private final Sessions ownedSessions;
        private final AtomicBoolean isOpening = new AtomicBoolean();
        private volatile long retryAtNanos = System.nanoTime();
        /** Touched by who opens a session alone. */
        private int failures;

        Member(S3Http ownedHttp, Sessions ownedSessions) {
            this.ownedHttp = ownedHttp;
            this.ownedSessions = ownedSessions;
        }

        /** Opens a session in the background, unless that goes on already or failed just now. */
        CompletableFuture<?> open(Runnable failed) {
            if (System.nanoTime() - retryAtNanos < 0 || !isOpening.compareAndSet(false, true)) {
                return CompletableFuture.completedFuture(null);
            }
            return CompletableFuture.runAsync(() -> {
                try {
                    ownedSessions.require();
                    failures = 0;
                } catch (IOException | RuntimeException | Error e) {
                    LOG.debug("an owner cannot be reached", e);
                    retryAtNanos = System.nanoTime()
                            + (FIRST_PAUSE_NANOS << Math.min(failures++, MOST_DOUBLINGS));
                    failed.run();
                } finally {
                    isOpening.set(false);
                }
            }, Thread::startVirtualThread);
        }

        void close() {
            ownedSessions.close();
            ownedHttp.close();
        }
    }

    /**
     * The owner of a share.
     *
     * @param hash of the gateway's name
     * @param member null if its requests go home
     */
    private record Owner(long hash, @Nullable Member member) {}

    /** @param owners in the order of their names; empty if nothing is shared out */
    private record Placement(long runBytes, List<Owner> owners) {
        static final Placement NONE = new Placement(1, List.of());
    }

    /** @param http of home; stays the caller's */
    Gateways(ClientConfig config, S3Http http, FabricConnector fabricConnector) {
        this.config = config;
        this.http = http;
        this.fabricConnector = fabricConnector;
        home = new Sessions(http, fabricConnector, config.timeout(), buffers, false);
    }

    /** Returns the sessions with the gateway that this client was given. */
    Sessions home() {
        return home;
    }

    /** Returns whether every request goes home. */
    boolean isAlone() {
        return placement.owners().isEmpty();
    }

    /**
     * Returns the sessions with the owner of the bytes that a request reads; those with home while
     * there is none with the owner. Never blocks.
     */
    Sessions ownerOf(Request request) {
        Placement now = placement;
        if (now.owners().isEmpty() || request.operation() != RequestOperation.GET) {
            return home;
        }
        long run = Ownership.run(request.bucket(), request.key(),
                first(request.range()) / now.runBytes());
        Owner owner = now.owners().getFirst();
        long highest = Ownership.score(owner.hash(), run);
        for (Owner each : now.owners()) {
            long score = Ownership.score(each.hash(), run);
            if (Long.compareUnsigned(score, highest) > 0) {
                owner = each;
                highest = score;
            }
        }
        Member member = owner.member();
        if (member == null) {
            return home;
        }
        if (member.ownedSessions.ready() == null) {
            var _ = member.open(this::doubt);
            return home;
        }
        return member.ownedSessions;
    }

    private static long first(RequestRange range) {
        return switch (range) {
            case RequestRange.Between between -> between.first();
            case RequestRange.From from -> from.first();
            case RequestRange.All _,RequestRange.Last _ -> 0;
        };
    }

    /** Returns whether it is known who owns what. */
    boolean hasLooked() {
        return hasLooked;
    }

    /** Returns whether home should be asked again who owns what. */
    boolean isDue() {
        return System.nanoTime() - lookAtNanos.get() >= 0;
    }

    /** Has home asked soon: an owner could not be reached. */
    void doubt() {
        lookAtNanos.accumulateAndGet(System.nanoTime() + DOUBT_NANOS,
                (planned, soon) -> soon - planned < 0 ? soon : planned);
    }

    /** Looks for the first time, if home can be reached at all. Blocks. */
    void lookFirst() {
        try {
            home.require();
        } catch (IOException e) {
            LOG.debug("home cannot be reached", e);
            return;
        }
        look();
        CompletableFuture<?>[] opened = placement.owners()
                .stream()
                .map(Owner::member)
                .filter(Objects::nonNull)
                .map(member -> member.open(this::doubt))
                .toArray(CompletableFuture[]::new);
        var _ = CompletableFuture.allOf(opened)
                .completeOnTimeout(null, FIRST_WAIT_MILLIS, TimeUnit.MILLISECONDS)
                .join();
    }

    /** Asks home who owns what, unless somebody else just does. Blocks. */
    void look() {
        long due = lookAtNanos.get();
        if (System.nanoTime() - due < 0
                || !lookAtNanos.compareAndSet(due, System.nanoTime() + LOOK_NANOS)) {
            return;
        }
        Call call = new Call(SdkHttpMethod.GET, "/.railhead/endpoints", Map.of(), Map.of(), null);
        try (HttpAnswer answer = http.require(call)) {
            place(FlatJson.parse(new String(answer.readDocument(DOCUMENT_LIMIT),
                    StandardCharsets.UTF_8)));
        } catch (IOException | RuntimeException | Error e) {
            LOG.debug("who owns what is not known", e);
        }
        hasLooked = true;
    }

    private synchronized void place(Map<String, List<String>> answer) throws IOException {
        Map<URI, Member> gone = new HashMap<>(members);
        List<Owner> owners = new ArrayList<>();
        if (answer.getOrDefault("placement.rule", List.of()).contains(Ownership.VERSION)
                && !closed) {
            for (Map.Entry<String, List<String>> each : answer.entrySet()) {
                if (each.getKey().startsWith(MEMBERS)) {
                    URI uri = uri(each.getValue().getFirst());
                    long hash = Ownership.member(each.getKey().substring(MEMBERS.length()));
                    owners.add(new Owner(hash, member(uri)));
                    gone.remove(uri);
                }
            }
        }
        placement = owners.size() < 2
                ? Placement.NONE
                : new Placement(runBytes(answer), List.copyOf(owners));
        gone.forEach((uri, member) -> {
            members.remove(uri);
            retire(member);
        });
    }

    private static URI uri(String text) throws IOException {
        try {
            return new URI(text);
        } catch (URISyntaxException e) {
            throw new PermanentException("a member's address cannot be read: " + e.getMessage());
        }
    }

    private static long runBytes(Map<String, List<String>> answer) throws IOException {
        String text = answer.getOrDefault("placement.run", List.of("")).getFirst();
        try {
            return Math.max(1, Long.parseLong(text));
        } catch (NumberFormatException e) {
            throw new PermanentException("the gateway's placement.run is not a number: " + text);
        }
    }

    private @Nullable Member member(URI uri) {
        boolean isDowngrade = "https".equals(config.endpoint().getScheme())
                && !"https".equals(uri.getScheme());
        if (uri.equals(config.endpoint()) || isDowngrade || !fabricConnector.reaches(uri)) {
            return null;
        }
        return members.computeIfAbsent(uri, _ -> {
            S3Http opened = new S3Http(config.at(uri, OWNERS_TIMEOUT));
            return new Member(opened,
                    new Sessions(opened, fabricConnector, config.timeout(), buffers, true));
        });
    }

    /** A request under way has its answer, or is given up, within the timeout. */
    private void retire(Member member) {
        retired.add(member);
        CompletableFuture.delayedExecutor(2 * config.timeout().toNanos(), TimeUnit.NANOSECONDS,
                Thread::startVirtualThread).execute(() -> {
                    member.close();
                    retired.remove(member);
                });
    }

    /** Returns memory that every session registers until it is closed. */
    RegisteredBuffer allocate(long bytes) {
        RegisteredBuffer buffer = new RegisteredBuffer(fabricConnector.allocate(bytes),
                this::forget);
        buffers.add(buffer);
        return buffer;
    }

    private void forget(RegisteredBuffer buffer) {
        buffers.remove(buffer);
        home.deregister(buffer);
        known().forEach(each -> each.ownedSessions.deregister(buffer));
    }

    private synchronized List<Member> known() {
        List<Member> known = new ArrayList<>(members.values());
        known.addAll(retired);
        return known;
    }

    @Override
    public void close() {
        home.close();
        synchronized (this) {
            closed = true;
            placement = Placement.NONE;
        }
        known().forEach(Member::close);
    }
}

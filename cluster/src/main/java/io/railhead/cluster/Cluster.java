package io.railhead.cluster;

import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import java.util.Set;
import java.util.TreeSet;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CompletionStage;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.Future;
import java.util.concurrent.LinkedBlockingQueue;
import java.util.concurrent.ScheduledThreadPoolExecutor;
import java.util.concurrent.ThreadFactory;
import java.util.concurrent.ThreadPoolExecutor;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicLong;
import java.util.function.Function;
import java.util.function.LongSupplier;
import org.jspecify.annotations.Nullable;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * This gateway's membership of a cluster: it tells the others each change, applies theirs, and
 * holds a lease while they answer.
 *
 * <pre>
 *   writer                               each other member
 *     │ ends the write, numbers it          │
 *     ├── Change(view, number) ────────────▶│ applies it
 *     │◀──────────── Applied(view, number) ─┤
 *     │ answers its client                  │
 *     │                                     │
 *     │◀──────── Question(view, its time) ──┤ each quarter of the lease
 *     ├── Answer(view, its time, last) ────▶│ counts if it has applied the last one
 * </pre>
 *
 * <p> Any thread may call; only {@link #join} and {@link #close} block.
 */
public final class Cluster implements AutoCloseable {
    private static final Logger LOG = LoggerFactory.getLogger(Cluster.class);
    private static final CompletionStage<Boolean> DONE = CompletableFuture.completedStage(true);
    /** The time in which a store that was not heard may still perform a write. */
    private static final Duration STORE_DOUBT = Duration.ofMinutes(1);
    /** Ticks of one lease: a wait ends at most one of them late. */
    private static final int TICKS = 20;
    private static final int TICKS_BETWEEN_QUESTIONS = 5;

    private final ClusterConfig config;
    private final Link link;
    private final LongSupplier nanoClock;
    private final ServingLease lease;
    private final Outbox outbox;
    private final Completeness completeness;
    private final Sharers sharers;
    private volatile Introduction introduction;
    private final Map<String, List<String>> differing = new ConcurrentHashMap<>();
    private final AtomicLong applied = new AtomicLong();
    private final AtomicLong refusedFrames = new AtomicLong();
    private final AtomicLong views = new AtomicLong();
    private final ScheduledThreadPoolExecutor timer;
    /** Sends changes in order, since a socket may block and the caller may be an event loop. */
    private final ThreadPoolExecutor sender;
    private volatile Membership membership = new Membership("", List.of());
    private volatile Function<byte[], CompletionStage<Boolean>> onChange = _ -> DONE;
    private volatile boolean isLeaving;
    /** The last tick: a gateway that was paused finds it old. */
    private volatile long tickedAtNanos;

    /**
     * A member that has not joined yet, and holds no lease.
     *
     * @param ownedLink closed with this
     * @param nanoClock monotonic, the clock of what this gateway has learnt
     */
    public Cluster(ClusterConfig config, Link ownedLink, LongSupplier nanoClock) {
        this.config = config;
        this.link = ownedLink;
        this.nanoClock = nanoClock;
        this.lease = new ServingLease(config.lease(), nanoClock);
        this.outbox = new Outbox(config.lease(), nanoClock);
        this.completeness = new Completeness(config, nanoClock);
        this.sharers = new Sharers(config, nanoClock);
        this.introduction = Introduction.of(config);
        this.tickedAtNanos = nanoClock.getAsLong();
        this.timer = new ScheduledThreadPoolExecutor(1, thread("timer"));
        timer.setRejectedExecutionHandler(new ThreadPoolExecutor.DiscardPolicy());
        this.sender = new ThreadPoolExecutor(1, 1, 0, TimeUnit.SECONDS,
                new LinkedBlockingQueue<>(), thread("sender"),
                new ThreadPoolExecutor.DiscardPolicy());
    }

    private static ThreadFactory thread(String name) {
        return Thread.ofPlatform().daemon().name("railhead-cluster-" + name).factory();
    }

    /**
     * Joins, or becomes the first member. Blocks until there is a view.
     *
     * @param change applies a change of another member; called on the link's thread. The change is
     *            acknowledged when the stage completes with true. If it throws, fails, or completes
     *            with false, it is not acknowledged
     * @throws IllegalStateException with one line if the port cannot be opened
     */
    public void join(Function<byte[], CompletionStage<Boolean>> change) {
        onChange = change;
        link.open(new Link.Ear() {
            @Override
            public void membersAre(Membership now) {
                begin(now);
            }

            @Override
            public void heard(Member from, byte[] frame) {
                take(from, frame);
            }
        });
        long tickNanos = Math.max(1, config.lease().toNanos() / TICKS);
        AtomicLong ticks = new AtomicLong();
        Future<?> _ = timer.scheduleAtFixedRate(() -> {
            noteTick();
            outbox.tick();
            if (ticks.getAndIncrement() % TICKS_BETWEEN_QUESTIONS == 0) {
                ask();
            }
        }, 0, tickNanos, TimeUnit.NANOSECONDS);
    }

    /** Returns whether what was learnt then may be served now without asking the store. */
    public boolean covers(long learntAtNanos) {
        return completeness.covers(learntAtNanos) && !wasPaused() && lease.covers(learntAtNanos);
    }

    private boolean isHeld() {
        return completeness.isCovered() && !wasPaused() && lease.isHeld();
    }

    private boolean wasPaused() {
        return nanoClock.getAsLong() - tickedAtNanos > config.lease().toNanos();
    }

    /** Others may have gone on without this gateway while it was paused. */
    private void noteTick() {
        if (wasPaused()) {
            LOG.warn("cluster {}: this gateway was paused for more than {}, so everything is asked"
                    + " once", config.cluster(), config.lease());
            lease.restart();
            completeness.doubt();
        }
        tickedAtNanos = nanoClock.getAsLong();
    }

    /**
     * Tells the others a change that has happened. The stage completes when no member serves what
     * was before it without asking: when all have applied it, at the latest soon after the lease.
     * It never fails.
     *
     * @return with whether all have applied it
     */
    public CompletionStage<Boolean> tell(byte[] change) {
        return tell(change, config.lease());
    }

    /**
     * Tells the others a change that counts only where it is applied.
     *
     * @param patience how long a member may take
     * @return completes with whether every member has applied it, and no listed one is missing
     */
    public CompletionStage<Boolean> tellAll(byte[] change, Duration patience) {
        return tell(change, patience)
                .thenApply(byAll -> byAll && completeness.missing().isEmpty());
    }

    private CompletionStage<Boolean> tell(byte[] change, Duration patience) {
        // Casts leave in the order of their numbers: otherwise the others would see gaps.
        synchronized (outbox) {
            Outbox.Entry entry = outbox.next(change, patience);
            if (entry.hasReceivers()) {
                sender.execute(() -> send(() -> link.cast(entry.change().bytes())));
            }
            return entry.heard();
        }
    }

    private void begin(Membership now) {
        membership = now;
        views.incrementAndGet();
        completeness.membersAre(now);
        outbox.membersAre(now);
        lease.membersAre(now);
        sharers.membersAre(now);
        restartLater();
        differing.keySet().retainAll(now.others().stream().map(Member::id).toList());
        LOG.info("cluster {}: {} member(s), with {}", config.cluster(), now.others().size() + 1,
                now.others().isEmpty()
                        ? "nobody else"
                        : String.join(", ", now.others().stream().map(Member::name).toList()));
        List<String> missing = completeness.missing();
        if (!missing.isEmpty()) {
            LOG.warn("cluster {}: not heard: {}; until they are, or are no more in"
                    + " cluster.members, every read asks the store", config.cluster(),
                    String.join(", ", missing));
        }
        timer.execute(this::ask);
    }

    /** Tells the others from now on where clients reach this gateway. */
    public synchronized void serveAt(String endpoint) {
        sharers.serveAt(endpoint);
        introduction = introduction.servingAt(endpoint);
    }

    /**
     * Owns nothing from now on, and tells the others at once. They compute owners without this
     * gateway, and ask it first for what it holds. To be called some time before {@link #close}.
     */
    public synchronized void leave() {
        sharers.leave();
        introduction = introduction.leaving();
        membership.others().forEach(each -> send(each, introduction.frame()));
    }

    /**
     * Asks everything again after a minute. A member that has gone may have sent the store a write
     * that is performed until then, and a new member is not told of writes in doubt.
     */
    private void restartLater() {
        Future<?> _ = timer.schedule(lease::restart, STORE_DOUBT.toNanos(), TimeUnit.NANOSECONDS);
    }

    /**
     * Asks for the lease. A member that leaves asks no more. Introduces itself each time, since one
     * introduction may be lost, or come before the other has this view.
     */
    private void ask() {
        Membership now = membership;
        if (!isLeaving && !now.others().isEmpty()) {
            Frame question = new Frame.Question(now.id(), nanoClock.getAsLong());
            for (Member each : now.others()) {
                send(each, introduction.frame());
                send(each, question);
            }
        }
    }

    private void take(Member from, byte[] bytes) {
        try {
            take(from, Frame.of(bytes));
        } catch (RuntimeException | Error e) {
            // Not acknowledged: its sender waits the lease out, and this gateway's own lapses.
            refusedFrames.incrementAndGet();
            LOG.warn("cluster {}: a message of {} is not understood: {}", config.cluster(),
                    from.name(), e.toString());
        }
    }

    private void take(Member from, Frame frame) {
        switch (frame) {
            case Frame.Change change -> {
                CompletionStage<Boolean> done = onChange.apply(change.payload());
                applied.incrementAndGet();
                if (!lease.applied(from, change.view(), change.number())) {
                    LOG.warn("cluster {}: changes of {} are missing, so everything is asked once",
                            config.cluster(), from.name());
                    restartLater();
                }
                done.whenComplete((whole, failure) -> {
                    if (failure == null && whole) {
                        send(from, new Frame.Applied(change.view(), change.number()));
                    }
                });
            }
            case Frame.Applied acknowledged -> outbox.applied(from, acknowledged);
            case Frame.Question(String view, long askedAtNanos) -> outbox.lastIn(view, from)
                    .ifPresent(last -> send(from, new Frame.Answer(view, askedAtNanos, last)));
            case Frame.Answer answer -> lease.answered(from, answer);
            case Frame.Introduction said -> {
                Introduction word = Introduction.of(said);
                if (word.address() != null) {
                    completeness.introduced(from, word.address());
                }
                sharers.introduced(from, word, compare(from, word.facts()));
            }
            case Frame.Farewell() -> {
                completeness.saidFarewell(from);
                sharers.saidFarewell(from);
                outbox.saidFarewell(from);
            }
        }
    }

    /** Returns the keys of facts that are not as here. */
    private List<String> compare(Member from, Map<String, String> facts) {
        TreeSet<String> keys = new TreeSet<>(facts.keySet());
        keys.addAll(config.facts().keySet());
        keys.removeIf(key -> String.valueOf(facts.get(key))
                .equals(String.valueOf(config.facts().get(key))));
        List<String> found = List.copyOf(keys);
        if (found.equals(differing.put(from.id(), found))) {
            return found;
        }
        for (String key : found) {
            LOG.warn("cluster {}: {} has {}: {}, and here it is {}", config.cluster(), from.name(),
                    key, facts.getOrDefault(key, "absent"),
                    config.facts().getOrDefault(key, "absent"));
        }
        return found;
    }

    /** Returns where the other members answer fills now. */
    public Set<ClusterConfig.Address> fills() {
        return sharers.fills();
    }

    /** Returns whether some member of the view answers fills there. Takes no lock. */
    public boolean isThere(ClusterConfig.Address fills) {
        return sharers.isThere(fills);
    }

    /**
     * Returns where the owner of a run answers fills; null if this gateway owns it, or shares
     * nothing of the backend out. Takes no lock.
     *
     * @param index the run's offset in the object, in runs
     */
    public ClusterConfig.@Nullable Address ownerOf(String backend, String bucket, String key,
            long index) {
        return sharers.ownerOf(backend, bucket, key, index);
    }

    /**
     * Returns where the member answers that owned a run before this view; null if none is there
     * that did so within ten minutes, or it was this gateway. Takes no lock.
     *
     * @param index the run's offset in the object, in runs
     */
    public ClusterConfig.@Nullable Address previousOwnerOf(String backend, String bucket,
            String key, long index) {
        return sharers.previousOwnerOf(backend, bucket, key, index);
    }

    /**
     * Returns where clients reach each owner that is as this gateway in every fact, by its name;
     * empty if this gateway shares nothing out.
     */
    public Map<String, String> endpoints() {
        return sharers.endpoints();
    }

    private void send(Member to, Frame frame) {
        send(() -> link.send(to, frame.bytes()));
    }

    /** Sends; a failure is like a lost frame, which leases and waits allow for. */
    private void send(Runnable sending) {
        try {
            sending.run();
        } catch (RuntimeException | Error e) {
            LOG.debug("cluster {}: not sent", config.cluster(), e);
        }
    }

    /** Returns the cluster as this gateway sees it. */
    public ClusterState state() {
        Membership now = membership;
        List<ClusterState.Peer> peers = new ArrayList<>();
        for (Member each : now.others()) {
            peers.add(new ClusterState.Peer(each, lease.silence(each),
                    differing.getOrDefault(each.id(), List.of()),
                    Objects.toString(sharers.fillsOf(each), "")));
        }
        return new ClusterState(now.id(), isHeld(), peers, outbox.casts(), outbox.unheard(),
                applied.get(), lease.gaps(), views.get(), refusedFrames.get());
    }

    /**
     * Leaves. The caller serves nobody any more, so that the others need not wait for this
     * gateway's lease. Blocks.
     */
    @Override
    public void close() {
        isLeaving = true;
        lease.end();
        membership.others().forEach(each -> send(each, new Frame.Farewell()));
        timer.shutdownNow();
        sender.shutdown();
        try {
            boolean _ = sender.awaitTermination(config.lease().toNanos(), TimeUnit.NANOSECONDS);
        } catch (InterruptedException _) {
            Thread.currentThread().interrupt();
        }
        link.close();
        // Nobody is left to wait for.
        outbox.end();
    }
}

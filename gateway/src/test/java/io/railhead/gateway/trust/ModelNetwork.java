package io.railhead.gateway.trust;

import io.railhead.cluster.Link;
import io.railhead.cluster.Member;
import io.railhead.cluster.Membership;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.SplittableRandom;
import java.util.TreeMap;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CompletionException;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.concurrent.RejectedExecutionException;
import java.util.concurrent.TimeUnit;
import java.util.function.Consumer;
import org.jspecify.annotations.Nullable;

/**
 * The ways between gateways of one process, in the place of JGroups. A member has one thread that
 * hears, so what is sent to it arrives in its order, or is missing. Views change at once. Any
 * thread.
 */
final class ModelNetwork {
    private final Map<Integer, ModelLink> open = new TreeMap<>(); // guarded by this
    private final SplittableRandom random; // guarded by this
    private NetworkFault fault = NetworkFault.NONE; // guarded by this
    private int runs; // guarded by this
    private int views; // guarded by this
    private long lost; // guarded by this

    /** @param seed of the frames that a lossy network loses, as far as they come in one order */
    ModelNetwork(long seed) {
        this.random = new SplittableRandom(seed);
    }

    /** The way of a gateway to the others, which takes the place of another that never opens. */
    Link link(int index, Link ownedUnopened) {
        return new ModelLink(index, ownedUnopened);
    }

    /** Begins a fault; the one before is healed. */
    synchronized void fail(NetworkFault other) {
        boolean isSplit = fault.isSplit() || other.isSplit();
        fault = other;
        if (isSplit) {
            review();
        }
        if (other.kind() == NetworkFault.Kind.PAUSED && open.containsKey(other.member())) {
            open.get(other.member()).hang(other.millis());
        }
    }

    /** A member falls silent as by a kill: the others hear no farewell. */
    synchronized void kill(int index) {
        ModelLink killed = open.remove(index);
        if (killed != null) {
            review();
        }
    }

    /** Returns how many frames were lost. */
    synchronized long lost() {
        return lost;
    }

    /** Each side of a split network has a view of its own. */
    private void review() {
        for (int side = 0; side < 2; side++) {
            List<ModelLink> members = new ArrayList<>();
            for (ModelLink link : open.values()) {
                if (fault.side(link.index) == side) {
                    members.add(link);
                }
            }
            String id = "view" + ++views;
            for (ModelLink each : members) {
                List<Member> others = members.stream()
                        .filter(other -> other != each)
                        .map(other -> other.self)
                        .toList();
                each.others = others;
                each.hear(ear -> ear.membersAre(new Membership(id, others)));
            }
        }
    }

    private synchronized void deliver(ModelLink from, @Nullable Member to, byte[] frame) {
        if (open.get(from.index) != from) {
            return;
        }
        for (ModelLink each : open.values()) {
            if (from.others.contains(each.self) && (to == null || to.equals(each.self))) {
                if (fault.loses(from.index, each.index, random)) {
                    lost++;
                } else {
                    each.hear(ear -> ear.heard(from.self, frame));
                }
            }
        }
    }

    /** One run of a gateway. */
    private final class ModelLink implements Link {
        private final int index;
        private final Link unopened;
        private final Member self;
        private final ExecutorService thread = Executors.newSingleThreadExecutor(
                Thread.ofPlatform().daemon().name("model-network").factory());
        private List<Member> others = List.of(); // guarded by the network
        private volatile @Nullable Ear ear;

        ModelLink(int index, Link ownedUnopened) {
            this.index = index;
            this.unopened = ownedUnopened;
            synchronized (ModelNetwork.this) {
                this.self = new Member("run" + ++runs, "g" + index);
            }
        }

        @Override
        public void open(Ear opened) {
            ear = opened;
            synchronized (ModelNetwork.this) {
                open.put(index, this);
                review();
            }
            try {
                CompletableFuture.runAsync(() -> {}, thread).join();
            } catch (CompletionException e) {
                throw new IllegalStateException("no view", e);
            }
        }

        private void hear(Consumer<Ear> news) {
            try {
                thread.execute(() -> {
                    Ear to = ear;
                    if (to != null) {
                        news.accept(to);
                    }
                });
            } catch (RejectedExecutionException e) {
                // It has gone.
                return;
            }
        }

        /** Hears nothing for a time, and then all of it. */
        void hang(long millis) {
            hear(_ -> {
                try {
                    TimeUnit.MILLISECONDS.sleep(millis);
                } catch (InterruptedException e) {
                    Thread.currentThread().interrupt();
                }
            });
        }

        @Override
        public void cast(byte[] frame) {
            deliver(this, null, frame);
        }

        @Override
        public void send(Member to, byte[] frame) {
            deliver(this, to, frame);
        }

        @Override
        public void close() {
            synchronized (ModelNetwork.this) {
                if (open.remove(index, this)) {
                    review();
                }
            }
            thread.shutdownNow();
            unopened.close();
        }
    }
}

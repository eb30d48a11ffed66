package io.railhead.gateway.trust;

import io.railhead.cache.memory.PageSlice;
import io.railhead.cache.memory.Slab;
import io.railhead.rdma.Fabric;
import io.railhead.rdma.FabricStats;
import io.railhead.rdma.Health;
import io.railhead.rdma.RemoteBuffer;
import io.railhead.rdma.Transfer;
import io.railhead.rdma.TransferException;
import io.railhead.rdma.TransferException.Reason;
import io.railhead.rdma.pairing.Pairing;
import io.railhead.rdma.session.ClientSession;
import java.util.Optional;
import java.util.Queue;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CompletionStage;
import java.util.concurrent.ConcurrentLinkedQueue;
import java.util.concurrent.TimeUnit;
import java.util.function.Consumer;
import java.util.function.Supplier;

/** A fabric whose work requests fail as was planned. */
public final class FaultyFabric implements Fabric {
    private static final int LATE_MILLIS = 3;

    private final Fabric under;
    private final FabricFaults faults;

    /** @param faults what goes wrong when; shared by fabrics */
    public FaultyFabric(Fabric ownedFabric, FabricFaults faults) {
        this.under = ownedFabric;
        this.faults = faults;
    }

    @Override
    public String name() {
        return under.name();
    }

    @Override
    public Health health() {
        return under.health();
    }

    @Override
    public Health health(ClientSession clientSession) {
        return under.health(clientSession);
    }

    @Override
    public FabricStats stats() {
        return under.stats();
    }

    @Override
    public void register(Slab slab) {
        under.register(slab);
    }

    @Override
    public Optional<Pairing> pairing() {
        return under.pairing();
    }

    @Override
    public Transfer begin(RemoteBuffer buffer) {
        if (faults.isDown(buffer)) {
            throw new TransferException(Reason.UNAVAILABLE, "it is down");
        }
        return new FaultyTransfer(under.begin(buffer), buffer);
    }

    @Override
    public void close() {
        under.close();
    }

    private final class FaultyTransfer implements Transfer {
        private final Transfer under;
        private final RemoteBuffer buffer;
        private final Queue<Runnable> untold = new ConcurrentLinkedQueue<>();
        private final Queue<CompletableFuture<?>> late = new ConcurrentLinkedQueue<>();

        FaultyTransfer(Transfer under, RemoteBuffer buffer) {
            this.under = under;
            this.buffer = buffer;
        }

        @Override
        public CompletionStage<Void> write(PageSlice ownedSlice, long bufferOffset) {
            return work(ownedSlice, () -> under.write(ownedSlice, bufferOffset), ignored -> {});
        }

        @Override
        public CompletionStage<PageSlice> read(PageSlice ownedSlice, long bufferOffset) {
            return work(ownedSlice, () -> under.read(ownedSlice, bufferOffset), PageSlice::close);
        }

        /** @param undo what becomes of a result that nobody is handed */
        private <T> CompletionStage<T> work(PageSlice ownedSlice,
                Supplier<CompletionStage<T>> work, Consumer<T> undo) {
            return switch (faults.ofWork(buffer)) {
                case NONE, DOWN -> work.get();
                case ERROR -> {
                    ownedSlice.close();
                    yield failed();
                }
                case ERROR_AFTER_ALL -> inError(work.get(), undo);
                case LOST_COMPLETION -> {
                    CompletionStage<T> done = work.get();
                    yield untold(() -> inError(done, undo));
                }
                case STUCK -> untold(() -> {
                    ownedSlice.close();
                    return failed();
                });
                case LATE_COMPLETION -> late(work.get());
            };
        }

        private static <T> CompletionStage<T> failed() {
            return CompletableFuture.failedStage(
                    new TransferException(Reason.PEER_GONE, "a work request ended in error"));
        }

        private static <T> CompletionStage<T> inError(CompletionStage<T> done,
                Consumer<T> undo) {
            return done.thenCompose(result -> {
                undo.accept(result);
                return failed();
            });
        }

        private <T> CompletionStage<T> untold(Supplier<CompletionStage<T>> end) {
            CompletableFuture<T> told = new CompletableFuture<>();
            untold.add(() -> end.get()
                    .whenComplete((ignored, failure) -> told.completeExceptionally(failure)));
            return told;
        }

        private <T> CompletionStage<T> late(CompletionStage<T> done) {
            CompletableFuture<T> told = done.toCompletableFuture()
                    .whenCompleteAsync((ignored, failure) -> {},
                            CompletableFuture.delayedExecutor(LATE_MILLIS,
                                    TimeUnit.MILLISECONDS));
            late.add(told);
            return told;
        }

        @Override
        public CompletionStage<Void> fence() {
            return under.fence().thenCompose(ignored -> {
                for (Runnable end = untold.poll(); end != null; end = untold.poll()) {
                    end.run();
                }
                return CompletableFuture.allOf(late.toArray(CompletableFuture[]::new))
                        .exceptionally(failure -> null);
            });
        }
    }
}

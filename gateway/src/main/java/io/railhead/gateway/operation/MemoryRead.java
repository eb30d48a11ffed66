package io.railhead.gateway.operation;

import io.railhead.cache.FillException;
import io.railhead.cache.memory.PageMemory.Pool;
import io.railhead.gateway.delivery.AnswerHead;
import io.railhead.gateway.delivery.CacheResult;
import io.railhead.gateway.delivery.RdmaDelivery;
import io.railhead.gateway.delivery.ReadPlan;
import io.railhead.rdma.Transfer;
import io.railhead.rdma.TransferException;
import io.railhead.rdma.dialect.Reply;
import io.vertx.core.http.HttpServerResponse;

/**
 * Planned bytes into the client's memory, answered without a body when every byte is there. Until
 * the first is posted it may still be declined. Event loop only.
 */
final class MemoryRead implements RdmaDelivery.Outcome {
    private final ReadScope scope;
    private final ReadPlan plan;
    private final CacheResult expected;
    private final Destination.Memory memory;
    private final ObjectRead read;

    /** @param plan clipped to the memory's window */
    MemoryRead(ReadScope scope, ReadPlan plan, CacheResult expected, Destination.Memory memory,
            ObjectRead read) {
        this.scope = scope;
        this.plan = plan;
        this.expected = expected;
        this.memory = memory;
        this.read = read;
    }

    void start() {
        if (plan.length() == 0) {
            delivered();
        } else if (isInTime()) {
            transfer();
        } else {
            read.decline("slow");
        }
    }

    private boolean isInTime() {
        return scope.services().deadlines().isOpen(scope.exchange().arrivedAtNanos());
    }

    private void transfer() {
        Transfer transfer;
        try {
            transfer = scope.services().fabric().begin(memory.buffer());
        } catch (TransferException e) {
            if (e.reason() == TransferException.Reason.UNAVAILABLE) {
                read.decline("fabric");
            } else {
                scope.exchange().fail(RdmaErrors.of(e));
            }
            return;
        }
        RdmaDelivery delivery = new RdmaDelivery(scope.exchange(), scope.services().vertx(),
                transfer, plan.from(),
                scope.services().deadlines(), this);
        delivery.start(scope.reader(plan, Pool.RESERVE, delivery));
    }

    @Override
    public void delivered() {
        if (scope.exchange().isOver()) {
            return;
        }
        CacheResult result = scope.settled(expected);
        scope.count(plan, result, memory.buffer().session().fabric());
        scope.services().metrics().rdmaRequests.labels(memory.label(), "delivered").inc();
        HttpServerResponse response = AnswerHead.writeObject(scope.exchange(), scope.request(),
                plan, result);
        new Reply(plan.status(), plan.length()).headers().forEach(response::putHeader);
        response.putHeader("content-length", "0");
        response.end();
    }

    @Override
    public void declined(String reason) {
        read.decline(reason);
    }

    @Override
    public void broken(Throwable cause) {
        if (cause instanceof FillException fill && isRestartable(fill) && !scope.exchange().isOver()
                && isInTime()) {
            read.restart(fill);
        } else {
            scope.services().metrics().rdmaRequests.labels(memory.label(), "broken").inc();
            scope.exchange().fail(RdmaErrors.of(cause));
        }
    }

    private static boolean isRestartable(FillException fill) {
        return switch (fill.reason()) {
            case VERSION_CHANGED, NOT_FOUND, REFUSED -> true;
            case BACKEND_FAILED, NO_MEMORY -> false;
        };
    }
}

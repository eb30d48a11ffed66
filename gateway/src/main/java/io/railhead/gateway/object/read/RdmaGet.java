package io.railhead.gateway.object.read;

import io.railhead.cache.FillException;
import io.railhead.cache.memory.PageMemory.Pool;
import io.railhead.gateway.delivery.CacheResult;
import io.railhead.gateway.delivery.RdmaDelivery;
import io.railhead.gateway.delivery.RdmaDelivery.Written;
import io.railhead.gateway.delivery.ReadPlan;
import io.railhead.gateway.rdma.RdmaErrors;
import io.railhead.gateway.s3.S3Refusal;
import io.railhead.rdma.RemoteWindows;
import io.railhead.rdma.Transfer;
import io.railhead.rdma.TransferException;
import org.jspecify.annotations.Nullable;

/**
 * Delivers planned bytes into the client's memory. Until the first write is posted the delivery may
 * still be declined. Requester's executor only.
 */
public final class RdmaGet implements RdmaDelivery.Outcome {
    private final ObjectRead read;
    private final ReadContext scope;
    private final ReadPlan plan;
    private final CacheResult expected;
    private final RemoteWindows windows;
    private final Client client;
    private @Nullable RdmaDelivery delivery;

    /**
     * The receiver of the end: exactly one call, unless the read restarts. After {@link #begunAnew}
     * with bytes written no decline follows: the client would take its memory for unchanged.
     */
    public interface Client {

        /** Reports that every byte is in the memory. */
        void delivered(ReadPlan plan, CacheResult result);

        /** Reports that no byte was written, and none will be. */
        void declined(String reason);

        /** Reports that no write is under way, and that the read restarts. */
        void begunAnew(Written written);

        /** Reports that bytes may have been written, and that no more will be. */
        void broken(S3Refusal error);
    }

    /** @param plan clipped to the windows' bytes */
    public RdmaGet(ObjectRead read, ReadPlan plan, CacheResult expected, RemoteWindows windows,
            Client client) {
        this.read = read;
        this.scope = read.scope();
        this.plan = plan;
        this.expected = expected;
        this.windows = windows;
        this.client = client;
    }

    public void start() {
        if (plan.length() == 0) {
            delivered();
        } else if (isInTime()) {
            transfer();
        } else {
            client.declined("slow");
        }
    }

    private boolean isInTime() {
        return scope.services().deadlines().isOpen(scope.requester().arrivedAtNanos());
    }

    private void transfer() {
        Transfer transfer;
        try {
            transfer = windows.begin(scope.services().fabric());
        } catch (TransferException e) {
            if (e.reason() == TransferException.Reason.UNAVAILABLE) {
                client.declined("fabric");
            } else {
                client.broken(RdmaErrors.of(e));
            }
            return;
        }
        RdmaDelivery begun = new RdmaDelivery(scope.requester(), scope.services().vertx(),
                transfer, plan.from(),
                scope.services().deadlines(), this);
        delivery = begun;
        begun.start(scope.reader(plan, Pool.RESERVE, begun));
    }

    @Override
    public void delivered() {
        if (scope.requester().isOver()) {
            return;
        }
        CacheResult result = scope.settled(expected);
        scope.count(plan, result, windows.session().fabric());
        client.delivered(plan, result);
    }

    @Override
    public void declined(String reason) {
        client.declined(reason);
    }

    @Override
    public void broken(Throwable cause) {
        if (cause instanceof FillException fill && isRestartable(fill)
                && !scope.requester().isOver()
                && isInTime()) {
            client.begunAnew(delivery == null ? Written.NOTHING : delivery.written());
            if (!scope.requester().isOver()) {
                read.restart(fill);
            }
        } else if (cause instanceof FillException fill
                && fill.reason() == FillException.Reason.BACKEND_ERROR && isUntouched()) {
            client.declined("store");
        } else {
            client.broken(RdmaErrors.of(cause));
        }
    }

    private boolean isUntouched() {
        return delivery == null || delivery.written() == Written.NOTHING;
    }

    private static boolean isRestartable(FillException fill) {
        return switch (fill.reason()) {
            case VERSION_CHANGED, NOT_FOUND, REFUSED -> true;
            case BACKEND_FAILED, BACKEND_ERROR, CORRUPT, NO_MEMORY -> false;
        };
    }
}

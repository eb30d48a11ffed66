package io.railhead.rdma.loopback;

import io.netty.channel.SelectStrategy;
import io.netty.util.IntSupplier;
import io.railhead.os.AdaptiveSpin;
import java.util.concurrent.atomic.LongAdder;

/**
 * Lets an event loop spin briefly before it sleeps, if its peers have lately been quick. Time that
 * was spun in vain is counted. Event loop only.
 */
final class AdaptiveSelect implements SelectStrategy {
    private final AdaptiveSpin spin;
    private final LongAdder idleSpinNanos;
    private boolean turning;
    private long beganNanos;

    AdaptiveSelect(long limitNanos, LongAdder idleSpinNanos) {
        this.spin = new AdaptiveSpin(limitNanos);
        this.idleSpinNanos = idleSpinNanos;
    }

    @Override
    public int calculateStrategy(IntSupplier selectNow, boolean hasTasks) throws Exception {
        int ready = selectNow.get();
        if (ready > 0 || hasTasks) {
            if (turning) {
                turning = false;
                idleSpinNanos.add(System.nanoTime() - beganNanos);
                spin.found();
            }
            return ready;
        }
        long now = System.nanoTime();
        if (!turning) {
            turning = true;
            beganNanos = now;
        }
        if (now - beganNanos < spin.allowanceNanos()) {
            Thread.onSpinWait();
            return CONTINUE;
        }
        turning = false;
        idleSpinNanos.add(now - beganNanos);
        spin.slept();
        return SELECT;
    }
}

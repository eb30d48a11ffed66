package io.railhead.gateway.frontdoor;

import io.netty.channel.ChannelHandler.Sharable;
import io.netty.channel.ChannelHandlerContext;
import io.netty.channel.ChannelOutboundHandlerAdapter;
import io.netty.channel.EventLoop;
import io.netty.channel.SingleThreadEventLoop;
import io.railhead.gateway.admission.TenantInFlight;
import java.util.ArrayDeque;
import java.util.LinkedHashMap;
import java.util.Queue;
import java.util.SequencedMap;
import java.util.concurrent.Executor;
import java.util.function.LongSupplier;
import org.jspecify.annotations.Nullable;

/**
 * Schedules the requests of one event loop fairly among tenants. Requests start at once until the
 * loop has been away from its sockets for a moment. From then on they wait in a queue for each
 * tenant. In each pass over the sockets every waiting tenant gets one request served. A tenant's
 * flood therefore delays that tenant's requests only. Event loop only; while no request waits, a
 * request costs one reading of the clock.
 */
final class FairScheduler {
    /** Long enough that polling the sockets costs little beside it, short enough to wait for. */
    static final long AWAY_NANOS = 1_000_000;

    private final Executor afterThisPass;
    private final Executor inNextPass;
    private final LongSupplier nanoClock;
    private final SequencedMap<TenantInFlight, Queue<Runnable>> waiting = new LinkedHashMap<>();
    private final Runnable endOfPass = this::endPass;
    private final Runnable turns = this::takeTurns;
    private boolean inPass;
    private long passBegan;
    private boolean inTurn;
    private @Nullable ChannelHandlerContext unflushed;

    /**
     * A scheduler of one event loop. Each pass of the loop polls the sockets, handles the events,
     * then runs the tasks.
     *
     * @param afterThisPass runs a task once, at the end of the current pass
     * @param inNextPass runs a task once, after the sockets were polled again
     */
    FairScheduler(Executor afterThisPass, Executor inNextPass, LongSupplier nanoClock) {
        this.afterThisPass = afterThisPass;
        this.inNextPass = inNextPass;
        this.nanoClock = nanoClock;
    }

    static FairScheduler of(EventLoop loop) {
        return new FairScheduler(((SingleThreadEventLoop) loop)::executeAfterEventLoopIteration,
                loop, System::nanoTime);
    }

    /** Returns whether a new request may start now; otherwise it must {@link #await} its turn. */
    boolean isFree() {
        return waiting.isEmpty() && !isAway(passBegan());
    }

    private long passBegan() {
        if (!inPass) {
            inPass = true;
            passBegan = nanoClock.getAsLong();
            afterThisPass.execute(endOfPass);
        }
        return passBegan;
    }

    private boolean isAway(long since) {
        return nanoClock.getAsLong() - since >= AWAY_NANOS;
    }

    /** @param request started in its turn; throws nothing */
    void await(TenantInFlight whose, Runnable request) {
        passBegan();
        waiting.computeIfAbsent(whose, _ -> new ArrayDeque<>()).add(request);
    }

    private void endPass() {
        inPass = false;
        if (!waiting.isEmpty()) {
            inNextPass.execute(turns);
        }
    }

    private void takeTurns() {
        passBegan();
        long began = nanoClock.getAsLong();
        do {
            takeTurn();
        } while (!waiting.isEmpty() && !isAway(began));
    }

    private void takeTurn() {
        var next = waiting.pollFirstEntry();
        Queue<Runnable> line = next.getValue();
        Runnable request = line.remove();
        if (!line.isEmpty()) {
            waiting.putLast(next.getKey(), line);
        }
        inTurn = true;
        request.run();
        inTurn = false;
        flush();
    }

    private void flush() {
        ChannelHandlerContext connection = unflushed;
        if (connection != null) {
            unflushed = null;
            connection.flush();
        }
    }

    /**
     * Delays flushes within a turn, so that all its writes leave in one system call, as writes
     * during a read of the sockets do.
     */
    @Sharable
    final class Gathering extends ChannelOutboundHandlerAdapter {

        @Override
        public void flush(ChannelHandlerContext context) {
            if (!inTurn) {
                context.flush();
            } else if (!context.equals(unflushed)) {
                FairScheduler.this.flush();
                unflushed = context;
            }
        }
    }
}

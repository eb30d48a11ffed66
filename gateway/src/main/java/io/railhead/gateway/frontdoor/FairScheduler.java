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
import java.util.function.LongSupplier;
import org.jspecify.annotations.Nullable;

/**
 * Schedules the requests of one event loop fairly. Requests go ahead as they come until the loop
 * has been away from its sockets for a moment; from then on they wait, and between any two looks at
 * the sockets those who share the loop have their turns, a request each: what one of them floods
 * the loop with waits behind the flood, and nobody else's does. The event loop only; while nobody
 * waits, a request costs a look at the clock.
 */
final class FairScheduler {
    /** Long enough for the sockets to cost little beside it, short enough to wait for. */
    static final long AWAY_NANOS = 1_000_000;

    private final Passes passes;
    private final LongSupplier nanoClock;
    private final SequencedMap<TenantInFlight, Queue<Runnable>> waiting = new LinkedHashMap<>();
    private final Runnable endOfPass = this::endPass;
    private final Runnable turns = this::takeTurns;
    private boolean inPass;
    private long passBegan;
    private boolean inTurn;
    private @Nullable ChannelHandlerContext unflushed;

    /** An event loop's way: a look at its sockets with all that comes of it, then its tasks. */
    interface Passes {

        /** Once, when the pass that runs now is over. */
        void afterThisOne(Runnable task);

        /** After the sockets' next turn. */
        void inTheNext(Runnable task);
    }

    FairScheduler(Passes passes, LongSupplier nanoClock) {
        this.passes = passes;
        this.nanoClock = nanoClock;
    }

    static FairScheduler of(EventLoop loop) {
        SingleThreadEventLoop passing = (SingleThreadEventLoop) loop;
        return new FairScheduler(new Passes() {
            @Override
            public void afterThisOne(Runnable task) {
                passing.executeAfterEventLoopIteration(task);
            }

            @Override
            public void inTheNext(Runnable task) {
                passing.execute(task);
            }
        }, System::nanoTime);
    }

    /** Whether one that has just come goes ahead; else it has to {@link #await} its turn. */
    boolean isFree() {
        return waiting.isEmpty() && !isAway(passBegan());
    }

    private long passBegan() {
        if (!inPass) {
            inPass = true;
            passBegan = nanoClock.getAsLong();
            passes.afterThisOne(endOfPass);
        }
        return passBegan;
    }

    private boolean isAway(long since) {
        return nanoClock.getAsLong() - since >= AWAY_NANOS;
    }

    /** @param request is begun when it is its turn; it throws nothing */
    void await(TenantInFlight whose, Runnable request) {
        passBegan();
        waiting.computeIfAbsent(whose, _ -> new ArrayDeque<>()).add(request);
    }

    private void endPass() {
        inPass = false;
        if (!waiting.isEmpty()) {
            passes.inTheNext(turns);
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
     * Gathers what is written in a turn, so that it leaves by one call to the kernel, as what is
     * written while sockets are read does.
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

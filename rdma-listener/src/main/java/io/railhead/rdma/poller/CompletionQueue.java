package io.railhead.rdma.poller;

import com.ibm.disni.verbs.IbvCQ;
import com.ibm.disni.verbs.IbvCompChannel;
import com.ibm.disni.verbs.SVCReqNotify;
import io.railhead.os.EventDescriptor;
import io.railhead.os.PollSet;
import io.railhead.os.adapter.Adapter;
import io.railhead.os.adapter.CloseStack;
import io.railhead.os.verbs.Completions;
import java.io.IOException;
import java.io.UncheckedIOException;
import java.util.concurrent.TimeUnit;

/**
 * The completion queue of one poller, and the sleep for its events. Its poller only, except
 * {@link #wake}. It owns the queue and its event channel.
 */
public final class CompletionQueue implements AutoCloseable {
    private static final int BATCH = 32;
    private static final int EVENTS_A_BATCH = 64;
    private static final long LONGEST_SLEEP_NANOS = TimeUnit.SECONDS.toNanos(1);

    private final IbvCompChannel channel;
    private final IbvCQ queue;
    private final SVCReqNotify notification;
    private final Completions batch;
    private final EventDescriptor wake = new EventDescriptor();
    private final PollSet sleepers;
    private final CloseStack closeStack = new CloseStack();
    private int unacknowledged;

    /** @param depth the most outstanding completions: an overrun breaks the queue for good */
    public CompletionQueue(Adapter adapter, int depth) throws IOException {
        closeStack.add(wake::close);
        try {
            channel = adapter.context().createCompChannel();
            closeStack.add(channel::destroyCompChannel);
            queue = adapter.context().createCQ(channel, depth, 0);
            closeStack.add(this::destroyQueue);
            notification = queue.reqNotification(false);
            closeStack.add(notification::free);
            batch = adapter.verbs().completions(BATCH);
            closeStack.add(batch::close);
            sleepers = new PollSet(channel.getFd(), wake.descriptor());
            closeStack.add(sleepers::close);
        } catch (IOException | RuntimeException | Error e) {
            closeStack.run(e);
            throw e;
        }
    }

    public IbvCQ queue() {
        return queue;
    }

    /** Returns the completions of the last {@link #poll}. */
    public Completions batch() {
        return batch;
    }

    /** Takes a batch of completions; returns how many. */
    public int poll() {
        return batch.poll(queue);
    }

    /** Arms the queue for {@link CompletionHandler#arm}. */
    public void arm() {
        try {
            notification.execute();
        } catch (IOException e) {
            throw new UncheckedIOException(e);
        }
    }

    /** Sleeps for {@link CompletionHandler#sleep}. */
    public void sleep(long nanos) {
        long millis = TimeUnit.NANOSECONDS.toMillis(Math.min(nanos, LONGEST_SLEEP_NANOS)) + 1;
        if (sleepers.await((int) millis) == 0) {
            return;
        }
        if (sleepers.isReady(1)) {
            wake.clear();
        }
        if (sleepers.isReady(0)) {
            takeEvents();
        }
    }

    private void takeEvents() {
        try {
            while (channel.getCqEvent(queue, 0)) {
                unacknowledged++;
            }
            if (unacknowledged >= EVENTS_A_BATCH) {
                acknowledge();
            }
        } catch (IOException e) {
            throw new UncheckedIOException(e);
        }
    }

    private void acknowledge() throws IOException {
        int events = unacknowledged;
        unacknowledged = 0;
        queue.ackEvents(events);
    }

    /** Ends the current sleep, or the next one. Any thread. */
    public void wake() {
        wake.signal();
    }

    private void destroyQueue() throws IOException {
        acknowledge();
        queue.destroyCQ();
    }

    /** Closes the queue, after its poller has ended and its last queue pair was destroyed. */
    @Override
    public void close() throws IOException {
        IOException failure = new IOException("a completion queue could not be given back");
        closeStack.run(failure);
        if (failure.getSuppressed().length > 0) {
            throw failure;
        }
    }
}

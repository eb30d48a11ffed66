package io.railhead.os.adapter;

import com.ibm.disni.verbs.RdmaCmEvent;
import com.ibm.disni.verbs.RdmaCmEvent.EventType;
import com.ibm.disni.verbs.RdmaEventChannel;
import io.railhead.os.EventDescriptor;
import io.railhead.os.PollSet;
import java.io.IOException;
import java.io.UncheckedIOException;
import java.util.List;
import java.util.Queue;
import java.util.concurrent.ConcurrentLinkedQueue;
import java.util.concurrent.Executor;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * The one thread that makes and ends connections. It handles the events of an rdma_cm channel,
 * tasks of other threads, and further descriptors. It never touches the data path.
 */
public final class CmLoop implements Executor, AutoCloseable {
    private static final Logger log = LoggerFactory.getLogger(CmLoop.class);
    /** RDMA_PS_TCP, the port space of reliable connections. */
    public static final short TCP_PORTS = 0x0106;
    private static final int TICK_MILLIS = 250;
    private static final List<EventType> TYPES = List.of(EventType.values());

    /** The handler of events, on the loop's thread. */
    public interface Listener {

        void event(RdmaCmEvent event) throws IOException;

        /** Called several times a second, and whenever a further descriptor was readable. */
        void tick();
    }

    private final RdmaEventChannel channel;
    private final Listener listener;
    private final EventDescriptor wake = new EventDescriptor();
    private final PollSet sleepers;
    private final Queue<Runnable> inbox = new ConcurrentLinkedQueue<>();
    private final Thread thread;
    private volatile boolean closed;

    /**
     * @param ownedChannel destroyed at the end
     * @param further descriptors to wake for, besides the channel's
     */
    public CmLoop(String name, RdmaEventChannel ownedChannel, Listener listener, int... further) {
        this.channel = ownedChannel;
        this.listener = listener;
        int[] descriptors = new int[further.length + 2];
        descriptors[0] = ownedChannel.getFd();
        descriptors[1] = wake.descriptor();
        System.arraycopy(further, 0, descriptors, 2, further.length);
        this.sleepers = new PollSet(descriptors);
        this.thread = Thread.ofPlatform().name(name).daemon().unstarted(this::loop);
    }

    public static EventType type(RdmaCmEvent event) {
        return TYPES.get(event.getEvent());
    }

    public void start() {
        thread.start();
    }

    /** Runs a task on the loop. Any thread; not after {@link #close}. */
    @Override
    public void execute(Runnable message) {
        inbox.add(message);
        wake.signal();
    }

    private void loop() {
        while (!closed) {
            int _ = sleepers.await(TICK_MILLIS);
            if (sleepers.isReady(1)) {
                wake.clear();
            }
            guarded(this::takeEvents);
            for (Runnable next = inbox.poll(); next != null; next = inbox.poll()) {
                guarded(next);
            }
            guarded(listener::tick);
        }
    }

    private void takeEvents() {
        try {
            for (RdmaCmEvent event = channel.getCmEvent(0); event != null; event = channel
                    .getCmEvent(0)) {
                take(event);
            }
        } catch (IOException e) {
            throw new UncheckedIOException(e);
        }
    }

    private void take(RdmaCmEvent event) {
        guarded(() -> {
            try {
                listener.event(event);
            } catch (IOException e) {
                throw new UncheckedIOException(e);
            }
        });
    }

    private void guarded(Runnable step) {
        try {
            step.run();
        } catch (Throwable e) {
            log.error("{}", thread.getName(), e);
        }
    }

    /** Closes the loop, after the last id was destroyed. Not from the loop's thread. */
    @Override
    public void close() {
        execute(() -> closed = true);
        boolean interrupted = false;
        while (thread.isAlive()) {
            try {
                thread.join();
            } catch (InterruptedException _) {
                interrupted = true;
            }
        }
        sleepers.close();
        wake.close();
        try {
            channel.destroyEventChannel();
        } catch (IOException e) {
            throw new UncheckedIOException(e);
        } finally {
            if (interrupted) {
                Thread.currentThread().interrupt();
            }
        }
    }
}

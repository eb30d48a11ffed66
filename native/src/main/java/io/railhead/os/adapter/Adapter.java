package io.railhead.os.adapter;

import com.ibm.disni.verbs.IbvContext;
import com.ibm.disni.verbs.IbvMr;
import com.ibm.disni.verbs.IbvPd;
import com.ibm.disni.verbs.IbvQP;
import com.ibm.disni.verbs.IbvQPInitAttr;
import io.railhead.os.verbs.DeviceLimits;
import io.railhead.os.verbs.VerbsExtensions;
import io.railhead.os.verbs.VerbsProvider;
import java.io.IOException;
import java.io.UncheckedIOException;
import java.lang.foreign.MemorySegment;
import java.util.ArrayDeque;
import java.util.ArrayList;
import java.util.Deque;
import java.util.List;
import org.jspecify.annotations.Nullable;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * One opened device with its protection domain, registrations and message memory. Any thread. It
 * owns the registrations; slabs are registered without any remote right.
 */
public final class Adapter implements AutoCloseable {
    private static final Logger log = LoggerFactory.getLogger(Adapter.class);

    private final VerbsExtensions verbs;
    private final String device;
    private final IbvContext context;
    private final IbvPd domain;
    private final DeviceLimits limits;
    private final SlabKeys slabKeys = new SlabKeys();
    private final List<IbvMr> slabs = new ArrayList<>();
    /** Message memory of closed connections, kept for the next ones since registering is slow. */
    private final Deque<MessageMemory> spare = new ArrayDeque<>();
    private volatile boolean keptForGood;

    private Adapter(VerbsExtensions verbs, String device, IbvContext context) throws IOException {
        this.verbs = verbs;
        this.device = device;
        this.context = context;
        this.limits = verbs.limits(context);
        this.domain = context.allocPd();
    }

    /** Opens the device; iWARP is refused. */
    public static Adapter open(VerbsExtensions verbs, String device) throws IOException {
        IbvContext context = verbs.open(device);
        try {
            return new Adapter(verbs, device, context);
        } catch (IOException | RuntimeException | Error e) {
            verbs.close(context);
            throw e;
        }
    }

    public VerbsExtensions verbs() {
        return verbs;
    }

    public String device() {
        return device;
    }

    public IbvContext context() {
        return context;
    }

    public IbvPd domain() {
        return domain;
    }

    public DeviceLimits limits() {
        return limits;
    }

    public SlabKeys slabKeys() {
        return slabKeys;
    }

    /** Returns whether the port passes packets now. */
    public boolean isActive(int port) {
        try {
            return verbs.port(context, port).isActive();
        } catch (IOException e) {
            return false;
        }
    }

    /** Registers a slab: the adapter may read and write it, for this process's requests only. */
    public void registerSlab(MemorySegment slab) throws IOException {
        IbvMr registration = register(slab, IbvMr.IBV_ACCESS_LOCAL_WRITE);
        synchronized (slabs) {
            slabs.add(registration);
        }
        slabKeys.add(slab.address(), slab.byteSize(), registration.getLkey());
    }

    public IbvMr register(MemorySegment memory, int access) throws IOException {
        return verbs.register(domain, memory.address(), memory.byteSize(), access);
    }

    public IbvQP create(IbvQPInitAttr attributes) throws IOException {
        return verbs.createQueuePair(domain, attributes);
    }

    /**
     * Destroys a queue pair; after success the adapter uses no memory that it named. After a
     * failure that memory, and everything that the queue pair needs, must be kept for good;
     * {@link #close} then frees nothing.
     */
    public boolean tryDestroy(IbvQP queuePair) {
        return tryDestroy(() -> verbs.destroyQueuePair(queuePair));
    }

    /** Destroys another kind of queue pair by this step, with the same result. */
    public boolean tryDestroy(Step destruction) {
        try {
            destruction.run();
            return true;
        } catch (IOException | RuntimeException | Error e) {
            keptForGood = true;
            log.error("{}: a queue pair cannot be destroyed: its memory and the device are kept "
                    + "until this process ends", device, e);
            return false;
        }
    }

    /**
     * Returns whether a queue pair could not be destroyed, so that nothing it needs may be freed.
     */
    public boolean isKeptForGood() {
        return keptForGood;
    }

    /** @param bytes the size of each buffer, a power of two */
    public MessageMemory takeMessages(int buffers, int bytes) throws IOException {
        MessageMemory kept;
        synchronized (spare) {
            kept = spare.poll();
        }
        return kept != null && kept.holds(buffers, bytes)
                ? kept
                : MessageMemory.register(this, buffers, bytes);
    }

    public void giveBack(MessageMemory memory) {
        if (memory.hasBodies()) {
            synchronized (spare) {
                spare.add(memory);
            }
        }
    }

    /** Closes the device, after everything that was created from it. */
    @Override
    public void close() {
        if (keptForGood) {
            return;
        }
        @Nullable
        IOException failure = null;
        synchronized (spare) {
            spare.forEach(MessageMemory::close);
            spare.clear();
        }
        for (IbvMr slab : slabs) {
            failure = tryRun(failure, () -> verbs.deregister(slab));
        }
        failure = tryRun(failure, () -> free(domain));
        failure = tryRun(failure, () -> verbs.close(context));
        VerbsProvider.releaseRemoved();
        if (failure != null) {
            throw new UncheckedIOException(failure);
        }
    }

    private static void free(IbvPd domain) throws IOException {
        try {
            domain.deallocPd();
        } catch (IOException | RuntimeException | Error e) {
            throw e;
        } catch (Exception e) {
            // DiSNI declares this exception.
            throw new IOException(e);
        }
    }

    /** Frees a protection domain; a failure is suppressed in the cause. */
    public static void tryFree(IbvPd domain, Throwable cause) {
        try {
            free(domain);
        } catch (IOException | RuntimeException | Error e) {
            cause.addSuppressed(e);
        }
    }

    /** A library call that may fail. */
    public interface Step {
        void run() throws IOException;
    }

    /**
     * Runs a step; returns the first failure of several steps, with later ones suppressed in it.
     */
    public static @Nullable IOException tryRun(@Nullable IOException before, Step step) {
        try {
            step.run();
            return before;
        } catch (IOException e) {
            if (before == null) {
                return e;
            }
            before.addSuppressed(e);
            return before;
        }
    }
}

package io.railhead.os.verbs;

import com.ibm.disni.verbs.IbvCQ;
import com.ibm.disni.verbs.IbvCompChannel;
import com.ibm.disni.verbs.IbvContext;
import com.ibm.disni.verbs.IbvMr;
import com.ibm.disni.verbs.IbvPd;
import com.ibm.disni.verbs.IbvQP;
import com.ibm.disni.verbs.IbvQPInitAttr;
import java.io.IOException;
import java.lang.foreign.Arena;
import java.lang.foreign.MemorySegment;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;

/** One end of a test: a device with a protection domain, a completion queue and its memory. */
final class VerbsSide implements AutoCloseable {
    private static final Duration LIMIT = Duration.ofSeconds(60);

    final VerbsExtensions verbs;
    final IbvContext context;
    final IbvPd domain;
    final IbvCompChannel channel;
    final IbvCQ queue;
    final Completions completions;
    private final Arena arena = Arena.ofShared();
    private final List<IbvMr> registrations = new ArrayList<>();

    VerbsSide(VerbsExtensions verbs, String device) throws IOException {
        this.verbs = verbs;
        context = verbs.open(device);
        domain = context.allocPd();
        channel = context.createCompChannel();
        queue = context.createCQ(channel, 512, 0);
        completions = verbs.completions(32);
    }

    IbvQPInitAttr queuePair(int sends, int receives, int entries) {
        IbvQPInitAttr attributes = new IbvQPInitAttr();
        attributes.setSend_cq(queue);
        attributes.setRecv_cq(queue);
        attributes.setQp_type(IbvQP.IBV_QPT_RC);
        attributes.cap().setMax_send_wr(sends);
        attributes.cap().setMax_recv_wr(receives);
        attributes.cap().setMax_send_sge(entries);
        attributes.cap().setMax_recv_sge(entries);
        attributes.cap().setMax_inline_data(64);
        return attributes;
    }

    MemorySegment allocate(long bytes) {
        return arena.allocate(bytes, 4096);
    }

    IbvMr register(MemorySegment memory, int access) throws IOException {
        IbvMr registration = verbs.register(domain, memory.address(), memory.byteSize(), access);
        registrations.add(registration);
        return registration;
    }

    /** Spins until something completed: how many, and they are in {@link #completions}. */
    int awaitCompletions() {
        long start = System.nanoTime();
        while (completions.poll(queue) == 0) {
            if (System.nanoTime() - start > LIMIT.toNanos()) {
                throw new AssertionError("nothing completed in " + LIMIT);
            }
            Thread.onSpinWait();
        }
        return completions.size();
    }

    @Override
    public void close() throws IOException {
        for (IbvMr registration : registrations) {
            verbs.deregister(registration);
        }
        queue.destroyCQ();
        channel.destroyCompChannel();
        try {
            domain.deallocPd();
        } catch (Exception e) {
            throw new IOException(e);
        }
        verbs.close(context);
        completions.close();
        arena.close();
    }
}

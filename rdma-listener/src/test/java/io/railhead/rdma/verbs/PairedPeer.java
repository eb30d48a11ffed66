package io.railhead.rdma.verbs;

import static java.util.Objects.requireNonNull;
import static org.assertj.core.api.Assertions.assertThat;

import com.ibm.disni.verbs.IbvCQ;
import com.ibm.disni.verbs.IbvMr;
import com.ibm.disni.verbs.IbvQP;
import com.ibm.disni.verbs.IbvQPInitAttr;
import com.ibm.disni.verbs.IbvSendWR;
import io.railhead.os.adapter.Adapter;
import io.railhead.os.adapter.PairedRoute;
import io.railhead.os.adapter.QueuePairConfig;
import io.railhead.os.adapter.QueuePairEnd;
import io.railhead.os.adapter.QueuePairStates;
import io.railhead.os.devices.GidChoice;
import io.railhead.os.devices.GidRequest;
import io.railhead.os.devices.GidType;
import io.railhead.os.devices.RdmaDevices;
import io.railhead.os.verbs.Completions;
import io.railhead.os.verbs.PreparedReceives;
import io.railhead.os.verbs.PreparedSends;
import io.railhead.os.verbs.VerbsExtensions;
import io.railhead.os.verbs.VerbsProvider;
import java.io.IOException;
import java.lang.foreign.MemorySegment;
import java.net.InetAddress;
import java.util.HashMap;
import java.util.Map;
import java.util.concurrent.TimeUnit;

/**
 * A client of the dialects that bring a queue pair of their own, as their libraries make it: raw
 * verbs, one queue pair, no rdma_cm. One thread.
 */
public final class PairedPeer implements AutoCloseable {
    private static final long PATIENCE_NANOS = TimeUnit.SECONDS.toNanos(90);
    private static final int DEPTH = 8;
    private static final int SIGNALED = 2;
    private static final int RIGHTS = IbvMr.IBV_ACCESS_LOCAL_WRITE
            | IbvMr.IBV_ACCESS_REMOTE_WRITE | IbvMr.IBV_ACCESS_REMOTE_READ;

    private final VerbsExtensions verbs = VerbsProvider.install();
    private final GidChoice.Chosen place;
    private final Adapter adapter;
    private final IbvCQ queue;
    private final IbvQP queuePair;
    private final QueuePairEnd own;
    private final QueuePairStates states;
    private final Completions completions;
    private final PreparedSends send;
    private final PreparedReceives receive;
    private final Map<Integer, IbvMr> registrations = new HashMap<>();
    private boolean dead;

    /** @param packetSequence that it says it begins with, and does */
    public PairedPeer(InetAddress address, int packetSequence) throws IOException {
        GidChoice choice = GidChoice.of(RdmaDevices.read(),
                GidRequest.of(GidType.ROCE_V2).at(address));
        assertThat(choice).isInstanceOf(GidChoice.Chosen.class);
        place = (GidChoice.Chosen) choice;
        adapter = Adapter.open(verbs, place.device().name());
        queue = adapter.context().createCQ(null, 2 * DEPTH, 0);
        IbvQPInitAttr attributes = new IbvQPInitAttr();
        attributes.setQp_type(IbvQP.IBV_QPT_RC);
        attributes.setSend_cq(queue);
        attributes.setRecv_cq(queue);
        attributes.cap().setMax_send_wr(DEPTH);
        attributes.cap().setMax_recv_wr(DEPTH);
        queuePair = adapter.create(attributes);
        states = new QueuePairStates(verbs, QueuePairConfig.DEFAULT);
        states.toInit(queuePair, place.port().number(),
                IbvMr.IBV_ACCESS_REMOTE_WRITE | IbvMr.IBV_ACCESS_REMOTE_READ);
        own = new QueuePairEnd(queuePair.getQp_num(), place.gid().address(), 0, packetSequence);
        completions = verbs.completions(1);
        send = verbs.prepareSends(1, 1);
        receive = verbs.prepareReceives(1, 1);
    }

    public QueuePairEnd own() {
        return own;
    }

    public int port() {
        return place.port().number();
    }

    /** To RTR and RTS, with what the gateway answered. */
    public void connect(QueuePairEnd gateway) throws IOException {
        int mtu = verbs.port(adapter.context(), place.port().number()).activeMtu();
        states.toReady(queuePair, new PairedRoute(place.port().number(), place.gid().index(), mtu,
                own, gateway), 1, 1);
    }

    /** The gateway may read and write it. Gives its remote key. */
    public int register(MemorySegment memory) throws IOException {
        IbvMr registration = adapter.register(memory, RIGHTS);
        registrations.put(registration.getRkey(), registration);
        return registration.getRkey();
    }

    /** Takes the gateway's right back. */
    public void deregister(int key) throws IOException {
        IbvMr registration = registrations.remove(key);
        if (registration != null) {
            verbs.deregister(registration);
        }
    }

    /** For one immediate value. */
    public void postReceive() {
        assertThat(receive.clear().add(1).post(queuePair)).isOne();
    }

    /** The immediate value that the gateway says. */
    public int awaitImmediate() {
        await();
        assertThat(completions.status(0)).isEqualTo(Completions.SUCCESS);
        assertThat(completions.opcode(0)).isEqualTo(Completions.RECEIVE_WITH_IMMEDIATE);
        assertThat(completions.hasImmediate(0)).isTrue();
        return completions.immediate(0);
    }

    /** Whether the gateway has said nothing yet. */
    public boolean hasHeardNothing() {
        return completions.poll(queue) == 0;
    }

    /** Writes into the gateway and says a value with it; gives the completion's status. */
    public int write(MemorySegment from, int localKey, long remote, int remoteKey, int value) {
        IbvMr registration = requireNonNull(registrations.get(localKey));
        assertThat(send.clear()
                .add(2, IbvSendWR.IBV_WR_RDMA_WRITE_WITH_IMM, SIGNALED)
                .remote(remote, remoteKey)
                .immediate(value)
                .entry(from.address(), (int) from.byteSize(), registration.getLkey())
                .post(queuePair)).isOne();
        await();
        return completions.status(0);
    }

    private void await() {
        long deadline = System.nanoTime() + PATIENCE_NANOS;
        while (completions.poll(queue) == 0) {
            assertThat(System.nanoTime() - deadline).as("nothing completes").isNegative();
            Thread.onSpinWait();
        }
    }

    /** As a process that was killed: its queue pair is gone, and nobody says so. */
    public void die() throws IOException {
        if (!dead) {
            dead = true;
            verbs.destroyQueuePair(queuePair);
        }
    }

    @Override
    public void close() throws IOException {
        die();
        for (IbvMr registration : registrations.values()) {
            verbs.deregister(registration);
        }
        queue.destroyCQ();
        completions.close();
        send.close();
        receive.close();
        adapter.close();
    }
}

package io.railhead.os.verbs;

import static java.lang.foreign.ValueLayout.JAVA_BYTE;

import com.ibm.disni.verbs.IbvCQ;
import com.ibm.disni.verbs.IbvCompChannel;
import com.ibm.disni.verbs.IbvContext;
import com.ibm.disni.verbs.IbvMr;
import com.ibm.disni.verbs.IbvSendWR;
import java.io.IOException;
import java.lang.foreign.Arena;
import java.lang.foreign.MemorySegment;
import java.util.ArrayList;
import java.util.List;
import java.util.Random;

/** An adapter, what a server needs of it, and one client elsewhere; closing it looks for leaks. */
final class DcRig implements AutoCloseable {
    static final long KEY = 0xffee_ddcc_1234_5678L;
    static final int BYTES = 1 << 16;
    static final int ENTRIES = 4;
    static final int REQUESTS = 8;
    static final int SIGNALED = IbvSendWR.IBV_SEND_SIGNALED;
    static final DcInitiator.Path PATH = new DcInitiator.Path(1, 1, true, 3, 0, 4096, 16, 6, 5,
            16);

    final FakeMlx5 adapter = FakeMlx5.open();
    final VerbsExtensions verbs = adapter.verbs();
    final IbvContext context = verbs.open(FakeMlx5.DEVICE);
    final FakeContext.Domain domain = (FakeContext.Domain) context.allocPd();
    final IbvCompChannel channel = context.createCompChannel();
    final IbvCQ queue = context.createCQ(channel, 64, 0);
    final Completions completions = verbs.completions(16);
    final Arena arena = Arena.ofShared();
    final MemorySegment local;
    final MemorySegment remote;
    final IbvMr registration;
    final FakePeer peer = adapter.peer(KEY);
    final int rkey;

    DcRig(Random random) throws IOException {
        local = random(random);
        remote = random(random);
        registration = verbs.register(domain, local.address(), BYTES,
                IbvMr.IBV_ACCESS_LOCAL_WRITE);
        rkey = peer.register(remote);
    }

    MemorySegment random(Random random) {
        byte[] bytes = new byte[BYTES];
        random.nextBytes(bytes);
        return arena.allocateFrom(JAVA_BYTE, bytes);
    }

    DcInitiator initiator() throws IOException {
        return adapter.createInitiator(domain, queue,
                new DcInitiator.Capacity(REQUESTS, ENTRIES));
    }

    DcInitiator connected() throws IOException {
        DcInitiator initiator = initiator();
        initiator.connect(PATH);
        return initiator;
    }

    AddressVector address() {
        return address(peer.gid());
    }

    static AddressVector address(String gid) {
        return new AddressVector(1, 1, Long.parseUnsignedLong(gid, 0, 16, 16),
                Long.parseUnsignedLong(gid, 16, 32, 16), 0, true, 64, 96, 3, 0);
    }

    AddressHandle handle() throws IOException {
        return adapter.createAddressHandle(domain, address());
    }

    /** What was reported since the last call, as "id status". */
    List<String> polled() {
        List<String> found = new ArrayList<>();
        while (completions.poll(queue) > 0) {
            for (int i = 0; i < completions.size(); i++) {
                found.add(completions.workRequestId(i) + " " + completions.status(i));
            }
        }
        return found;
    }

    /** Where something is left on purpose. */
    void abandon() {
        completions.close();
        arena.close();
        adapter.close();
    }

    @Override
    public void close() throws IOException {
        completions.close();
        verbs.deregister(registration);
        queue.destroyCQ();
        channel.destroyCompChannel();
        domain.deallocPd();
        verbs.close(context);
        arena.close();
        adapter.close();
    }
}

package io.railhead.os.verbs;

import static io.railhead.os.verbs.DcRig.SIGNALED;
import static java.lang.foreign.ValueLayout.ADDRESS;
import static java.lang.foreign.ValueLayout.JAVA_BYTE;
import static java.lang.foreign.ValueLayout.JAVA_INT;
import static java.lang.foreign.ValueLayout.JAVA_LONG;
import static java.lang.foreign.ValueLayout.JAVA_LONG_UNALIGNED;
import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;
import static org.junit.jupiter.api.Assumptions.abort;

import com.ibm.disni.verbs.IbvMr;
import com.ibm.disni.verbs.IbvQP;
import io.railhead.os.devices.Gid;
import java.io.IOException;
import java.lang.foreign.Arena;
import java.lang.foreign.FunctionDescriptor;
import java.lang.foreign.Linker;
import java.lang.foreign.MemorySegment;
import java.lang.foreign.SymbolLookup;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import java.util.Optional;
import java.util.Random;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;

/**
 * What of the DC transport real libraries and a real kernel can show without an adapter that has
 * it: address handles, the library's refusal, and posting through a real struct ibv_qp_ex. That is
 * of a reliable connection, to which a target means nothing. The stretches of its lists are equally
 * long, since soft-RoCE's provider counted the first one's length for all of them before
 * rdma-core's commit 406cd2ad0.
 */
@RequiresVerbs
final class DcOnSoftRoceTest {
    private static final int BYTES = 4096;
    private static final int EOPNOTSUPP = 95;
    /** From struct ibv_context back to struct verbs_context's create_qp_ex, which it ends. */
    private static final long CREATE_QP_EX = -56;

    private VerbsLink link;
    /** struct mlx5dv_qp_ex. */
    private MemorySegment direct = MemorySegment.NULL;

    @BeforeEach
    void start() throws IOException {
        link = new VerbsLink();
    }

    @AfterEach
    void stop() throws IOException {
        link.close();
    }

    private static Mlx5 library() throws IOException {
        try {
            return Mlx5.load();
        } catch (VerbsUnavailableException e) {
            return abort(e.toString());
        }
    }

    private AddressVector toClient(int gidIndex) {
        Gid gid = VerbsLink.gidOf(link.devices.getLast());
        MemorySegment bytes = MemorySegment.ofArray(gid.bytes());
        return new AddressVector(1, gidIndex, bigEndian(bytes, 0), bigEndian(bytes, Long.BYTES), 0,
                true, 64, 96, 3, 0);
    }

    private static long bigEndian(MemorySegment bytes, long offset) {
        return Long.reverseBytes(
                bytes.get(JAVA_LONG_UNALIGNED, offset));
    }

    @Test
    void theKernelTakesAnAddressHandle() throws Exception {
        Mlx5 library = library();
        int index = VerbsLink.gidOf(link.devices.getFirst()).index();
        library.createAddressHandle(link.server.domain, toClient(index)).close();
        assertThatThrownBy(() -> library.createAddressHandle(link.server.domain, toClient(200)))
                .isInstanceOf(VerbsException.class)
                .hasMessageStartingWith("ibv_create_ah: ");
    }

    @Test
    void aDeviceOfAnotherKindIsRefusedAndNothingIsLeft() throws Exception {
        Mlx5 library = library();
        assertThat(library.supports(link.server.context)).isFalse();
        assertThatThrownBy(() -> library.createInitiator(link.server.domain, link.server.queue,
                new DcInitiator.Capacity(1, 1)))
                .isInstanceOf(VerbsException.class)
                .extracting("errno")
                .isEqualTo(EOPNOTSUPP);
        assertThatThrownBy(() -> library.createTarget(link.server.domain, link.server.queue,
                new DcTarget.Attributes(1, 1, 1, true, 64, 0, 0, 1024, 12)))
                .isInstanceOf(VerbsException.class)
                .hasMessageStartingWith("mlx5dv_create_qp: ")
                .hasNoSuppressedExceptions();
    }

    @Test
    void requestsGoThroughARealExtendedQueuePair() throws Exception {
        List<Throwable> thrown = new ArrayList<>();
        MemorySegment source = link.server.allocate(BYTES);
        byte[] random = new byte[BYTES];
        new Random(20261122).nextBytes(random);
        MemorySegment.copy(random, 0, source, JAVA_BYTE, 0, BYTES);
        IbvMr sourceKey = link.server.register(source, IbvMr.IBV_ACCESS_LOCAL_WRITE);
        MemorySegment target = link.client.allocate(BYTES);
        IbvMr targetKey = link.client.register(target, IbvMr.IBV_ACCESS_LOCAL_WRITE
                | IbvMr.IBV_ACCESS_REMOTE_WRITE | IbvMr.IBV_ACCESS_REMOTE_READ);
        IbvQP there = link.verbs.createQueuePair(link.client.domain,
                link.client.queuePair(4, 4, 1));
        try (Arena arena = Arena.ofShared(); ScatterList list = new ScatterList(2)) {
            LibMlx5 library = symbols(arena, thrown);
            IbvQP here = createExtended(arena);
            link.ready(here, link.devices.getFirst(), there, link.devices.getLast());
            link.ready(there, link.devices.getLast(), here, link.devices.getFirst());
            DcInitiator initiator = new ForeignInitiator(library,
                    new DcQueuePair(library, Foreign.queuePair(here).address));
            assertThat(initiator.number()).isEqualTo(here.getQp_num());
            AddressHandle handle = new ForeignMlx5(library).createAddressHandle(
                    link.server.domain, toClient(VerbsLink.gidOf(link.devices.getFirst()).index()));

            initiator.start();
            initiator.write(1, SIGNALED, targetKey.getRkey(), target.address());
            initiator.target(handle, 1, 1);
            initiator.entry(sourceKey.getLkey(), source.address(), 10);
            initiator.abort();

            initiator.start();
            initiator.write(2, 0, targetKey.getRkey(), target.address() + 1000);
            initiator.target(handle, 1, 1);
            initiator.entry(sourceKey.getLkey(), source.address() + 1000, BYTES - 1000);
            initiator.write(3, SIGNALED, targetKey.getRkey(), target.address());
            initiator.target(handle, 1, 1);
            initiator.entries(list.clear()
                    .add(sourceKey.getLkey(), source.address(), 500)
                    .add(sourceKey.getLkey(), source.address() + 500, 500));
            assertThat(initiator.complete()).isZero();
            expect(3);
            assertThat(target.mismatch(source)).isEqualTo(-1);

            target.fill((byte) 7);
            initiator.start();
            initiator.read(4, SIGNALED, targetKey.getRkey(), target.address());
            initiator.target(handle, 1, 1);
            initiator.entries(list.clear()
                    .add(sourceKey.getLkey(), source.address() + 2000, 500)
                    .add(sourceKey.getLkey(), source.address(), 500));
            assertThat(initiator.complete()).isZero();
            expect(4);
            assertThat(sevens(source.asSlice(0, 500)) && sevens(source.asSlice(2000, 500)))
                    .isTrue();
            assertThat(sevens(source.asSlice(500, 1500))).isFalse();
            handle.close();
            initiator.reset();
            initiator.close();
        }
        link.verbs.destroyQueuePair(there);
        assertThat(thrown).isEmpty();
    }

    private static boolean sevens(MemorySegment memory) {
        byte[] expected = new byte[(int) memory.byteSize()];
        Arrays.fill(expected, (byte) 7);
        return memory.mismatch(MemorySegment.ofArray(expected)) == -1;
    }

    private void expect(long id) {
        assertThat(link.server.awaitCompletions()).isOne();
        assertThat(link.server.completions.status(0)).isEqualTo(Completions.SUCCESS);
        assertThat(link.server.completions.workRequestId(0)).isEqualTo(id);
    }

    /** libibverbs' own functions, and a struct mlx5dv_qp_ex whose one function does nothing. */
    @SuppressWarnings("restricted")
    private LibMlx5 symbols(Arena arena, List<Throwable> thrown) throws Exception {
        SymbolLookup ibverbs = SymbolLookup.libraryLookup("libibverbs.so.1", Arena.global());
        Upcalls upcalls = new Upcalls(this, arena, thrown::add);
        direct = arena.allocate(128, Long.BYTES);
        direct.set(JAVA_LONG, Layout.Mlx5QpEx.WR_SET_DC_ADDR, upcalls.of("setDcAddr").address());
        MemorySegment directOf = upcalls.of("directOf");
        return new LibMlx5(new NativeLibrary("no library", _ -> Optional.of(directOf)),
                new NativeLibrary("libibverbs.so.1", ibverbs));
    }

    long directOf(long extended) {
        return direct.address();
    }

    void setDcAddr(long extended, long handle, int number, long key) {}

    /** A queue pair of a reliable connection, by ibv_create_qp_ex, with its posting functions. */
    @SuppressWarnings("restricted")
    private IbvQP createExtended(Arena arena) throws IOException {
        long context = ((Foreign.Context) link.server.context).address;
        MemorySegment attr = DcStructures.initiator(
                ((Foreign.ProtectionDomain) link.server.domain).address,
                Foreign.completionQueue(link.server.queue).address,
                new DcInitiator.Capacity(8, 2), arena);
        attr.set(JAVA_INT, Layout.QpInitAttrEx.QP_TYPE, IbvQP.IBV_QPT_RC);
        MemorySegment create = NativeLibrary
                .functionAt(Memory.getLong(context + CREATE_QP_EX));
        var handle = Linker.nativeLinker()
                .downcallHandle(FunctionDescriptor.of(JAVA_LONG, JAVA_LONG, ADDRESS));
        long created = NativeLibrary.pointerOf("ibv_create_qp_ex",
                _ -> (long) handle.invokeExact(create, context, attr));
        return new Foreign.QueuePair(created, link.server.domain, link.server.queue,
                link.server.queue, IbvQP.IBV_QPT_RC);
    }
}

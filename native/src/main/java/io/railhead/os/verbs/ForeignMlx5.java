package io.railhead.os.verbs;

import com.ibm.disni.verbs.IbvCQ;
import com.ibm.disni.verbs.IbvContext;
import com.ibm.disni.verbs.IbvPd;
import java.io.IOException;
import java.lang.foreign.Arena;
import java.lang.foreign.MemorySegment;

/** The direct verbs of libmlx5 through {@code java.lang.foreign}. */
final class ForeignMlx5 implements Mlx5 {
    private final LibMlx5 library;

    ForeignMlx5(LibMlx5 library) {
        this.library = library;
    }

    @Override
    public boolean supports(IbvContext context) {
        Foreign.requireOpen(context.isOpen());
        long device = ((Foreign.Context) context).device();
        return NativeLibrary.attempt(
                state -> (boolean) library.isSupported.invokeExact(state, device) ? 1 : 0) != 0;
    }

    @Override
    public DcInitiator createInitiator(IbvPd domain, IbvCQ queue, DcInitiator.Capacity capacity)
            throws IOException {
        try (Arena arena = Arena.ofConfined()) {
            DcQueuePair queuePair = create(domain, DcStructures.initiator(addressOf(domain),
                    addressOf(queue), capacity, arena), DcStructures.dci(arena));
            try {
                return new ForeignInitiator(library, queuePair);
            } catch (IOException | RuntimeException | Error e) {
                queuePair.tryDestroy(e);
                throw e;
            }
        }
    }

    @Override
    public AddressHandle createAddressHandle(IbvPd domain, AddressVector to) throws IOException {
        long address = addressOf(domain);
        try (Arena arena = Arena.ofConfined()) {
            MemorySegment attr = DcStructures.addressVector(to, arena);
            return new ForeignAddressHandle(library, NativeLibrary.pointerOf("ibv_create_ah",
                    state -> (long) library.createAh.invokeExact(state, address, attr)));
        }
    }

    @Override
    public DcTarget createTarget(IbvPd domain, IbvCQ queue, DcTarget.Attributes attributes)
            throws IOException {
        long address = addressOf(domain);
        try (Arena arena = Arena.ofConfined()) {
            MemorySegment attr = DcStructures.receives(arena);
            long receives = NativeLibrary.pointerOf("ibv_create_srq",
                    state -> (long) library.createSrq.invokeExact(state, address, attr));
            try {
                return target(domain, queue, receives, attributes, arena);
            } catch (IOException | RuntimeException | Error e) {
                ForeignTarget.tryDestroyReceives(library, receives, e);
                throw e;
            }
        }
    }

    private DcTarget target(IbvPd domain, IbvCQ queue, long receives,
            DcTarget.Attributes attributes, Arena arena) throws IOException {
        DcQueuePair queuePair = create(domain,
                DcStructures.target(addressOf(domain), addressOf(queue), receives, arena),
                DcStructures.dct(attributes.key(), arena));
        try {
            queuePair.modify("INIT", DcStructures.targetInit(attributes, arena),
                    DcStructures.TARGET_INIT);
            queuePair.modify("RTR", DcStructures.targetRtr(attributes, arena),
                    DcStructures.TARGET_RTR);
            return new ForeignTarget(library, queuePair, receives);
        } catch (IOException | RuntimeException | Error e) {
            queuePair.tryDestroy(e);
            throw e;
        }
    }

    private DcQueuePair create(IbvPd domain, MemorySegment attr, MemorySegment dcAttr)
            throws IOException {
        long context = ((Foreign.Context) domain.getContext()).address;
        return new DcQueuePair(library, NativeLibrary.pointerOf("mlx5dv_create_qp",
                state -> (long) library.createQp.invokeExact(state, context, attr, dcAttr)));
    }

    private static long addressOf(IbvPd domain) {
        Foreign.requireOpen(domain.isOpen());
        return ((Foreign.ProtectionDomain) domain).address;
    }

    private static long addressOf(IbvCQ queue) {
        Foreign.requireOpen(queue.isOpen());
        return Foreign.completionQueue(queue).address;
    }
}

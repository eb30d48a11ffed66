package io.railhead.os.verbs;

import static java.lang.foreign.ValueLayout.JAVA_BYTE;
import static java.lang.foreign.ValueLayout.JAVA_INT;
import static java.lang.foreign.ValueLayout.JAVA_LONG;
import static java.util.Objects.requireNonNull;

import com.ibm.disni.verbs.IbvQP;
import java.lang.foreign.MemorySegment;
import java.lang.foreign.SymbolLookup;
import java.nio.ByteOrder;
import java.util.HashMap;
import java.util.Map;
import java.util.Optional;
import org.jspecify.annotations.Nullable;

/**
 * What libmlx5 and libibverbs export, over {@link FakeNic}; as strict as library and kernel. Named
 * as the functions are, without their underscores.
 */
final class FakeLibrary {
    private static final Map<Integer, String> STATES = Map.of(IbvQP.IBV_QPS_RESET, "RESET",
            IbvQP.IBV_QPS_INIT, "INIT", IbvQP.IBV_QPS_RTR, "RTR", IbvQP.IBV_QPS_RTS, "RTS");
    private static final int DRIVER_TYPE = 255;

    /** Errnos of calls that are to fail, as failures name them. */
    final Map<String, Integer> failing = new HashMap<>();
    private final FakeNic nic;
    private final long device;
    private final Map<Long, OwnTarget> targets = new HashMap<>();
    private final Map<Long, FakeContext.Domain> handleDomains = new HashMap<>();
    private final Map<Long, FakeContext.Domain> receives = new HashMap<>();

    /** A target of this adapter's: what it registered for others is reached. */
    private final class OwnTarget implements FakeNic.Target {
        final MemorySegment structure;
        final FakeContext.Domain domain;
        final FakeContext.Queue queue;
        final long key;
        final long receives;
        int state = IbvQP.IBV_QPS_RESET;
        int number;
        int mtuBytes;

        OwnTarget(MemorySegment structure, FakeContext.Domain domain, FakeContext.Queue queue,
                long key, long receives) {
            this.structure = structure;
            this.domain = domain;
            this.queue = queue;
            this.key = key;
            this.receives = receives;
        }

        @Override
        public int number() {
            return number;
        }

        @Override
        public long key() {
            return key;
        }

        @Override
        public int mtuBytes() {
            return mtuBytes;
        }

        @Override
        public boolean isStalled() {
            return false;
        }

        @Override
        public boolean isAt(AddressVector address) {
            return address.gidHigh() == FakeNic.GID_HIGH && address.gidLow() == FakeNic.GID_LOW;
        }

        @Override
        public @Nullable MemorySegment find(int remoteKey, long address, long bytes,
                int access) {
            FakeNic.Registered range = nic.registered.get(remoteKey);
            boolean allowed = range != null && range.domain() == domain.address
                    && (range.access() & access) != 0 && range.holds(address, bytes);
            return allowed ? Memory.view(address, bytes) : null;
        }
    }

    FakeLibrary(FakeNic nic, long device) {
        this.nic = nic;
        this.device = device;
    }

    SymbolLookup symbols() throws ReflectiveOperationException {
        Upcalls upcalls = new Upcalls(this, nic.arena, nic::thrown);
        Map<String, MemorySegment> found = new HashMap<>();
        found.put("mlx5dv_is_supported", upcalls.of("isSupported"));
        found.put("mlx5dv_create_qp", upcalls.of("createQp"));
        found.put("mlx5dv_qp_ex_from_ibv_qp_ex", upcalls.of("qpExFromIbvQpEx"));
        found.put("ibv_qp_to_qp_ex", upcalls.of("qpToQpEx"));
        found.put("ibv_modify_qp", upcalls.of("modifyQp"));
        found.put("ibv_destroy_qp", upcalls.of("destroyQp"));
        found.put("ibv_create_ah", upcalls.of("createAh"));
        found.put("ibv_destroy_ah", upcalls.of("destroyAh"));
        found.put("ibv_create_srq", upcalls.of("createSrq"));
        found.put("ibv_destroy_srq", upcalls.of("destroySrq"));
        return name -> Optional.ofNullable(found.get(name));
    }

    /** 0, or the errno that a test wants. */
    private int failure(String call) {
        return failing.getOrDefault(call, 0);
    }

    /** What is missing to a structure is a mistake of the code under test. */
    private static void require(boolean holds, String otherwise) {
        if (!holds) {
            throw new IllegalStateException(otherwise);
        }
    }

    boolean isSupported(long asked) {
        return asked == device;
    }

    long createQp(long context, long attr, long direct) throws ReflectiveOperationException {
        synchronized (nic) {
            if (failure("mlx5dv_create_qp") != 0) {
                return 0;
            }
            MemorySegment ex = Memory.view(attr, Layout.QpInitAttrEx.SIZE);
            MemorySegment dc = Memory.view(direct, Layout.Mlx5QpInitAttr.SIZE);
            FakeContext.Domain domain = requireNonNull(
                    nic.domains.get(ex.get(JAVA_LONG, Layout.QpInitAttrEx.PD)));
            FakeContext.Queue queue = requireNonNull(
                    nic.queues.get(ex.get(JAVA_LONG, Layout.QpInitAttrEx.SEND_CQ)));
            require(ex.get(JAVA_INT, Layout.QpInitAttrEx.QP_TYPE) == DRIVER_TYPE
                    && ((Foreign.Context) domain.getContext()).address == context,
                    "mlx5dv_create_qp");
            int type = dc.get(JAVA_INT, Layout.Mlx5QpInitAttr.DC_TYPE);
            long created = type == Layout.Constant.MLX5DV_DCTYPE_DCI
                    ? initiator(ex, domain, queue)
                    : target(ex, dc, domain, queue);
            domain.uses.incrementAndGet();
            queue.uses.incrementAndGet();
            return created;
        }
    }

    private long initiator(MemorySegment attr, FakeContext.Domain domain,
            FakeContext.Queue queue) throws ReflectiveOperationException {
        MemorySegment cap = attr.asSlice(Layout.QpInitAttrEx.CAP);
        FakeInitiator initiator = new FakeInitiator(nic, domain, queue,
                cap.get(JAVA_INT, Layout.QpCap.MAX_SEND_WR),
                cap.get(JAVA_INT, Layout.QpCap.MAX_SEND_SGE));
        nic.initiators.put(initiator.address, initiator);
        return initiator.address;
    }

    private long target(MemorySegment attr, MemorySegment dc, FakeContext.Domain domain,
            FakeContext.Queue queue) {
        long srq = attr.get(JAVA_LONG, Layout.QpInitAttrEx.SRQ);
        require(receives.containsKey(srq), "a target without a shared receive queue");
        MemorySegment structure = nic.arena.allocate(Layout.Qp.size("aarch64"), Long.BYTES);
        targets.put(structure.address(), new OwnTarget(structure, domain, queue,
                dc.get(JAVA_LONG, Layout.Mlx5QpInitAttr.DCT_ACCESS_KEY), srq));
        return structure.address();
    }

    long qpToQpEx(long queuePair) {
        synchronized (nic) {
            return failure("ibv_qp_to_qp_ex") != 0 ? 0 : nic.initiator(queuePair).address;
        }
    }

    long qpExFromIbvQpEx(long extended) {
        synchronized (nic) {
            return nic.initiator(extended).direct();
        }
    }

    int modifyQp(long queuePair, long structure, int mask) {
        synchronized (nic) {
            MemorySegment attr = Memory.view(structure, Layout.QpAttr.SIZE);
            int to = attr.get(JAVA_INT, Layout.QpAttr.QP_STATE);
            int failure = failure("ibv_modify_qp to " + STATES.get(to));
            if (failure != 0) {
                return failure;
            }
            OwnTarget target = targets.get(queuePair);
            return target == null
                    ? modify(nic.initiator(queuePair), attr, to, mask)
                    : modify(target, attr, to, mask);
        }
    }

    private int modify(FakeInitiator initiator, MemorySegment attr, int to, int mask) {
        if (to == IbvQP.IBV_QPS_RESET) {
            initiator.forget();
            initiator.changed(to);
            return mask == QueuePairMask.STATE ? 0 : FakeNic.EINVAL;
        }
        boolean next = to == initiator.state + 1 && mask == switch (to) {
            case IbvQP.IBV_QPS_INIT -> DcStructures.INITIATOR_INIT;
            case IbvQP.IBV_QPS_RTR -> DcStructures.INITIATOR_RTR;
            default -> DcStructures.INITIATOR_RTS;
        };
        if (!next || (to == IbvQP.IBV_QPS_RTR && !isRoute(attr))) {
            return FakeNic.EINVAL;
        }
        if (to == IbvQP.IBV_QPS_RTR) {
            initiator.mtuBytes = mtuBytes(attr);
        }
        initiator.changed(to);
        return 0;
    }

    private int modify(OwnTarget target, MemorySegment attr, int to, int mask) {
        boolean next = to == target.state + 1 && mask == (to == IbvQP.IBV_QPS_INIT
                ? DcStructures.TARGET_INIT
                : DcStructures.TARGET_RTR);
        if (!next || (to == IbvQP.IBV_QPS_RTR && !isRoute(attr))) {
            return FakeNic.EINVAL;
        }
        target.state = to;
        if (to == IbvQP.IBV_QPS_RTR) {
            target.mtuBytes = mtuBytes(attr);
            target.number = nic.nextNumber();
            target.structure.set(JAVA_INT, Layout.Qp.QP_NUM, target.number);
            nic.add(target);
        }
        return 0;
    }

    private static int mtuBytes(MemorySegment attr) {
        return 128 << attr.get(JAVA_INT, Layout.QpAttr.PATH_MTU);
    }

    /** The kernel looks at the port, and over Ethernet wants a route. */
    private boolean isRoute(MemorySegment attr) {
        MemorySegment route = attr.asSlice(Layout.QpAttr.AH_ATTR);
        return route.get(JAVA_BYTE, Layout.AhAttr.PORT_NUM) == 1
                && (!nic.isEthernet() || route.get(JAVA_BYTE, Layout.AhAttr.IS_GLOBAL) == 1);
    }

    int destroyQp(long queuePair) {
        synchronized (nic) {
            int failure = failure("ibv_destroy_qp");
            if (failure != 0) {
                return failure;
            }
            OwnTarget target = targets.remove(queuePair);
            if (target != null) {
                nic.remove(target);
                released(target.domain, target.queue);
                return 0;
            }
            FakeInitiator initiator = nic.initiator(queuePair);
            initiator.forget();
            nic.initiators.remove(queuePair);
            released(initiator.domain, initiator.queue);
            return 0;
        }
    }

    private static void released(FakeContext.Domain domain, FakeContext.Queue queue) {
        domain.uses.decrementAndGet();
        queue.uses.decrementAndGet();
    }

    long createAh(long domain, long structure) {
        synchronized (nic) {
            MemorySegment attr = Memory.view(structure, Layout.AhAttr.SIZE);
            AddressVector to = vector(attr);
            boolean reachable = to.port() == 1 && (to.isGlobal() || !nic.isEthernet());
            if (failure("ibv_create_ah") != 0 || !reachable) {
                return 0;
            }
            long handle = nic.arena.allocate(32, Long.BYTES).address();
            nic.handles.put(handle, to);
            handleDomains.put(handle, used(domain));
            return handle;
        }
    }

    private FakeContext.Domain used(long address) {
        FakeContext.Domain domain = requireNonNull(nic.domains.get(address),
                "no such protection domain");
        domain.uses.incrementAndGet();
        return domain;
    }

    private static AddressVector vector(MemorySegment attr) {
        MemorySegment gid = attr.asSlice(Layout.AhAttr.DGID);
        return new AddressVector(unsigned(attr, Layout.AhAttr.PORT_NUM),
                unsigned(attr, Layout.AhAttr.SGID_INDEX),
                gid.get(JAVA_LONG.withOrder(ByteOrder.BIG_ENDIAN), 0),
                gid.get(JAVA_LONG.withOrder(ByteOrder.BIG_ENDIAN), Long.BYTES),
                unsigned(attr, Layout.AhAttr.DLID) | unsigned(attr, Layout.AhAttr.DLID + 1) << 8,
                attr.get(JAVA_BYTE, Layout.AhAttr.IS_GLOBAL) != 0,
                unsigned(attr, Layout.AhAttr.HOP_LIMIT),
                unsigned(attr, Layout.AhAttr.TRAFFIC_CLASS), unsigned(attr, Layout.AhAttr.SL),
                attr.get(JAVA_INT, Layout.AhAttr.FLOW_LABEL));
    }

    private static int unsigned(MemorySegment attr, long offset) {
        return Byte.toUnsignedInt(attr.get(JAVA_BYTE, offset));
    }

    int destroyAh(long handle) {
        synchronized (nic) {
            int failure = failure("ibv_destroy_ah");
            if (failure == 0) {
                require(nic.handles.remove(handle) != null, "no such address handle");
                requireNonNull(handleDomains.remove(handle)).uses.decrementAndGet();
            }
            return failure;
        }
    }

    long createSrq(long domain, long attr) {
        synchronized (nic) {
            if (failure("ibv_create_srq") != 0) {
                return 0;
            }
            long srq = nic.arena.allocate(32, Long.BYTES).address();
            receives.put(srq, used(domain));
            return srq;
        }
    }

    int destroySrq(long srq) {
        synchronized (nic) {
            int failure = failure("ibv_destroy_srq");
            if (failure == 0) {
                require(targets.values().stream().noneMatch(target -> target.receives == srq),
                        "ibv_destroy_srq before its target");
                requireNonNull(receives.remove(srq)).uses.decrementAndGet();
            }
            return failure;
        }
    }
}

package io.railhead.os.verbs;

import static java.lang.foreign.ValueLayout.JAVA_LONG;
import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;
import static org.junit.jupiter.api.Assumptions.abort;

import com.sun.management.ThreadMXBean;
import java.io.IOException;
import java.lang.foreign.Arena;
import java.lang.foreign.Linker;
import java.lang.foreign.MemorySegment;
import java.lang.management.ManagementFactory;
import java.util.ArrayList;
import java.util.List;
import java.util.Optional;
import org.junit.jupiter.api.Test;

/** The real libmlx5 as far as no adapter is needed, machines without it, and what posting costs. */
final class Mlx5Test {
    private static final int EOPNOTSUPP = 95;
    private static final int ROUNDS = 20_000;

    private static Mlx5 library() throws IOException {
        try {
            return Mlx5.load();
        } catch (VerbsUnavailableException e) {
            return abort(e.toString());
        }
    }

    @Test
    @RequiresRdmaCore
    void theLibraryRefusesADeviceThatIsNotItsOwn() throws Exception {
        Mlx5 library = library();
        try (FakeMlx5 another = FakeMlx5.open()) {
            FakeContext context = (FakeContext) another.verbs().open(FakeMlx5.DEVICE);
            FakeContext.Domain domain = (FakeContext.Domain) context.allocPd();
            FakeContext.Queue queue = (FakeContext.Queue) context.createCQ(null, 1, 0);
            assertThat(library.supports(context)).isFalse();
            assertThatThrownBy(() -> library.createInitiator(domain, queue,
                    new DcInitiator.Capacity(1, 1)))
                    .isInstanceOf(VerbsException.class)
                    .hasMessageStartingWith("mlx5dv_create_qp: ")
                    .extracting("errno")
                    .isEqualTo(EOPNOTSUPP);
        }
    }

    @Test
    void aLibraryThatIsTooOldIsSaid() {
        NativeLibrary empty = new NativeLibrary("libmlx5.so.1", _ -> Optional.empty());
        assertThatThrownBy(() -> new LibMlx5(empty, empty))
                .isInstanceOf(VerbsUnavailableException.class)
                .hasMessage("not available: libmlx5.so.1 has no mlx5dv_is_supported");
    }

    @Test
    void aMachineWithoutTheLibraryIsSaid() {
        assertThatThrownBy(() -> LibMlx5.load("libnosuch.so.1"))
                .isInstanceOf(VerbsUnavailableException.class)
                .hasMessage("not available: libnosuch.so.1 cannot be loaded; install the "
                        + "distribution's libibverbs1 and ibverbs-providers");
    }

    /**
     * Each function is one of the C library's that looks only at its first argument, and returns
     * its low seven bits: 0 for this address.
     */
    @Test
    void postingAllocatesNothing() throws Exception {
        ThreadMXBean threads = (ThreadMXBean) ManagementFactory.getThreadMXBean();
        long lowBits = Linker.nativeLinker().defaultLookup().findOrThrow("toascii").address();
        List<Throwable> thrown = new ArrayList<>();
        try (Arena arena = Arena.ofShared(); ScatterList list = new ScatterList(4)) {
            MemorySegment queuePair = arena.allocate(512, 128);
            for (long at = 0; at < queuePair.byteSize(); at += Long.BYTES) {
                queuePair.set(JAVA_LONG, at, lowBits);
            }
            MemorySegment same = new Upcalls(this, arena, thrown::add).of("same");
            NativeLibrary symbols = new NativeLibrary("a fake", _ -> Optional.of(same));
            LibMlx5 library = new LibMlx5(symbols, symbols);
            DcInitiator initiator = new ForeignInitiator(library,
                    new DcQueuePair(library, queuePair.address()));
            AddressHandle handle = new ForeignAddressHandle(library, queuePair.address());
            post(initiator, handle, list);
            long before = threads.getCurrentThreadAllocatedBytes();
            post(initiator, handle, list);
            assertThat(threads.getCurrentThreadAllocatedBytes() - before)
                    .as("bytes in %d rounds", ROUNDS)
                    .isLessThan(ROUNDS);
        }
        assertThat(thrown).isEmpty();
    }

    long same(long pointer) {
        return pointer;
    }

    private static void post(DcInitiator initiator, AddressHandle handle, ScatterList list) {
        for (int i = 0; i < ROUNDS; i++) {
            initiator.start();
            initiator.write(i, DcRig.SIGNALED, i, i);
            initiator.target(handle, i, i);
            initiator.entry(i, i, i);
            initiator.read(i, 0, i, i);
            initiator.target(handle, i, i);
            initiator.entries(list.clear().add(i, i, i).add(1, 2, 3));
            if (initiator.complete() != 0) {
                throw new AssertionError("round " + i);
            }
            initiator.start();
            initiator.abort();
        }
    }
}

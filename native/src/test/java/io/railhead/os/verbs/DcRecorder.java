package io.railhead.os.verbs;

import static java.lang.foreign.ValueLayout.JAVA_LONG;

import java.io.IOException;
import java.lang.foreign.Arena;
import java.lang.foreign.MemorySegment;
import java.util.ArrayList;
import java.util.List;
import java.util.Optional;

/** A queue pair in memory whose functions note how they were called. */
final class DcRecorder implements AutoCloseable {
    final List<String> calls = new ArrayList<>();
    final List<Throwable> thrown = new ArrayList<>();
    int result;
    private final Arena arena = Arena.ofShared();
    private final MemorySegment queuePair = arena.allocate(512, 8);
    private final MemorySegment direct = arena.allocate(128, 8);
    private final MemorySegment handles = arena.allocate(128, 8);
    private final LibMlx5 library;

    DcRecorder() throws ReflectiveOperationException, IOException {
        Upcalls upcalls = new Upcalls(this, arena, thrown::add);
        MemorySegment extended = queuePair
                .asSlice(Layout.Qp.size(System.getProperty("os.arch")));
        extended.set(JAVA_LONG, Layout.QpEx.WR_START, upcalls.of("start").address());
        extended.set(JAVA_LONG, Layout.QpEx.WR_ABORT, upcalls.of("abortChain").address());
        extended.set(JAVA_LONG, Layout.QpEx.WR_COMPLETE, upcalls.of("complete").address());
        extended.set(JAVA_LONG, Layout.QpEx.WR_RDMA_WRITE,
                upcalls.of("rdmaWrite").address());
        extended.set(JAVA_LONG, Layout.QpEx.WR_RDMA_READ, upcalls.of("rdmaRead").address());
        extended.set(JAVA_LONG, Layout.QpEx.WR_SET_SGE, upcalls.of("setSge").address());
        extended.set(JAVA_LONG, Layout.QpEx.WR_SET_SGE_LIST,
                upcalls.of("setSgeList").address());
        direct.set(JAVA_LONG, Layout.Mlx5QpEx.WR_SET_DC_ADDR,
                upcalls.of("setDcAddr").address());
        MemorySegment same = upcalls.of("same");
        MemorySegment directOf = upcalls.of("directOf");
        NativeLibrary symbols = new NativeLibrary("a recorder",
                name -> Optional.of(name.startsWith("mlx5dv_qp_ex") ? directOf : same));
        library = new LibMlx5(symbols, symbols);
    }

    DcInitiator initiator() throws IOException {
        return new ForeignInitiator(library, new DcQueuePair(library, queuePair.address()));
    }

    List<AddressHandle> handles() {
        return List.of(new ForeignAddressHandle(library, handles.address()),
                new ForeignAddressHandle(library, handles.address() + 64));
    }

    private String name(long pointer) {
        if (pointer == queuePair.address()) {
            return "qp";
        }
        if (pointer == direct.address()) {
            return "direct";
        }
        if (pointer == handles.address()) {
            return "handle0";
        }
        return pointer == handles.address() + 64 ? "handle1" : "?";
    }

    long same(long pointer) {
        return pointer;
    }

    long directOf(long pointer) {
        return pointer == queuePair.address() ? direct.address() : 0;
    }

    void start(long on) {
        calls.add("wr_start " + name(on));
    }

    void abortChain(long on) {
        calls.add("wr_abort " + name(on));
    }

    int complete(long on) {
        calls.add("wr_complete " + name(on));
        return result;
    }

    void rdmaWrite(long on, int rkey, long remote) {
        rdma("wr_rdma_write", on, rkey, remote);
    }

    void rdmaRead(long on, int rkey, long remote) {
        rdma("wr_rdma_read", on, rkey, remote);
    }

    private void rdma(String call, long on, int rkey, long remote) {
        long fields = on + Layout.Qp.size(System.getProperty("os.arch"));
        calls.add("%s %s id %x flags %x rkey %x remote %x".formatted(call, name(on),
                Memory.getLong(fields + Layout.QpEx.WR_ID),
                Memory.getInt(fields + Layout.QpEx.WR_FLAGS), rkey, remote));
    }

    void setDcAddr(long on, long handle, int number, long key) {
        calls.add("wr_set_dc_addr %s %s number %x key %x".formatted(name(on), name(handle),
                number, key));
    }

    void setSge(long on, int lkey, long address, int length) {
        calls.add("wr_set_sge %s lkey %x address %x length %x".formatted(name(on), lkey,
                address, length));
    }

    void setSgeList(long on, long count, long list) {
        calls.add("wr_set_sge_list %s %d".formatted(name(on), count));
        for (long at = list; at < list + count * Layout.Sge.SIZE; at += Layout.Sge.SIZE) {
            calls.add("  lkey %x address %x length %x".formatted(
                    Memory.getInt(at + Layout.Sge.LKEY), Memory.getLong(at + Layout.Sge.ADDR),
                    Memory.getInt(at + Layout.Sge.LENGTH)));
        }
    }

    @Override
    public void close() {
        arena.close();
    }
}

package io.railhead.rdma;

import static io.railhead.rdma.Awaiting.failure;
import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.catchThrowableOfType;

import io.railhead.cache.memory.PageSlice;
import io.railhead.rdma.TransferException.Reason;
import java.io.IOException;
import java.util.Arrays;
import java.util.List;
import java.util.concurrent.CompletionStage;
import org.junit.jupiter.api.Test;

/** What a fabric does besides where peers open sessions and register their memory with it. */
public abstract class SessionFabricContract extends FabricContract {

    @Test
    void whatATokenMayNotNameIsRefusedWithItsReason() throws IOException {
        TestPeer peer = rig().connect(ANN);
        TestBuffer buffer = untouched(peer, 1000);
        int number = peer.sessionNumber();
        long address = buffer.address();
        assertThat(refusal("bob", number, address, 10, buffer.key()))
                .isEqualTo(Reason.FOREIGN_SESSION);
        assertThat(refusal(ANN, number ^ 1, address, 10, buffer.key()))
                .isEqualTo(Reason.UNKNOWN_SESSION);
        assertThat(refusal(ANN, number, address, 10, ~buffer.key()))
                .isEqualTo(Reason.UNKNOWN_KEY);
        assertThat(refusal(ANN, number, address, 1001, buffer.key()))
                .isEqualTo(Reason.OUT_OF_BOUNDS);
        assertThat(refusal(ANN, number, address - 1, 10, buffer.key()))
                .isEqualTo(Reason.OUT_OF_BOUNDS);
        assertThat(refusal(ANN, number, address + 1000, 1, buffer.key()))
                .isEqualTo(Reason.OUT_OF_BOUNDS);
        assertThat(refusal(ANN, number, address, 0, buffer.key()))
                .isEqualTo(Reason.OUT_OF_BOUNDS);
    }

    @Test
    void oneTransferFillsAndReadsSeveralWindows() throws IOException {
        TestPeer peer = rig().connect(ANN);
        TestBuffer first = untouched(peer, 200_000);
        TestBuffer second = untouched(peer, 300_000);
        RemoteWindows windows = new RemoteWindows(List.of(
                window(peer, second, 1000, 70_000), window(peer, first, 10, 1),
                window(peer, second, 100_000, 150_000), window(peer, first, 5000, 100_000)));
        assertThat(windows.length()).isEqualTo(320_001);
        assertThat(windows.overlap()).isFalse();
        byte[] bytes = random(8, 320_001);
        Transfer transfer = windows.begin(rig().fabric());
        Awaiting.result(transfer.write(pages().of(Arrays.copyOfRange(bytes, 100, 320_001)), 100));
        Awaiting.result(transfer.write(pages().of(Arrays.copyOf(bytes, 100)), 0));
        assertThat(pages().leases()).isZero();
        assertThat(bytes(second, 1000, 70_000)).isEqualTo(Arrays.copyOf(bytes, 70_000));
        assertThat(bytes(first, 10, 1)).containsExactly(bytes[70_000]);
        assertThat(bytes(second, 100_000, 150_000))
                .isEqualTo(Arrays.copyOfRange(bytes, 70_001, 220_001));
        assertThat(bytes(first, 5000, 100_000))
                .isEqualTo(Arrays.copyOfRange(bytes, 220_001, 320_001));
        assertThat(bytes(first, 11, 4989)).containsOnly(UNTOUCHED);
        try (PageSlice back = Awaiting
                .result(transfer.read(pages().slice(7, 320_001), 0))) {
            assertThat(TestPages.bytes(back)).isEqualTo(bytes);
            assertThat(pages().leases()).isEqualTo(1);
        }
        assertThat(failure(transfer.write(pages().of(random(9, 11)), 319_991)))
                .isEqualTo(Reason.OUT_OF_BOUNDS);
        assertThat(failure(transfer.read(pages().slice(0, 250_000), 70_002)))
                .isEqualTo(Reason.OUT_OF_BOUNDS);
        assertThat(pages().leases()).isZero();
        Awaiting.result(transfer.fence());
        assertThat(failure(transfer.write(pages().of(bytes), 0))).isEqualTo(Reason.FENCED);
        assertThat(pages().leases()).isZero();
    }

    @Test
    void windowsThatShareAByteOverlap() throws IOException {
        TestPeer peer = rig().connect(ANN);
        TestBuffer buffer = untouched(peer, 1000);
        assertThat(new RemoteWindows(List.of(window(peer, buffer, 100, 10),
                window(peer, buffer, 90, 10), window(peer, buffer, 110, 10))).overlap()).isFalse();
        assertThat(new RemoteWindows(List.of(window(peer, buffer, 100, 10),
                window(peer, buffer, 90, 11))).overlap()).isTrue();
    }

    private RemoteBuffer window(TestPeer peer, TestBuffer buffer, long offset, long length) {
        return rig().resolve(ANN, peer.sessionNumber(), buffer.address() + offset, length,
                buffer.key());
    }

    @Test
    void aTransferDoesNotTrustItsRemoteBuffer() throws IOException {
        TestPeer peer = rig().connect(ANN);
        TestBuffer buffer = untouched(peer, 1000);
        RemoteBuffer good = rig().sessions()
                .resolve(ANN, peer.sessionNumber(), buffer.address(),
                        1000, buffer.key());
        assertThat(refusal(new RemoteBuffer(good.session(), good.address(), 1001, good.key())))
                .isEqualTo(Reason.OUT_OF_BOUNDS);
        assertThat(refusal(new RemoteBuffer(good.session(), good.address() - 1, 1, good.key())))
                .isEqualTo(Reason.OUT_OF_BOUNDS);
        assertThat(refusal(new RemoteBuffer(good.session(), good.address(), 1, ~good.key())))
                .isEqualTo(Reason.UNKNOWN_KEY);
        assertThat(rig().stats().refused(Reason.OUT_OF_BOUNDS)).isEqualTo(2);
        assertThat(rig().stats().refused(Reason.UNKNOWN_KEY)).isEqualTo(1);
    }

    @Test
    void aDeregisteredBufferIsNotTouchedAgain() throws IOException {
        TestPeer peer = rig().connect(ANN);
        TestBuffer buffer = untouched(peer, 32 << 20);
        Transfer transfer = transfer(buffer, peer.sessionNumber(), 0, 32 << 20);
        List<CompletionStage<Void>> writes = startWrites(transfer, 32);
        buffer.deregister();
        assertThat(rig().stats().registeredBytes()).isZero();
        byte[] then = bytes(buffer, 0, 32 << 20);
        for (CompletionStage<Void> write : writes) {
            assertThat(failure(write)).isIn(null, Reason.UNKNOWN_KEY);
        }
        assertThat(failure(transfer.write(pages().of(random(7, 10)), 0)))
                .isEqualTo(Reason.UNKNOWN_KEY);
        assertThat(refusal(ANN, peer.sessionNumber(), buffer.address(), 1, buffer.key()))
                .isEqualTo(Reason.UNKNOWN_KEY);
        anotherTransferRunsToItsEnd();
        assertThat(Arrays.equals(bytes(buffer, 0, 32 << 20), then)).isTrue();
    }

    @Test
    void aRevokedPeerHearsItAfterTheLastByte() throws IOException {
        TestPeer peer = rig().connect(ANN);
        TestPeer other = rig().connect("bob");
        TestBuffer buffer = untouched(peer, 64 << 20);
        Transfer transfer = transfer(buffer, peer.sessionNumber(), 0, 64 << 20);
        List<CompletionStage<Void>> writes = startWrites(transfer, 64);
        rig().sessions().revoke(ANN);
        Awaiting.until("the peer hears", peer::heardEnd);
        byte[] then = bytes(buffer, 0, 64 << 20);
        for (CompletionStage<Void> write : writes) {
            assertThat(failure(write)).isIn(null, Reason.PEER_GONE);
        }
        anotherTransferRunsToItsEnd();
        assertThat(Arrays.equals(bytes(buffer, 0, 64 << 20), then)).isTrue();
        assertThat(other.heardEnd()).isFalse();
    }

    @Test
    void aDeadPeersSessionIsNotKnownAnyMore() throws IOException {
        TestPeer peer = rig().connect(ANN);
        TestBuffer buffer = untouched(peer, 1000);
        peer.die();
        Awaiting.until("memory is let go", () -> rig().stats().registeredBytes() == 0);
        assertThat(refusal(ANN, peer.sessionNumber(), buffer.address(), 1, buffer.key()))
                .isEqualTo(Reason.UNKNOWN_SESSION);
    }

    private Reason refusal(String principal, int session, long address, long length, int key) {
        return catchThrowableOfType(TransferException.class,
                () -> rig().sessions().resolve(principal, session, address, length, key)).reason();
    }
}

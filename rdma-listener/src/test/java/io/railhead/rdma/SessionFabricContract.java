package io.railhead.rdma;

import static io.railhead.rdma.Awaiting.failure;
import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.catchThrowableOfType;

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

package io.railhead.rdma.loopback;

import static io.railhead.rdma.loopback.LoopbackRig.AMPLE;
import static io.railhead.rdma.loopback.LoopbackRig.KEY;
import static org.assertj.core.api.Assertions.assertThat;

import io.railhead.os.MemoryFile;
import io.railhead.protocol.message.Message.Ping;
import io.railhead.protocol.message.Message.Pong;
import io.railhead.protocol.message.Message.Register;
import io.railhead.protocol.message.Message.Registered;
import io.railhead.protocol.message.Message.SendDescriptor;
import io.railhead.protocol.message.MessageCodec;
import io.railhead.protocol.message.Refusal;
import io.railhead.rdma.Awaiting;
import io.railhead.rdma.OpenDescriptors;
import io.railhead.rdma.session.ClientSession;
import java.io.IOException;
import java.nio.ByteBuffer;
import java.nio.file.Path;
import java.time.Duration;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

/** What a proven peer may send with its messages, and that none of it stays open here. */
@Timeout(120)
class LoopbackDescriptorsTest {
    private static final int SENDS = 100;
    /** The most that Linux lets a message carry: SCM_MAX_FD. */
    private static final int MOST = 253;

    @TempDir
    Path folder;

    private final MemoryFile file = MemoryFile.create("test", 4096);
    private LoopbackRig rig;

    @BeforeEach
    void start() {
        rig = LoopbackRig.in(folder);
    }

    @AfterEach
    void stop() {
        rig.close();
        file.close();
        assertThat(rig.stats().registeredBytes()).isZero();
    }

    @ParameterizedTest
    @ValueSource(ints = {0, 2, MOST})
    void anythingButOneDescriptorEndsTheSessionAndLeavesNothingOpen(int descriptors)
            throws IOException {
        long before = OpenDescriptors.count();
        for (int i = 0; i < SENDS; i++) {
            ClientSession clientSession = rig.open("ann");
            try (RawPeer peer = new RawPeer(rig.socket())) {
                peer.prove(clientSession, KEY);
                peer.send(new Register(0, 1, 0));
                assertThat(peer.receive()).isEqualTo(new SendDescriptor());
                peer.sendDescriptor(file.descriptor(), descriptors);
                assertThat(peer.receive()).isNull();
            }
            assertThat(clientSession.isOpen()).isFalse();
        }
        Awaiting.until("all is closed", () -> OpenDescriptors.count() <= before);
        assertThat(rig.stats().refused(Refusal.PROTOCOL)).isEqualTo(SENDS);
    }

    @ParameterizedTest
    @ValueSource(ints = {1, 2, MOST})
    void descriptorsThatComeWithAnOrdinaryMessageAreNotKept(int descriptors) throws IOException {
        try (RawPeer peer = new RawPeer(rig.socket())) {
            peer.prove(rig.open("ann"), KEY);
            long before = OpenDescriptors.count();
            for (int i = 0; i < SENDS; i++) {
                peer.send(MessageCodec.encode(new Ping(i)), file.descriptor(), descriptors);
                assertThat(peer.receive()).isEqualTo(new Pong(i));
            }
            assertThat(OpenDescriptors.count()).isLessThanOrEqualTo(before);
        }
    }

    @ParameterizedTest
    @ValueSource(ints = {1, MOST})
    void whoeverHasNotProvenItselfLeavesNoDescriptorEither(int descriptors) throws IOException {
        long before = OpenDescriptors.count();
        for (int i = 0; i < SENDS; i++) {
            try (RawPeer peer = new RawPeer(rig.socket())) {
                peer.send(MessageCodec.encode(new Ping(i)), file.descriptor(), descriptors);
                assertThat(peer.receive()).isNull();
            }
        }
        Awaiting.until("all is closed", () -> OpenDescriptors.count() <= before);
    }

    @Test
    void aDescriptorSentBeforeItIsAskedForIsNotTaken() throws IOException {
        rig.close();
        rig = new LoopbackRig(new LoopbackConfig(folder.resolve("s"), 1, 1, 0,
                Duration.ofMillis(200), 4, 3, AMPLE, AMPLE), LoopbackRig.freshSessions());
        ClientSession clientSession = rig.open("ann");
        long before = OpenDescriptors.count();
        try (RawPeer peer = new RawPeer(rig.socket())) {
            peer.prove(clientSession, KEY);
            peer.send(MessageCodec.encode(new Register(0, 1, 0)), file.descriptor(), 1);
            peer.awaitEnd();
        }
        assertThat(clientSession.isOpen()).isFalse();
        Awaiting.until("all is closed", () -> OpenDescriptors.count() <= before);
    }

    @Test
    void whatFollowsTheDescriptorIsHeardAfterIt() throws IOException {
        try (RawPeer peer = new RawPeer(rig.socket())) {
            peer.prove(rig.open("ann"), KEY);
            peer.send(new Register(0, 4096, 0));
            assertThat(peer.receive()).isEqualTo(new SendDescriptor());
            ByteBuffer ping = MessageCodec.encode(new Ping(7));
            ByteBuffer both = ByteBuffer.allocate(1 + ping.remaining()).put((byte) 0).put(ping);
            peer.send(both.flip(), file.descriptor(), 1);
            assertThat(peer.receive()).isInstanceOf(Registered.class);
            assertThat(peer.receive()).isEqualTo(new Pong(7));
        }
    }

    @Test
    void whoeverLeavesInsteadOfSendingItIsForgotten() throws IOException {
        long before = OpenDescriptors.count();
        for (int i = 0; i < SENDS; i++) {
            ClientSession clientSession = rig.open("ann");
            try (RawPeer peer = new RawPeer(rig.socket())) {
                peer.prove(clientSession, KEY);
                peer.send(new Register(0, 1, 0));
                assertThat(peer.receive()).isEqualTo(new SendDescriptor());
            }
            Awaiting.until("the session ends", () -> !clientSession.isOpen());
        }
        Awaiting.until("all is closed", () -> OpenDescriptors.count() <= before);
        assertThat(rig.stats().refused(Refusal.PROTOCOL)).isZero();
    }

    @Test
    void whoeverKeepsTheGatewayWaitingIsClosed() throws IOException {
        rig.close();
        rig = new LoopbackRig(new LoopbackConfig(folder.resolve("s"), 1, 1, 0,
                Duration.ofMillis(200), 4, 3, AMPLE, AMPLE), LoopbackRig.freshSessions());
        long before = OpenDescriptors.count();
        try (RawPeer peer = new RawPeer(rig.socket())) {
            peer.prove(rig.open("ann"), KEY);
            peer.send(new Register(0, 1, 0));
            peer.awaitEnd();
        }
        assertThat(rig.stats().refused(Refusal.TOO_SLOW)).isEqualTo(1);
        Awaiting.until("all is closed", () -> OpenDescriptors.count() <= before);
    }

    @Test
    void aRevokedSessionEndsWhileItsDescriptorIsAwaited() throws IOException {
        try (RawPeer peer = new RawPeer(rig.socket())) {
            peer.prove(rig.open("ann"), KEY);
            peer.send(new Register(0, 1, 0));
            assertThat(peer.receive()).isEqualTo(new SendDescriptor());
            rig.sessions().revoke("ann");
            assertThat(peer.receive()).isNull();
        }
    }
}

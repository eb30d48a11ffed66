package io.railhead.rdma.loopback;

import static io.railhead.rdma.loopback.LoopbackRig.AMPLE;
import static io.railhead.rdma.loopback.LoopbackRig.KEY;
import static io.railhead.rdma.loopback.LoopbackRig.PATIENCE;
import static java.util.Objects.requireNonNull;
import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;
import static org.assertj.core.api.Assertions.catchThrowableOfType;

import io.railhead.client.loopback.LoopbackClient;
import io.railhead.protocol.message.Bytes32;
import io.railhead.protocol.message.Message;
import io.railhead.protocol.message.Message.Hello;
import io.railhead.protocol.message.Message.Refused;
import io.railhead.protocol.message.MessageCodec;
import io.railhead.protocol.message.Refusal;
import io.railhead.protocol.message.RefusedException;
import io.railhead.protocol.message.SessionLimits;
import io.railhead.rdma.Awaiting;
import io.railhead.rdma.session.ClientSession;
import io.railhead.rdma.session.ClientSessions;
import java.io.IOException;
import java.io.UncheckedIOException;
import java.net.StandardProtocolFamily;
import java.net.UnixDomainSocketAddress;
import java.nio.ByteBuffer;
import java.nio.channels.ServerSocketChannel;
import java.nio.channels.SocketChannel;
import java.nio.file.Path;
import java.time.Duration;
import java.util.Random;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

@Timeout(120)
class LoopbackHandshakeTest {
    private static final Bytes32 NONCE = Bytes32.random(new Random(5));

    @TempDir
    Path folder;

    private LoopbackRig rig;

    @BeforeEach
    void start() {
        rig = LoopbackRig.in(folder);
    }

    @AfterEach
    void stop() {
        rig.close();
        assertThat(rig.sessions().open()).isZero();
        assertThat(rig.stats().sessions()).isZero();
    }

    @Test
    void aPeerThatHoldsTheKeyIsWelcome() throws IOException {
        ClientSession clientSession = rig.open("ann");
        try (LoopbackClient peer = LoopbackClient.connect(rig.socket(), clientSession.id(), KEY,
                PATIENCE)) {
            assertThat(peer.sessionNumber()).isEqualTo(clientSession.number());
            assertThat(peer.maxBuffers()).isEqualTo(1024);
            assertThat(clientSession.isOpen()).isTrue();
            assertThat(rig.stats().sessions()).isEqualTo(1);
            peer.ping();
        }
        assertThat(clientSession.isOpen()).isFalse();
    }

    @Test
    void aWrongProofIsRefusedAndTheSessionWaitsOn() throws IOException {
        ClientSession clientSession = rig.open("ann");
        assertThat(refusal(clientSession.id(), new byte[32])).isEqualTo(Refusal.BAD_PROOF);
        assertThat(clientSession.isOpen()).isFalse();
        assertThat(rig.stats().refused(Refusal.BAD_PROOF)).isEqualTo(1);
        LoopbackClient.connect(rig.socket(), clientSession.id(), KEY, PATIENCE).close();
    }

    @Test
    void anUnknownSessionIsRefused() {
        assertThat(refusal("00".repeat(16), KEY)).isEqualTo(Refusal.UNKNOWN_SESSION);
    }

    @Test
    void aSessionOfAnotherFabricIsRefused() {
        ClientSession clientSession = requireNonNull(rig.sessions().open("ann", "verbs", _ -> KEY));
        assertThat(refusal(clientSession.id(), KEY)).isEqualTo(Refusal.UNKNOWN_SESSION);
    }

    @Test
    void aSessionIsNotProvenTwice() throws IOException {
        ClientSession clientSession = rig.open("ann");
        try (LoopbackClient peer = LoopbackClient.connect(rig.socket(), clientSession.id(), KEY,
                PATIENCE)) {
            assertThat(refusal(clientSession.id(), KEY)).isEqualTo(Refusal.UNKNOWN_SESSION);
            peer.ping();
        }
    }

    @Test
    void anExpiredSessionIsRefused() {
        rig.close();
        rig = new LoopbackRig(LoopbackRig.config(folder), new ClientSessions(Duration.ZERO, 9, 9));
        assertThat(refusal(rig.open("ann").id(), KEY)).isEqualTo(Refusal.UNKNOWN_SESSION);
    }

    @Test
    void aSessionRevokedBetweenHelloAndProofIsRefused() throws IOException {
        ClientSession clientSession = rig.open("ann");
        try (RawPeer peer = new RawPeer(rig.socket())) {
            peer.send(new Hello(clientSession.id(), NONCE));
            assertThat(peer.receive()).isInstanceOf(Message.Challenge.class);
            rig.sessions().revoke("ann");
            peer.send(new Message.Proof(NONCE));
            assertThat(peer.receive()).isInstanceOf(Refused.class);
            assertThat(peer.receive()).isNull();
        }
    }

    @ParameterizedTest
    @ValueSource(booleans = {false, true})
    void whoeverIsSlowToProveIsClosed(boolean saysHello) throws IOException {
        rig.close();
        LoopbackConfig patient = LoopbackRig.config(folder);
        rig = new LoopbackRig(
                new LoopbackConfig(patient.socket(), 1, 1, 0, Duration.ofMillis(50), 16, 1, AMPLE,
                        AMPLE),
                LoopbackRig.freshSessions());
        try (RawPeer peer = new RawPeer(rig.socket())) {
            if (saysHello) {
                peer.send(new Hello(rig.open("ann").id(), NONCE));
                assertThat(peer.receive()).isInstanceOf(Message.Challenge.class);
            }
            assertThat(peer.receive()).isEqualTo(new Refused(Refusal.TOO_SLOW));
            assertThat(peer.receive()).isNull();
        }
        assertThat(rig.stats().refused(Refusal.TOO_SLOW)).isEqualTo(1);
    }

    @Test
    void tooManyUnprovenConnectionsAreTurnedAway() throws IOException {
        rig.close();
        LoopbackConfig many = LoopbackRig.config(folder);
        rig = new LoopbackRig(
                new LoopbackConfig(many.socket(), 1, 1, 0, PATIENCE, 2, 1, AMPLE, AMPLE),
                LoopbackRig.freshSessions());
        RawPeer first = new RawPeer(rig.socket());
        try (RawPeer second = new RawPeer(rig.socket())) {
            for (RawPeer peer : new RawPeer[]{first, second}) {
                peer.send(new Hello(rig.open("ann").id(), NONCE));
                assertThat(peer.receive()).isInstanceOf(Message.Challenge.class);
            }
            assertThat(refusal(rig.open("ann").id(), KEY)).isEqualTo(Refusal.BUSY);
            assertThat(rig.stats().unprovenRefused()).isEqualTo(1);
            first.close();
            Awaiting.until("there is room again", this::isAdmitted);
        }
    }

    private boolean isAdmitted() {
        try {
            rig.peer("ann");
            return true;
        } catch (IOException _) {
            return false;
        }
    }

    @Test
    void nothingElseIsHeardBeforeTheProof() throws IOException {
        for (Message message : new Message[]{new Message.Ping(1), new Message.Register(0, 1, 0),
                new Message.Bye(), new Message.Proof(NONCE), new Message.Deregister(1)}) {
            try (RawPeer peer = new RawPeer(rig.socket())) {
                peer.send(message);
                assertThat(peer.receive()).as("%s", message).isNull();
            }
        }
        assertThat(rig.stats().refused(Refusal.PROTOCOL)).isEqualTo(5);
    }

    @Test
    void aHelloThatComesByteByByteIsUnderstood() throws IOException {
        try (RawPeer peer = new RawPeer(rig.socket())) {
            ByteBuffer hello = MessageCodec.encode(new Hello(rig.open("ann").id(), NONCE));
            while (hello.hasRemaining()) {
                peer.send(ByteBuffer.wrap(new byte[]{hello.get()}));
            }
            assertThat(peer.receive()).isInstanceOf(Message.Challenge.class);
        }
    }

    @ParameterizedTest
    @ValueSource(longs = {1, 2, 3, 4, 5, 6, 7, 8, 9, 10})
    void garbageClosesTheConnectionAndHarmsNobodyElse(long seed) throws IOException {
        Random random = new Random(seed);
        LoopbackClient other = rig.peer("bob");
        for (int i = 0; i < 20; i++) {
            byte[] garbage = new byte[8 + random.nextInt(5000)];
            random.nextBytes(garbage);
            try (RawPeer peer = new RawPeer(rig.socket())) {
                sendAll(peer, garbage);
                peer.awaitEnd();
            }
        }
        other.ping();
        assertThat(rig.stats().sessions()).isEqualTo(1);
    }

    @ParameterizedTest
    @ValueSource(longs = {1, 2, 3, 4, 5, 6, 7, 8, 9, 10})
    void garbageAfterTheProofEndsThatSessionOnly(long seed) throws IOException {
        Random random = new Random(seed);
        LoopbackClient other = rig.peer("bob");
        ClientSession clientSession = rig.open("ann");
        try (RawPeer peer = new RawPeer(rig.socket())) {
            peer.prove(clientSession, KEY);
            for (int pings = random.nextInt(5); pings > 0; pings--) {
                peer.send(new Message.Ping(pings));
            }
            byte[] garbage = new byte[8 + random.nextInt(5000)];
            random.nextBytes(garbage);
            sendAll(peer, garbage);
            peer.awaitEnd();
        }
        assertThat(clientSession.isOpen()).isFalse();
        other.ping();
    }

    private static void sendAll(RawPeer peer, byte[] bytes) {
        try {
            peer.send(ByteBuffer.wrap(bytes));
        } catch (IOException _) {
            // The gateway had heard enough.
        }
    }

    @Test
    void whoeverDoesNotReadItsAnswersIsClosed() throws IOException {
        ClientSession clientSession = rig.open("ann");
        try (RawPeer peer = new RawPeer(rig.socket())) {
            peer.prove(clientSession, KEY);
            assertThatThrownBy(() -> {
                while (true) {
                    peer.send(new Message.Ping(1));
                }
            }).isInstanceOf(IOException.class);
        }
        Awaiting.until("the session ends", () -> !clientSession.isOpen());
    }

    @Test
    void aGatewayThatDoesNotHoldTheKeyIsNotTrusted() throws Exception {
        Path socket = folder.resolve("false.sock");
        try (ServerSocketChannel server = ServerSocketChannel.open(StandardProtocolFamily.UNIX)) {
            server.bind(UnixDomainSocketAddress.of(socket));
            Thread impostor = Thread.ofVirtual().start(() -> welcomeAnyone(server));
            assertThatThrownBy(
                    () -> LoopbackClient.connect(socket, "00".repeat(16), KEY, PATIENCE).close())
                    .hasMessageContaining("does not hold the session's key");
            impostor.join();
        }
    }

    private static void welcomeAnyone(ServerSocketChannel server) {
        try (SocketChannel peer = server.accept()) {
            peer.read(ByteBuffer.allocate(MessageCodec.MAX_BYTES));
            peer.write(MessageCodec.encode(new Message.Challenge(NONCE)));
            peer.read(ByteBuffer.allocate(MessageCodec.MAX_BYTES));
            peer.write(
                    MessageCodec.encode(new Message.Welcome(NONCE, 1, new SessionLimits(1, 1, 1))));
            peer.read(ByteBuffer.allocate(1));
        } catch (IOException e) {
            throw new UncheckedIOException(e);
        }
    }

    private Refusal refusal(String id, byte[] key) {
        return catchThrowableOfType(RefusedException.class,
                () -> LoopbackClient.connect(rig.socket(), id, key, PATIENCE).close()).reason();
    }
}

package io.railhead.rdma.verbs;

import static java.nio.charset.StandardCharsets.US_ASCII;
import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;
import static org.assertj.core.api.Assertions.catchThrowableOfType;

import io.railhead.client.verbs.ClientConnection;
import io.railhead.client.verbs.VerbsClient;
import io.railhead.client.verbs.VerbsTransport;
import io.railhead.os.adapter.QueuePairConfig;
import io.railhead.os.verbs.RequiresVerbs;
import io.railhead.protocol.message.Bytes32;
import io.railhead.protocol.message.Message.Hello;
import io.railhead.protocol.message.Message.Ping;
import io.railhead.protocol.message.MessageCodec;
import io.railhead.protocol.message.Refusal;
import io.railhead.protocol.message.RefusedException;
import io.railhead.rdma.Awaiting;
import io.railhead.rdma.OpenDescriptors;
import io.railhead.rdma.channel.RequestHandler;
import io.railhead.rdma.session.ClientSession;
import io.railhead.rdma.session.ClientSessions;
import java.io.IOException;
import java.net.InetAddress;
import java.net.InetSocketAddress;
import java.nio.ByteBuffer;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Random;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;

@RequiresVerbs
@Timeout(120)
final class VerbsHandshakeTest {
    private static final byte[] WRONG_KEY = "another key of thirty-two bytes!".getBytes(US_ASCII);
    private static final Duration SHORT = Duration.ofMillis(500);

    private VerbsRig rig;

    @BeforeEach
    void start() throws IOException {
        rig = new VerbsRig(VerbsRig.config().with(VerbsRig.peers(SHORT, VerbsRig.PATIENCE)),
                VerbsRig.freshSessions(), RequestHandler.NONE);
    }

    @AfterEach
    void nothingIsLeft() {
        rig.close();
        assertThat(rig.stats().sessions()).isZero();
        assertThat(rig.sessions().open()).isZero();
    }

    private Refusal refusalOf(ByteBuffer privateData) {
        return catchThrowableOfType(RefusedException.class,
                () -> new ClientConnection(rig.peerConfig(), rig.gateway(), privateData)).reason();
    }

    private static Hello hello(ClientSession clientSession) {
        return new Hello(clientSession.id(), Bytes32.random(new Random(1)));
    }

    @Test
    void privateDataThatIsNoHelloIsRefused() {
        byte[] garbage = new byte[56];
        new Random(7).nextBytes(garbage);
        assertThat(refusalOf(ByteBuffer.wrap(garbage))).isEqualTo(Refusal.PROTOCOL);
        assertThat(refusalOf(ByteBuffer.allocate(0))).isEqualTo(Refusal.PROTOCOL);
        assertThat(refusalOf(ByteBuffer.wrap(garbage, 0, 3))).isEqualTo(Refusal.PROTOCOL);
        assertThat(refusalOf(MessageCodec.encode(new Ping(1)))).isEqualTo(Refusal.PROTOCOL);
        assertThat(rig.stats().refused(Refusal.PROTOCOL)).isEqualTo(4);
        // What is too short arrives padded with zeros: a session that nobody has.
        assertThat(refusalOf(MessageCodec.encode(hello(rig.open("ann"))).limit(20)))
                .isEqualTo(Refusal.UNKNOWN_SESSION);
    }

    @Test
    void anUnknownOrExpiredSessionIsRefused() throws IOException {
        ClientSessions brief = new ClientSessions(Duration.ofMillis(1), 10, 10);
        try (VerbsRig other = new VerbsRig(VerbsRig.config(), brief, RequestHandler.NONE)) {
            ClientSession expired = other.open("ann");
            Awaiting.until("it expires", () -> brief.findPending(expired.id(), "verbs") == null);
            assertThat(refusal(other, expired, VerbsRig.KEY)).isEqualTo(Refusal.UNKNOWN_SESSION);
            assertThat(refusal(rig, expired, VerbsRig.KEY)).isEqualTo(Refusal.UNKNOWN_SESSION);
        }
    }

    private static Refusal refusal(VerbsRig at, ClientSession clientSession, byte[] key) {
        return catchThrowableOfType(RefusedException.class, () -> VerbsClient
                .connect(at.peerConfig(), at.gateway(), clientSession.id(), key)).reason();
    }

    @Test
    void aWrongProofIsRefusedAndTheRightPeerStillComes() throws IOException {
        ClientSession clientSession = rig.open("ann");
        assertThat(refusal(rig, clientSession, WRONG_KEY)).isEqualTo(Refusal.BAD_PROOF);
        try (VerbsClient peer = VerbsClient.connect(rig.peerConfig(), rig.gateway(),
                clientSession.id(),
                VerbsRig.KEY)) {
            peer.ping();
            assertThat(peer.sessionNumber()).isEqualTo(clientSession.number());
        }
    }

    /** One address is an adapter's; the other is nobody's, and found out last. */
    @Test
    void aFabricThatCannotListenEverywhereLeavesNothingBehind() throws IOException {
        VerbsFabricConfig config = new VerbsFabricConfig(
                List.of(new InetSocketAddress(VerbsRig.GATEWAY, 0),
                        new InetSocketAddress(InetAddress.getLoopbackAddress(), 0)),
                VerbsRig.config().gids(), QueuePairConfig.DEFAULT,
                new VerbsFabricConfig.Polling(3, Duration.ZERO, 4096), VerbsRig.config().peers(),
                VerbsRig.config().outstanding(), VerbsRig.config().pairs());
        long before = OpenDescriptors.count();
        for (int i = 0; i < 5; i++) {
            assertThatThrownBy(() -> new VerbsFabric(config, VerbsRig.freshSessions(),
                    RequestHandler.NONE)).isInstanceOf(IOException.class)
                    .hasNoSuppressedExceptions();
        }
        assertThat(OpenDescriptors.count()).isLessThanOrEqualTo(before);
    }

    @Test
    void aRefusedBufferIsNotLeftRegistered() throws IOException {
        VerbsFabricConfig.Peers one = new VerbsFabricConfig.Peers(VerbsRig.PATIENCE, 16, 1, 8,
                VerbsRig.PATIENCE, SHORT);
        try (VerbsRig narrow = new VerbsRig(VerbsRig.config().with(one),
                VerbsRig.freshSessions(), RequestHandler.NONE);
                VerbsClient peer = narrow.peer("ann")) {
            int key = peer.register(narrow.allocate(4096));
            assertThat(catchThrowableOfType(RefusedException.class,
                    () -> peer.register(narrow.allocate(4096))).reason())
                    .isEqualTo(Refusal.TOO_MANY_BUFFERS);
            assertThat(peer.registrations()).isEqualTo(1);
            peer.deregister(key);
            assertThat(peer.registrations()).isZero();
        }
    }

    @Test
    void whoDoesNotProveInTimeIsTurnedAway() throws IOException {
        VerbsTransport slow = VerbsClient.connect(rig.peerConfig(), rig.gateway(),
                hello(rig.open("ann")));
        Awaiting.until("it is too slow", () -> rig.stats().refused(Refusal.TOO_SLOW) == 1);
        assertThat(catchThrowableOfType(IOException.class, () -> {
            while (slow.receive((_, _, _, _) -> {}) >= 0) {
                slow.awaitMessage(1_000_000);
            }
            throw new IOException("over");
        })).hasMessage("over");
        slow.close();
    }

    @Test
    void tooManyUnprovenConnectionsAreRefusedAndLaterOnesLetIn() throws IOException {
        VerbsFabricConfig.Peers two = new VerbsFabricConfig.Peers(VerbsRig.PATIENCE, 2, 16, 8,
                VerbsRig.PATIENCE, SHORT);
        try (VerbsRig narrow = new VerbsRig(VerbsRig.config().with(two),
                VerbsRig.freshSessions(), RequestHandler.NONE)) {
            List<VerbsTransport> unproven = new ArrayList<>();
            for (int i = 0; i < 2; i++) {
                unproven.add(VerbsClient.connect(narrow.peerConfig(), narrow.gateway(),
                        hello(narrow.open("ann"))));
            }
            ClientSession third = narrow.open("bob");
            assertThat(refusal(narrow, third, VerbsRig.KEY)).isEqualTo(Refusal.BUSY);
            unproven.forEach(transport -> {
                transport.shutDown();
                transport.close();
            });
            Awaiting.until("the third is let in", () -> {
                try (VerbsClient peer = VerbsClient.connect(narrow.peerConfig(), narrow.gateway(),
                        third.id(), VerbsRig.KEY)) {
                    peer.ping();
                    return true;
                } catch (IOException _) {
                    return false;
                }
            });
        }
    }
}

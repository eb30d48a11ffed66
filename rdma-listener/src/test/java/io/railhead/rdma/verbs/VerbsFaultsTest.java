package io.railhead.rdma.verbs;

import static io.railhead.rdma.Awaiting.failure;
import static io.railhead.rdma.Awaiting.result;
import static java.lang.foreign.ValueLayout.JAVA_BYTE;
import static java.nio.ByteOrder.LITTLE_ENDIAN;
import static java.util.Objects.requireNonNull;
import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.catchThrowableOfType;

import io.railhead.client.verbs.SessionEndedException;
import io.railhead.client.verbs.VerbsClient;
import io.railhead.client.verbs.VerbsTransport;
import io.railhead.os.adapter.QueuePairConfig;
import io.railhead.os.verbs.RequiresVerbs;
import io.railhead.protocol.message.Bytes32;
import io.railhead.protocol.message.EndReason;
import io.railhead.protocol.message.Message.Challenge;
import io.railhead.protocol.message.Message.Hello;
import io.railhead.protocol.message.Message.Ping;
import io.railhead.protocol.message.Message.Proof;
import io.railhead.protocol.message.MessageCodec;
import io.railhead.protocol.message.MessageHeader;
import io.railhead.protocol.message.Refusal;
import io.railhead.protocol.message.SessionKey;
import io.railhead.rdma.Awaiting;
import io.railhead.rdma.RemoteBuffer;
import io.railhead.rdma.TestPages;
import io.railhead.rdma.Transfer;
import io.railhead.rdma.TransferException.Reason;
import io.railhead.rdma.channel.RequestHandler;
import io.railhead.rdma.session.ClientSession;
import java.io.IOException;
import java.lang.foreign.MemorySegment;
import java.nio.ByteBuffer;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import java.util.Random;
import java.util.concurrent.CompletionStage;
import java.util.concurrent.TimeUnit;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;

/** Peers that lie, hang, die or babble, and a network that fails: each harms nobody but itself. */
@RequiresVerbs
@Timeout(240)
final class VerbsFaultsTest {
    private static final int LENGTH = 4 << 20;

    private VerbsRig rig;
    private TestPages pages;
    private VerbsClient witness;
    private MemorySegment witnessMemory;
    private int witnessKey;

    @BeforeEach
    void start() throws IOException {
        rig = VerbsRig.start();
        pages = new TestPages(rig.fabric());
        witness = rig.peer("witness");
        witnessMemory = rig.allocate(64 << 10);
        witnessKey = witness.register(witnessMemory);
    }

    @AfterEach
    void nothingIsLeft() {
        rig.close();
        assertThat(pages.leases()).as("leases").isZero();
        assertThat(rig.stats().registeredBytes()).as("registered bytes").isZero();
        assertThat(rig.stats().sessions()).as("sessions").isZero();
        pages.close();
    }

    /** Someone else's session, which goes on as if nothing were. */
    private void nobodyElseIsDisturbed(int seed) throws IOException {
        byte[] bytes = new byte[64 << 10];
        new Random(seed).nextBytes(bytes);
        result(transfer("witness", witness.sessionNumber(), witnessMemory.address(),
                bytes.length, witnessKey).write(pages.of(bytes), 0));
        assertThat(witnessMemory.toArray(JAVA_BYTE)).isEqualTo(bytes);
        witness.ping();
    }

    private Transfer transfer(String principal, int session, long address, long length, int key) {
        RemoteBuffer buffer = rig.sessions().resolve(principal, session, address, length, key);
        return rig.fabric().begin(buffer);
    }

    private List<CompletionStage<Void>> writeAll(Transfer transfer, int length) {
        return writeAll(pages, transfer, length);
    }

    static List<CompletionStage<Void>> writeAll(TestPages pages, Transfer transfer, int length) {
        List<CompletionStage<Void>> writes = new ArrayList<>();
        for (int at = 0; at < length; at += 1 << 20) {
            writes.add(transfer.write(pages.slice(0, 1 << 20), at));
        }
        return writes;
    }

    private EndReason reasonAtTheNextHello(ClientSession clientSession) {
        return catchThrowableOfType(SessionEndedException.class, () -> VerbsClient
                .connect(rig.peerConfig(), rig.gateway(), clientSession.id(), VerbsRig.KEY)).ended()
                .reason();
    }

    private VerbsClient connect(ClientSession clientSession) throws IOException {
        return VerbsClient.connect(rig.peerConfig(), rig.gateway(), clientSession.id(),
                VerbsRig.KEY);
    }

    @Test
    void aWrongKeyEndsItsSessionAloneAndTheNextHelloSaysWhy() throws IOException {
        ClientSession clientSession = rig.open("liar");
        try (VerbsClient liar = connect(clientSession)) {
            MemorySegment memory = rig.allocate(LENGTH);
            int key = liar.register(memory.address(), LENGTH, 0x00bad000);
            Transfer transfer = transfer("liar", liar.sessionNumber(), memory.address(), LENGTH,
                    key);
            writeAll(transfer, LENGTH).forEach(
                    write -> assertThat(failure(write)).isEqualTo(Reason.REMOTE_ACCESS));
            Awaiting.until("the liar hears its end", () -> !liar.isOpen());
        }
        assertThat(reasonAtTheNextHello(clientSession)).isEqualTo(EndReason.ACCESS);
        nobodyElseIsDisturbed(1);
    }

    @Test
    void aWrongAddressOrAMissingRegistrationEndsItsSessionAlone() throws IOException {
        ClientSession first = rig.open("liar");
        try (VerbsClient liar = connect(first)) {
            MemorySegment memory = rig.allocate(LENGTH);
            int honest = liar.register(memory);
            liar.deregisterSilently(honest);
            Transfer transfer = transfer("liar", liar.sessionNumber(), memory.address(), 4096,
                    honest);
            assertThat(failure(transfer.write(pages.slice(0, 4096), 0)))
                    .isEqualTo(Reason.REMOTE_ACCESS);
        }
        assertThat(reasonAtTheNextHello(first)).isEqualTo(EndReason.ACCESS);
        ClientSession second = rig.open("liar");
        try (VerbsClient liar = connect(second)) {
            MemorySegment memory = rig.allocate(4096);
            int rkey = liar.remoteKey(liar.register(memory));
            int key = liar.register(memory.address() + (1L << 32), 4096, rkey);
            Transfer transfer = transfer("liar", liar.sessionNumber(),
                    memory.address() + (1L << 32), 4096, key);
            assertThat(failure(transfer.read(pages.slice(0, 4096), 0)))
                    .isEqualTo(Reason.REMOTE_ACCESS);
        }
        assertThat(reasonAtTheNextHello(second)).isEqualTo(EndReason.ACCESS);
        nobodyElseIsDisturbed(2);
    }

    @Test
    void malformedMessagesEndTheirSessionAlone() throws IOException {
        Random random = new Random(42);
        for (int round = 0; round < 12; round++) {
            long refused = rig.stats().refused(Refusal.PROTOCOL);
            VerbsTransport babbler = proven(rig.open("babbler"));
            byte[] message = babble(round, random);
            babbler.outgoing().put(message);
            babbler.send();
            Awaiting.until("round " + round + " is refused",
                    () -> rig.stats().refused(Refusal.PROTOCOL) > refused);
            babbler.shutDown();
            babbler.close();
        }
        nobodyElseIsDisturbed(3);
    }

    /** Truncated, longer, shorter than its header says, or nonsense. */
    private static byte[] babble(int round, Random random) {
        byte[] ping = new byte[16];
        MessageCodec.encode(new Ping(5)).get(ping);
        return switch (round % 6) {
            case 0 -> Arrays.copyOf(ping, 3);
            case 1 -> Arrays.copyOf(ping, 12);
            case 2 -> Arrays.copyOf(ping, 24);
            case 3 -> {
                byte[] nonsense = new byte[1 + random.nextInt(4095)];
                random.nextBytes(nonsense);
                yield nonsense;
            }
            case 4 -> {
                byte[] requests = new byte[8 + 64];
                random.nextBytes(requests);
                MessageHeader.put(ByteBuffer.wrap(requests).order(LITTLE_ENDIAN), 0,
                        MessageHeader.REQUESTS, 64);
                yield requests;
            }
            default -> {
                byte[] answers = new byte[8 + 64];
                MessageHeader.put(ByteBuffer.wrap(answers).order(LITTLE_ENDIAN), 0,
                        MessageHeader.ANSWERS, 64);
                yield answers;
            }
        };
    }

    /** A peer's bare transport, proven and welcomed. */
    private VerbsTransport proven(ClientSession clientSession) throws IOException {
        Bytes32 nonce = Bytes32.random(new Random(clientSession.number()));
        VerbsTransport transport = VerbsClient.connect(rig.peerConfig(), rig.gateway(),
                new Hello(clientSession.id(), nonce));
        Challenge challenge = (Challenge) requireNonNull(
                MessageCodec.decode(transport.link().accepted()));
        transport.outgoing()
                .put(MessageCodec.encode(new Proof(SessionKey.clientProof(VerbsRig.KEY,
                        clientSession.id(), nonce, challenge.nonce()))));
        transport.send();
        var _ = VerbsClient.next(transport, System.nanoTime() + VerbsRig.PATIENCE.toNanos());
        return transport;
    }

    @Test
    void aPeerThatNeverReadsItsCompletionsEndsAlone() throws IOException {
        VerbsTransport deaf = proven(rig.open("deaf"));
        long sessions = rig.stats().sessions();
        for (int i = 0; i < 3 * deaf.link().receives(); i++) {
            deaf.outgoing().put(MessageCodec.encode(new Ping(i)));
            try {
                deaf.send();
            } catch (IOException _) {
                break;
            }
        }
        Awaiting.until("its session ends", () -> rig.stats().sessions() < sessions);
        nobodyElseIsDisturbed(4);
        deaf.shutDown();
        deaf.close();
    }

    @Test
    void aKilledProcessCostsNobodyElse() throws Exception {
        ClientSession clientSession = rig.open("killed");
        try (VerbsPeerProcess process = VerbsPeerProcess.start(rig, clientSession, 64 << 20)) {
            Transfer transfer = transfer("killed", clientSession.number(), process.address(),
                    64 << 20,
                    process.key());
            List<CompletionStage<Void>> writes = writeAll(transfer, 64 << 20);
            writes.subList(0, 2).forEach(Awaiting::result);
            process.kill();
            CompletionStage<Void> late = transfer.write(pages.slice(0, 1 << 20), 0);
            // The kernel may take a killed process's memory away before its queue pair.
            for (CompletionStage<Void> write : writes) {
                assertThat(failure(write)).isIn(null, Reason.PEER_GONE, Reason.REMOTE_ACCESS);
            }
            assertThat(failure(late)).isIn(Reason.PEER_GONE, Reason.REMOTE_ACCESS);
        }
        Awaiting.until("its leases end", () -> pages.leases() == 0);
        Awaiting.until("its session ends", () -> rig.stats().sessions() == 1);
        nobodyElseIsDisturbed(5);
    }

    /**
     * Packets of both ends wait a second for their answer: a machine that is slow is no peer that
     * is gone.
     */
    @Test
    void bytesArriveThroughALossyNetwork() throws Exception {
        QueuePairConfig patience = QueuePairConfig.DEFAULT.withAckTimeout(18);
        VerbsRig patient = new VerbsRig(VerbsRig.config().with(patience),
                VerbsRig.freshSessions(), RequestHandler.NONE);
        TestPages theirs = TestPages.few(patient.fabric());
        VerbsClient peer = patient.peer("ann", patience);
        MemorySegment memory = patient.allocate(1 << 20);
        int key = peer.register(memory);
        byte[] bytes = new byte[1 << 20];
        new Random(6).nextBytes(bytes);
        run("tc", "qdisc", "add", "dev", "v0", "root", "netem", "loss", "2%");
        try {
            Transfer transfer = patient.fabric()
                    .begin(patient.sessions()
                            .resolve("ann", peer.sessionNumber(), memory.address(), 1 << 20, key));
            result(transfer.write(theirs.of(bytes), 0));
            assertThat(Arrays.equals(memory.toArray(JAVA_BYTE), bytes)).isTrue();
        } finally {
            run("tc", "qdisc", "del", "dev", "v0", "root");
            patient.close();
            theirs.close();
        }
    }

    @Test
    void whoNamesForeignMemoryAgainAndAgainIsSuspended() throws IOException {
        MemorySegment memory = rig.allocate(LENGTH);
        for (int i = 0; i < 5; i++) {
            assertThat(rig.sessions().isSuspended("liar")).isFalse();
            try (VerbsClient liar = connect(rig.open("liar"))) {
                int key = liar.register(memory.address(), LENGTH, 0x00bad000);
                writeAll(transfer("liar", liar.sessionNumber(), memory.address(), LENGTH, key),
                        LENGTH).forEach(
                                write -> assertThat(failure(write))
                                        .isEqualTo(Reason.REMOTE_ACCESS));
            }
        }
        assertThat(rig.sessions().isSuspended("liar")).isTrue();
        assertThat(rig.sessions().open("liar", "verbs", _ -> VerbsRig.KEY)).isNull();
        nobodyElseIsDisturbed(8);
    }

    static void run(String... command) throws Exception {
        Process process = new ProcessBuilder(command).inheritIO().start();
        assertThat(process.waitFor(30, TimeUnit.SECONDS)).as("%s ends", command[0]).isTrue();
        assertThat(process.exitValue()).as(String.join(" ", command)).isZero();
    }
}

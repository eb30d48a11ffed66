package io.railhead.rdma.loopback;

import static io.railhead.rdma.Awaiting.result;
import static io.railhead.rdma.loopback.LoopbackRig.KEY;
import static java.lang.foreign.ValueLayout.JAVA_BYTE;
import static java.util.Objects.requireNonNull;
import static org.assertj.core.api.Assertions.assertThat;

import io.railhead.cache.memory.PageSlice;
import io.railhead.os.Mapping;
import io.railhead.os.MemoryFile;
import io.railhead.protocol.channel.EndedMessage;
import io.railhead.protocol.message.EndReason;
import io.railhead.protocol.message.Message;
import io.railhead.protocol.message.Message.Bounce;
import io.railhead.protocol.message.Message.Bye;
import io.railhead.protocol.message.Message.Deregister;
import io.railhead.protocol.message.Message.Deregistered;
import io.railhead.protocol.message.Message.Ping;
import io.railhead.protocol.message.Message.Pong;
import io.railhead.protocol.message.Message.Registered;
import io.railhead.protocol.message.Message.SendDescriptor;
import io.railhead.protocol.message.Message.Sync;
import io.railhead.protocol.message.Message.Synced;
import io.railhead.protocol.message.Refusal;
import io.railhead.rdma.Awaiting;
import io.railhead.rdma.TestBuffer;
import io.railhead.rdma.TestPages;
import io.railhead.rdma.TestPeer;
import io.railhead.rdma.Transfer;
import io.railhead.rdma.TransferException.Reason;
import io.railhead.rdma.session.ClientSession;
import java.io.IOException;
import java.nio.file.Path;
import java.time.Duration;
import java.util.concurrent.CompletionStage;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/** Memory that the peer itself copies to and from: nothing is said to be there before it is. */
class BounceBuffersTest {
    /** An address of the peer's, which nothing here looks at. */
    private static final long BASE = 0x7000_0000_0000L;
    private static final long HANDLE = 0x1122_3344_5566_7788L;
    private static final int BYTES = 4096;

    @TempDir
    Path folder;

    private LoopbackRig rig;
    private TestPages pages;
    private RawPeer peer;
    private ClientSession session;
    private Mapping buffer;
    private int key;

    @BeforeEach
    void register() throws IOException {
        rig = LoopbackRig.in(folder);
        pages = new TestPages(rig.fabric());
        peer = new RawPeer(rig.socket());
        session = rig.open("ann");
        peer.prove(session, KEY);
        try (MemoryFile file = MemoryFile.create("test", BYTES)) {
            buffer = file.map();
            peer.send(new Bounce(BASE, BYTES, HANDLE));
            assertThat(peer.receive()).isEqualTo(new SendDescriptor());
            peer.sendDescriptor(file.descriptor(), 1);
        }
        key = ((Registered) requireNonNull(peer.receive())).key();
    }

    @AfterEach
    void stop() {
        rig.fabric().close();
        pages.close();
        peer.close();
        rig.close();
        buffer.close();
        assertThat(rig.stats().registeredBytes()).isZero();
    }

    @Test
    void writtenBytesAreThereOnceThePeerSaysSo() throws IOException {
        CompletionStage<Void> written = begin(BASE + 100).write(pages.of(new byte[]{7, 8, 9}), 1);
        Sync sync = (Sync) requireNonNull(peer.receive());
        assertThat(sync).isEqualTo(new Sync(sync.id(), true, HANDLE, 101, 3));
        assertThat(buffer.segment().asSlice(101, 3).toArray(JAVA_BYTE)).containsExactly(7, 8, 9);
        peer.send(new Ping(1));
        assertThat(peer.receive()).isEqualTo(new Pong(1));
        assertThat(written.toCompletableFuture()).isNotDone();
        peer.send(new Synced(sync.id(), true));
        result(written);
    }

    @Test
    void whatIsReadIsWhatThePeerCopiesWhenAsked() throws IOException {
        CompletionStage<?> read = begin(BASE).read(pages.slice(0, 2), 5);
        Sync sync = (Sync) requireNonNull(peer.receive());
        assertThat(sync).isEqualTo(new Sync(sync.id(), false, HANDLE, 5, 2));
        buffer.segment().set(JAVA_BYTE, 5, (byte) 42);
        peer.send(new Synced(sync.id(), true));
        try (var slice = (PageSlice) result(read)) {
            assertThat(TestPages.bytes(slice)).containsExactly(42, 0);
        }
    }

    @Test
    void aBufferThatThePeerHasNoMoreFailsTheTransferAlone() throws IOException {
        CompletionStage<Void> written = begin(BASE).write(pages.of(new byte[]{1}), 0);
        Sync sync = (Sync) requireNonNull(peer.receive());
        peer.send(new Deregister(key), new Synced(sync.id(), false));
        assertThat(Awaiting.failure(written)).isEqualTo(Reason.PEER_GONE);
        assertThat(peer.receive()).isEqualTo(new Deregistered(key));
        assertThat(session.isOpen()).isTrue();
    }

    @Test
    void thePeersEndEndsWhatItWasAsked() throws IOException {
        CompletionStage<Void> written = begin(BASE).write(pages.of(new byte[]{1}), 0);
        assertThat(peer.receive()).isInstanceOf(Sync.class);
        peer.send(new Bye());
        assertThat(Awaiting.failure(written)).isEqualTo(Reason.PEER_GONE);
        peer.awaitEnd();
    }

    /** It answers pings all the time. */
    @Test
    void aPeerThatNeverCopiesLosesItsSession(@TempDir Path other) throws IOException {
        LoopbackConfig impatient = new LoopbackConfig(other.resolve("s"), 2, 2, 64 << 10,
                LoopbackRig.PATIENCE, 16, 1024, LoopbackRig.AMPLE, LoopbackRig.AMPLE, 64,
                Duration.ofMillis(50));
        try (LoopbackRig brief = new LoopbackRig(impatient, LoopbackRig.freshSessions());
                TestPages few = TestPages.few(brief.fabric());
                RawPeer slow = new RawPeer(brief.socket());
                MemoryFile file = MemoryFile.create("test", BYTES)) {
            ClientSession its = brief.open("ann");
            slow.prove(its, KEY);
            slow.send(new Bounce(BASE, BYTES, HANDLE));
            assertThat(slow.receive()).isEqualTo(new SendDescriptor());
            slow.sendDescriptor(file.descriptor(), 1);
            int itsKey = ((Registered) requireNonNull(slow.receive())).key();
            CompletionStage<Void> written = brief.fabric()
                    .begin(brief.sessions().resolve("ann", its.number(), BASE, 10, itsKey))
                    .write(few.of(new byte[]{1}), 0);
            assertThat(slow.receive()).isInstanceOf(Sync.class);
            for (Message answer = new Pong(1); its.isOpen() && answer != null;) {
                slow.send(new Ping(1));
                answer = slow.receive();
            }
            assertThat(Awaiting.failure(written)).isEqualTo(Reason.PEER_GONE);
            slow.awaitEnd();
            assertThat(slow.ended()).extracting(EndedMessage::reason)
                    .containsExactly(EndReason.SILENT);
        }
    }

    @Test
    void anAnswerThatNobodyAskedForEndsTheSession() throws IOException {
        peer.send(new Synced(3, true));
        peer.awaitEnd();
        assertThat(session.isOpen()).isFalse();
        assertThat(rig.stats().refused(Refusal.PROTOCOL)).isOne();
    }

    @Test
    void aPeerThatNeverCopiesHoldsNobodyElseUp() throws IOException {
        for (int i = 0; i < 20; i++) {
            begin(BASE).write(pages.of(new byte[]{1}), 0);
        }
        TestPeer bob = rig.connect("bob");
        TestBuffer others = bob.register(100);
        result(rig.fabric()
                .begin(rig.sessions()
                        .resolve("bob", bob.sessionNumber(), others.address(), 10,
                                others.key()))
                .write(pages.of(new byte[]{3}), 0));
        peer.send(new Bye());
        peer.awaitEnd();
    }

    private Transfer begin(long address) {
        return rig.fabric()
                .begin(rig.sessions().resolve("ann", session.number(), address, 10, key));
    }
}

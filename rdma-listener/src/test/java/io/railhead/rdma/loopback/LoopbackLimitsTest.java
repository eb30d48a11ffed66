package io.railhead.rdma.loopback;

import static io.railhead.rdma.loopback.LoopbackRig.PATIENCE;
import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.catchThrowableOfType;

import io.railhead.client.loopback.LoopbackClient;
import io.railhead.os.MemoryFile;
import io.railhead.protocol.channel.Answer;
import io.railhead.protocol.channel.Request;
import io.railhead.protocol.message.Refusal;
import io.railhead.protocol.message.RefusedException;
import io.railhead.rdma.Awaiting;
import java.io.IOException;
import java.nio.file.Path;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.Executor;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.io.TempDir;

/** How many bytes a session and a principal may register. */
@Timeout(120)
class LoopbackLimitsTest {
    private static final long PER_SESSION = 10_000;
    private static final long PER_PRINCIPAL = 15_000;

    @TempDir
    Path folder;

    private LoopbackRig rig;

    @BeforeEach
    void start() {
        rig = new LoopbackRig(new LoopbackConfig(folder.resolve("s"), 1, 1, 0, PATIENCE, 4, 100,
                PER_SESSION, PER_PRINCIPAL), LoopbackRig.freshSessions());
    }

    @AfterEach
    void stop() {
        rig.close();
        assertThat(rig.stats().registeredBytes()).isZero();
    }

    @Test
    void aSessionRegistersItsLimitAndNotAByteMore() throws IOException {
        LoopbackClient peer = rig.peer("ann");
        register(peer, 4000);
        register(peer, 6000);
        assertThat(refusal(peer, 1)).isEqualTo(Refusal.TOO_MANY_BYTES);
        assertThat(rig.stats().refused(Refusal.TOO_MANY_BYTES)).isEqualTo(1);
        assertThat(rig.stats().registeredBytes()).isEqualTo(PER_SESSION);
        peer.ping();
    }

    @Test
    void whatIsDeregisteredMayBeRegisteredAgain() throws IOException {
        LoopbackClient peer = rig.peer("ann");
        int key = register(peer, PER_SESSION);
        for (int i = 0; i < 20; i++) {
            assertThat(refusal(peer, 1)).isEqualTo(Refusal.TOO_MANY_BYTES);
            peer.deregister(key);
            key = register(peer, PER_SESSION);
        }
    }

    @Test
    void aPrincipalsSessionsShareItsLimit() throws IOException {
        LoopbackClient first = rig.peer("ann");
        LoopbackClient second = rig.peer("ann");
        register(first, PER_SESSION);
        register(second, PER_PRINCIPAL - PER_SESSION);
        assertThat(refusal(second, 1)).isEqualTo(Refusal.TOO_MANY_BYTES);
        register(rig.peer("bob"), PER_SESSION);
    }

    @Test
    void aSessionThatHasEndedHoldsNothing() throws IOException {
        for (int i = 0; i < 5; i++) {
            try (LoopbackClient peer = LoopbackClient.connect(rig.socket(), rig.open("ann").id(),
                    LoopbackRig.KEY, PATIENCE)) {
                register(peer, PER_SESSION);
            }
        }
    }

    @Test
    void onlyTheRegisteredPartOfAFileCounts() throws IOException {
        LoopbackClient peer = rig.peer("ann");
        try (MemoryFile file = MemoryFile.create("test", 100 * PER_PRINCIPAL)) {
            assertThat(peer.register(file.descriptor(), 1 << 20, PER_SESSION)).isNotZero();
        }
        assertThat(rig.stats().registeredBytes()).isEqualTo(PER_SESSION);
    }

    @Test
    void whoDoesNotReadItsAnswersIsEnded(@TempDir Path other) throws IOException {
        TestHandler handler = new TestHandler();
        try (LoopbackRig busy = new LoopbackRig(LoopbackRig.config(other).with(2, PATIENCE),
                LoopbackRig.freshSessions(), handler);
                RawPeer deaf = new RawPeer(busy.socket())) {
            deaf.prove(busy.open("ann"), LoopbackRig.KEY);
            for (int id = 0; handler.ended.isEmpty(); id++) {
                assertThat(id).as("answers that nobody reads").isLessThan(1000);
                deaf.send(Request.head(id, "b", "held/" + id));
                Awaiting.until("it is asked", () -> !handler.held.isEmpty());
                TestHandler.Held next = handler.held.remove();
                settle(next.channel().executor());
                assertThat(handler.ended).as("at what it says, and not at the answer").isEmpty();
                next.answer(Answer.failed(id, 404, "NoSuchKey", "x".repeat(3000)));
                settle(next.channel().executor());
            }
            assertThat(busy.stats().refused(Refusal.PROTOCOL)).isOne();
        }
    }

    /** Returns once what the event loop has begun is done, and what follows from it. */
    private static void settle(Executor loop) {
        for (int i = 0; i < 10; i++) {
            CompletableFuture.runAsync(() -> {}, loop).join();
        }
    }

    private static int register(LoopbackClient peer, long bytes) throws IOException {
        try (MemoryFile file = MemoryFile.create("test", bytes)) {
            return peer.register(file, 1 << 20);
        }
    }

    private static Refusal refusal(LoopbackClient peer, long bytes) {
        return catchThrowableOfType(RefusedException.class, () -> register(peer, bytes)).reason();
    }
}

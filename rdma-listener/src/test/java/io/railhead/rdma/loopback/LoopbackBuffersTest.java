package io.railhead.rdma.loopback;

import static io.railhead.rdma.loopback.LoopbackRig.AMPLE;
import static io.railhead.rdma.loopback.LoopbackRig.KEY;
import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.catchThrowableOfType;

import io.netty.channel.unix.FileDescriptor;
import io.railhead.client.loopback.LoopbackClient;
import io.railhead.os.MemoryFile;
import io.railhead.protocol.message.Message;
import io.railhead.protocol.message.Message.Register;
import io.railhead.protocol.message.Message.SendDescriptor;
import io.railhead.protocol.message.Refusal;
import io.railhead.protocol.message.RefusedException;
import io.railhead.rdma.Awaiting;
import io.railhead.rdma.OpenDescriptors;
import io.railhead.rdma.session.ClientSession;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import org.junit.jupiter.params.provider.ValueSource;

@Timeout(120)
class LoopbackBuffersTest {
    @TempDir
    Path folder;

    private LoopbackRig rig;

    @BeforeEach
    void start() {
        rig = new LoopbackRig(
                new LoopbackConfig(folder.resolve("s"), 1, 1, 0, LoopbackRig.PATIENCE, 4, 3, AMPLE,
                        AMPLE),
                LoopbackRig.freshSessions());
    }

    @AfterEach
    void stop() {
        rig.close();
        assertThat(rig.stats().registeredBytes()).isZero();
    }

    @Test
    void aBufferIsHeldUntilItIsDeregistered() throws IOException {
        LoopbackClient peer = rig.peer("ann");
        int key = register(peer, 8192);
        assertThat(key).isNotZero();
        assertThat(rig.stats().registeredBytes()).isEqualTo(8192);
        peer.deregister(key);
        assertThat(rig.stats().registeredBytes()).isZero();
    }

    @Test
    void theSocketIsAlwaysReadyForTheNextBuffer() throws IOException {
        LoopbackClient peer = rig.peer("ann");
        long before = OpenDescriptors.count();
        for (int i = 0; i < 500; i++) {
            peer.deregister(register(peer, 1));
            peer.ping();
        }
        assertThat(OpenDescriptors.count()).isLessThanOrEqualTo(before);
    }

    @Test
    void memoryThatCouldShrinkIsRefusedAndItsDescriptorClosed() throws IOException {
        LoopbackClient peer = rig.peer("ann");
        Path file = Files.write(folder.resolve("unsealed"), new byte[4096]);
        FileDescriptor descriptor = FileDescriptor.from(file.toFile());
        try {
            long before = OpenDescriptors.count();
            assertThat(refusal(peer, descriptor.intValue(), 0, 4096))
                    .isEqualTo(Refusal.NOT_SEALED);
            assertThat(OpenDescriptors.count()).isLessThanOrEqualTo(before);
        } finally {
            descriptor.close();
        }
        assertThat(rig.stats().refused(Refusal.NOT_SEALED)).isEqualTo(1);
        assertThat(register(peer, 1)).isNotZero();
    }

    @ParameterizedTest
    @CsvSource({"0, 0", "0, -1", "0, 4097", "-4095, 4096", "-1, 2", "0, 9223372036854775807"})
    void aLengthThatCannotBeIsRefused(long base, long length) throws IOException {
        LoopbackClient peer = rig.peer("ann");
        try (MemoryFile file = MemoryFile.create("test", 4096)) {
            assertThat(refusal(peer, file.descriptor(), base, length))
                    .isEqualTo(Refusal.BAD_LENGTH);
            assertThat(peer.register(file.descriptor(), base, 1)).isNotZero();
        }
    }

    @Test
    void aSessionHasABoundedNumberOfBuffers() throws IOException {
        LoopbackClient peer = rig.peer("ann");
        int first = register(peer, 1);
        register(peer, 1);
        register(peer, 1);
        try (MemoryFile file = MemoryFile.create("test", 1)) {
            assertThat(refusal(peer, file.descriptor(), 0, 1))
                    .isEqualTo(Refusal.TOO_MANY_BUFFERS);
        }
        peer.deregister(first);
        assertThat(register(peer, 1)).isNotZero();
    }

    @Test
    void aBufferIsDeregisteredOnce() throws IOException {
        LoopbackClient peer = rig.peer("ann");
        int key = register(peer, 1);
        peer.deregister(key);
        assertThat(catchThrowableOfType(RefusedException.class, () -> peer.deregister(key))
                .reason()).isEqualTo(Refusal.UNKNOWN_KEY);
    }

    @Test
    void anotherSessionsBufferCannotBeDeregistered() throws IOException {
        LoopbackClient ann = rig.peer("ann");
        int key = register(ann, 1);
        LoopbackClient bob = rig.peer("bob");
        assertThat(catchThrowableOfType(RefusedException.class, () -> bob.deregister(key))
                .reason()).isEqualTo(Refusal.UNKNOWN_KEY);
        ann.deregister(key);
    }

    @Test
    void aSecondRegisterBeforeTheFirstIsDoneEndsTheSession() throws IOException {
        ClientSession clientSession = rig.open("ann");
        try (RawPeer peer = new RawPeer(rig.socket())) {
            peer.prove(clientSession, KEY);
            peer.send(new Register(0, 1, 0), new Register(0, 1, 0));
            peer.awaitEnd();
        }
        assertThat(clientSession.isOpen()).isFalse();
    }

    @Test
    void bytesInPlaceOfADescriptorEndTheSession() throws IOException {
        rig.close();
        rig = new LoopbackRig(new LoopbackConfig(folder.resolve("s"), 1, 1, 0,
                Duration.ofMillis(500), 4, 3, AMPLE, AMPLE), LoopbackRig.freshSessions());
        ClientSession clientSession = rig.open("ann");
        try (RawPeer peer = new RawPeer(rig.socket())) {
            peer.prove(clientSession, KEY);
            peer.send(new Register(0, 1, 0));
            assertThat(peer.receive()).isEqualTo(new SendDescriptor());
            peer.send(new Message.Ping(1));
            peer.awaitEnd();
        }
        assertThat(clientSession.isOpen()).isFalse();
    }

    @Test
    void aDescriptorNobodyAskedForIsNotKept() throws IOException {
        LoopbackClient peer = rig.peer("ann");
        try (MemoryFile file = MemoryFile.create("test", 1)) {
            long before = OpenDescriptors.count();
            peer.sendUnasked(file.descriptor());
            // Its byte is the start of no message.
            assertThat(catchThrowableOfType(IOException.class, peer::ping)).isNotNull();
            Awaiting.until("the session ends", () -> !peer.isOpen());
            assertThat(OpenDescriptors.count()).isLessThanOrEqualTo(before);
        }
    }

    @ParameterizedTest
    @ValueSource(ints = {0, 1, 3})
    void theEndOfAConnectionLetsAllMemoryGo(int buffers) throws IOException {
        LoopbackClient peer = rig.peer("ann");
        for (int i = 0; i < buffers; i++) {
            register(peer, 1 << 20);
        }
        assertThat(rig.stats().registeredBytes()).isEqualTo((long) buffers << 20);
        peer.close();
        assertThat(rig.stats().registeredBytes()).isZero();
        assertThat(rig.sessions().open()).isZero();
    }

    private static int register(LoopbackClient peer, long bytes) throws IOException {
        try (MemoryFile file = MemoryFile.create("test", bytes)) {
            return peer.register(file, 1 << 20);
        }
    }

    private static Refusal refusal(LoopbackClient peer, int descriptor, long base, long length) {
        return catchThrowableOfType(RefusedException.class,
                () -> peer.register(descriptor, base, length)).reason();
    }
}

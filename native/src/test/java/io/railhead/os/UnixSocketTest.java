package io.railhead.os;

import static java.nio.charset.StandardCharsets.US_ASCII;
import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.railhead.os.DescriptorMessage.Ended;
import io.railhead.os.DescriptorMessage.Nothing;
import io.railhead.os.DescriptorMessage.One;
import io.railhead.os.DescriptorMessage.Refused;
import java.io.File;
import java.io.IOException;
import java.nio.ByteBuffer;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.Arrays;
import java.util.Objects;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

@Timeout(120)
final class UnixSocketTest {
    /** The most that Linux lets a message carry: SCM_MAX_FD. */
    private static final int MOST = 253;

    private final MemoryFile file = MemoryFile.create("test", 1 << 16);
    private TestSocket sender;
    private TestSocket receiver;

    @BeforeEach
    void connect() throws IOException {
        TestSocket[] pair = TestSocket.pair();
        sender = pair[0];
        receiver = pair[1];
    }

    @AfterEach
    void close() {
        sender.close();
        receiver.close();
        file.close();
    }

    @Test
    void aSilentSocketGivesNothing() {
        assertThat(receive()).isEqualTo(new Nothing());
    }

    @Test
    void oneDescriptorArrivesWithItsMemory() throws IOException {
        send("d", 1);
        DescriptorMessage message = receive();
        assertThat(message).isInstanceOf(One.class);
        try (MemoryFile received = MemoryFile.adopt(((One) message).ownedDescriptor())) {
            assertThat(received.bytes()).isEqualTo(1 << 16);
        }
        assertThat(receive()).isEqualTo(new Nothing());
    }

    @Test
    void aReceivedDescriptorIsNotInherited() throws IOException {
        send("d", 1);
        int descriptor = ((One) receive()).ownedDescriptor();
        String flags = Files.readAllLines(Path.of("/proc/self/fdinfo/" + descriptor)).get(1);
        Libc.close(descriptor);
        assertThat(flags).matches("flags:\\s+02\\d{6}");
    }

    @ParameterizedTest
    @ValueSource(ints = {2, 3, MOST})
    void severalDescriptorsAreRefusedAndNoneStaysOpen(int descriptors) throws IOException {
        long before = openDescriptors();
        for (int i = 0; i < 100; i++) {
            send("d", descriptors);
            assertThat(receive()).isEqualTo(new Refused("more than one descriptor"));
        }
        assertThat(openDescriptors()).isEqualTo(before);
    }

    @Test
    void bytesWithoutADescriptorAreRefused() throws IOException {
        send("d", 0);
        assertThat(receive()).isEqualTo(new Refused("bytes without a descriptor"));
    }

    @Test
    void onlyTheFirstByteIsTaken() throws IOException {
        send("dabc", 1);
        Libc.close(((One) receive()).ownedDescriptor());
        ByteBuffer rest = ByteBuffer.allocate(10);
        receiver.read(rest);
        assertThat(Arrays.copyOf(rest.array(), rest.position()))
                .isEqualTo("abc".getBytes(US_ASCII));
    }

    @ParameterizedTest
    @ValueSource(ints = {1, 2, MOST})
    void aPlainReadLeavesNoDescriptorOpen(int descriptors) throws IOException {
        long before = openDescriptors();
        for (int i = 0; i < 100; i++) {
            send("d", descriptors);
            assertThat(receiver.read(ByteBuffer.allocate(100))).isEqualTo(1);
        }
        assertThat(openDescriptors()).isEqualTo(before);
    }

    @Test
    void theOtherEndsCloseIsSeen() throws IOException {
        TestSocket[] pair = TestSocket.pair();
        pair[0].close();
        assertThat(UnixSocket.receiveDescriptor(pair[1].descriptor())).isEqualTo(new Ended());
        pair[1].close();
    }

    @Test
    void aDuplicateIsTheSameSocket() throws IOException {
        int duplicate = UnixSocket.duplicate(receiver.descriptor());
        send("d", 0);
        assertThat(UnixSocket.receiveDescriptor(duplicate)).isInstanceOf(Refused.class);
        assertThat(receive()).isEqualTo(new Nothing());
        Libc.close(duplicate);
    }

    @Test
    void whatIsNoSocketThrows() {
        assertThatThrownBy(() -> UnixSocket.receiveDescriptor(file.descriptor()))
                .isInstanceOf(OsException.class)
                .hasMessageStartingWith("recvmsg: ");
    }

    private DescriptorMessage receive() {
        return UnixSocket.receiveDescriptor(receiver.descriptor());
    }

    private void send(String bytes, int descriptors) throws IOException {
        int[] copies = new int[descriptors];
        Arrays.fill(copies, file.descriptor());
        sender.send(ByteBuffer.wrap(bytes.getBytes(US_ASCII)), copies);
    }

    private static long openDescriptors() {
        return Objects.requireNonNull(new File("/proc/self/fd").list()).length;
    }
}

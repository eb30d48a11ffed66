package io.railhead.rdma.loopback;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import java.io.IOException;
import java.io.UncheckedIOException;
import java.net.StandardProtocolFamily;
import java.net.UnixDomainSocketAddress;
import java.nio.channels.ServerSocketChannel;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.attribute.PosixFilePermissions;
import java.util.stream.Stream;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.io.TempDir;

@Timeout(60)
class SocketFileTest {
    @TempDir
    Path folder;

    private Path socket;

    @BeforeEach
    void nameIt() {
        socket = LoopbackRig.config(folder).socket();
    }

    @Test
    void theSocketIsOpenToAllUsersAndRemovedAtTheEnd() throws IOException {
        try (LoopbackRig rig = LoopbackRig.in(folder)) {
            assertThat(rig.socket()).isEqualTo(socket);
            assertThat(PosixFilePermissions.toString(Files.getPosixFilePermissions(socket)))
                    .isEqualTo("rw-rw-rw-");
        }
        assertThat(socket).doesNotExist();
    }

    @Test
    void theSocketOfADeadProcessIsReplaced() throws IOException {
        try (ServerSocketChannel dead = ServerSocketChannel.open(StandardProtocolFamily.UNIX)) {
            dead.bind(UnixDomainSocketAddress.of(socket));
        }
        assertThat(socket).exists();
        try (LoopbackRig rig = LoopbackRig.in(folder)) {
            rig.peer("ann").ping();
        }
    }

    @Test
    void aSocketThatAnswersIsLeftAlone() throws IOException {
        try (LoopbackRig rig = LoopbackRig.in(folder)) {
            assertThatThrownBy(() -> LoopbackRig.in(folder))
                    .isInstanceOf(UncheckedIOException.class)
                    .hasMessageContaining("in use")
                    .hasMessageContaining(socket.toString());
            rig.peer("ann").ping();
        }
    }

    @Test
    void aFileThatIsNoSocketIsLeftAlone() throws IOException {
        Files.writeString(socket, "precious");
        assertThatThrownBy(() -> LoopbackRig.in(folder)).hasMessageContaining(socket.toString());
        assertThat(socket).hasContent("precious");
    }

    @Test
    void aFolderThatIsNotThereIsNamed() {
        assertThatThrownBy(() -> LoopbackRig.in(folder.resolve("none")))
                .hasMessageContaining("none/loopback.sock");
    }

    @Test
    void anotherProcessesSocketOfTheSameNameIsNotRemoved() throws IOException {
        try (LoopbackRig rig = LoopbackRig.in(folder)) {
            Files.delete(rig.socket());
            Files.writeString(socket, "another's");
        }
        assertThat(socket).hasContent("another's");
    }

    @Test
    void nothingButTheSocketIsLeftInTheFolder() throws IOException {
        try (LoopbackRig rig = LoopbackRig.in(folder); Stream<Path> names = Files.list(folder)) {
            assertThat(names).containsExactly(rig.socket());
        }
        assertThat(folder).isEmptyDirectory();
    }
}

package io.railhead.rdma.loopback;

import java.io.IOException;
import java.net.StandardProtocolFamily;
import java.net.UnixDomainSocketAddress;
import java.nio.channels.SocketChannel;
import java.nio.file.Files;
import java.nio.file.LinkOption;
import java.nio.file.Path;
import java.nio.file.StandardCopyOption;
import java.nio.file.attribute.BasicFileAttributes;
import java.nio.file.attribute.PosixFilePermissions;
import java.util.Objects;
import org.jspecify.annotations.Nullable;

/**
 * The socket's name in the file system. A socket that a dead process left is replaced. A socket
 * that answers, and a file that is no socket, are left alone and are errors.
 *
 * <p> The socket is bound under a temporary name and then moved. So a client that finds the name
 * can connect, and Netty, which deletes the name that it has bound, cannot delete another
 * process's.
 *
 * <p> Every user may connect, since peers run as other users in other containers. The proof admits
 * them, and the folder's mode is the administrator's.
 */
final class SocketFile {
    private final Path path;
    private final @Nullable Object identity;

    private SocketFile(Path path, @Nullable Object identity) {
        this.path = path;
        this.identity = identity;
    }

    /** Returns a temporary name to bind; {@code path} must be free. */
    static Path draft(Path path) throws IOException {
        requireFree(path);
        Path draft = path.resolveSibling(path.getFileName() + "." + ProcessHandle.current().pid());
        Files.deleteIfExists(draft);
        return draft;
    }

    /** Moves the bound socket to its name. */
    static SocketFile publish(Path draft, Path path) throws IOException {
        Files.setPosixFilePermissions(draft, PosixFilePermissions.fromString("rw-rw-rw-"));
        Object identity = attributes(draft).fileKey();
        Files.move(draft, path, StandardCopyOption.ATOMIC_MOVE);
        return new SocketFile(path, identity);
    }

    private static void requireFree(Path path) throws IOException {
        if (!Files.exists(path, LinkOption.NOFOLLOW_LINKS)) {
            return;
        }
        if (!attributes(path).isOther()) {
            throw new IOException("loopback socket " + path + " is in the way: not a socket");
        }
        if (answers(path)) {
            throw new IOException("loopback socket " + path + " is in use by a running process");
        }
    }

    /** Deletes the name if it still belongs to this socket. */
    void delete() throws IOException {
        if (Files.exists(path, LinkOption.NOFOLLOW_LINKS)
                && Objects.equals(attributes(path).fileKey(), identity)) {
            Files.delete(path);
        }
    }

    private static boolean answers(Path path) {
        try (SocketChannel channel = SocketChannel.open(StandardProtocolFamily.UNIX)) {
            channel.connect(UnixDomainSocketAddress.of(path));
            return true;
        } catch (IOException _) {
            return false;
        }
    }

    private static BasicFileAttributes attributes(Path path) throws IOException {
        return Files.readAttributes(path, BasicFileAttributes.class, LinkOption.NOFOLLOW_LINKS);
    }
}

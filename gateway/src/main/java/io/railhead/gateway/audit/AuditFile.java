package io.railhead.gateway.audit;

import io.railhead.gateway.config.AuditConfig;
import java.io.IOException;
import java.nio.ByteBuffer;
import java.nio.channels.FileChannel;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.NoSuchFileException;
import java.nio.file.Path;
import java.nio.file.StandardCopyOption;
import java.nio.file.StandardOpenOption;
import java.nio.file.attribute.BasicFileAttributes;
import java.nio.file.attribute.FileAttribute;
import java.nio.file.attribute.PosixFilePermission;
import java.nio.file.attribute.PosixFilePermissions;
import java.util.Objects;
import java.util.Set;
import org.jspecify.annotations.Nullable;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * Appends events to a file. A full file is renamed to {@code NAME.1}, and older ones are numbered
 * on. The file is opened again if another program has moved it away. A device or a pipe is never
 * renamed.
 */
final class AuditFile implements AuditSink {
    private static final Logger LOG = LoggerFactory.getLogger(AuditFile.class);
    private static final FileAttribute<Set<PosixFilePermission>> OWNERS = PosixFilePermissions
            .asFileAttribute(PosixFilePermissions.fromString("rw-r-----"));
    private static final long SECOND_NANOS = 1_000_000_000;

    private final AuditConfig.Output settings;
    private final Path path;
    private @Nullable FileChannel channel;
    /** The inode that is open. */
    private @Nullable Object fileKey;
    private boolean isRegular;
    /** True after a write failed in the middle of a line. */
    private boolean isTorn;
    private boolean isUnsynced;
    private long syncedAtNanos = System.nanoTime();
    private boolean rotationFails;

    AuditFile(AuditConfig.Output settings, Path path) {
        this.settings = settings;
        this.path = path;
    }

    /** Opens the file for the first time. */
    AuditFile open() throws IOException {
        reopen();
        return this;
    }

    @Override
    public String name() {
        return "file";
    }

    @Override
    public void write(AuditEvent event, String json) throws IOException {
        byte[] line = (json + '\n').getBytes(StandardCharsets.UTF_8);
        FileChannel open = current();
        if (isRegular && open.size() > 0
                && open.size() + line.length > settings.roll().bytes()) {
            open = rotated(open);
        }
        ByteBuffer bytes = ByteBuffer
                .wrap(isTorn ? ("\n" + json + '\n').getBytes(StandardCharsets.UTF_8) : line);
        try {
            while (bytes.hasRemaining()) {
                open.write(bytes);
            }
            isTorn = false;
            isUnsynced = true;
        } finally {
            if (bytes.position() > 0 && bytes.hasRemaining()) {
                isTorn = true;
            }
        }
        if (settings.sync() == AuditConfig.Sync.EVENT) {
            sync(open);
        }
    }

    @Override
    public void tick() throws IOException {
        FileChannel open = current();
        if (isUnsynced && settings.sync() == AuditConfig.Sync.SECOND
                && System.nanoTime() - syncedAtNanos >= SECOND_NANOS) {
            sync(open);
        }
    }

    private void sync(FileChannel open) throws IOException {
        if (isRegular) {
            open.force(false);
        }
        isUnsynced = false;
        syncedAtNanos = System.nanoTime();
    }

    /** Returns the file that has the configured name now. */
    private FileChannel current() throws IOException {
        FileChannel open = channel;
        if (open != null && Objects.equals(fileKey, keyOf(path))) {
            return open;
        }
        return reopen();
    }

    private static @Nullable Object keyOf(Path file) throws IOException {
        try {
            return Files.readAttributes(file, BasicFileAttributes.class).fileKey();
        } catch (NoSuchFileException e) {
            return null;
        }
    }

    private FileChannel reopen() throws IOException {
        shut();
        FileChannel opened = FileChannel.open(path,
                Set.of(StandardOpenOption.CREATE, StandardOpenOption.WRITE,
                        StandardOpenOption.APPEND),
                OWNERS);
        channel = opened;
        BasicFileAttributes attributes = Files.readAttributes(path, BasicFileAttributes.class);
        fileKey = attributes.fileKey();
        isRegular = attributes.isRegularFile();
        return opened;
    }

    /**
     * Sets the full file aside. If that fails, events go on into the same file: a stream that is
     * too long is better than one that is lost.
     */
    private FileChannel rotated(FileChannel full) throws IOException {
        try {
            sync(full);
            for (int i = settings.keep(); i > 1; i--) {
                if (Files.exists(numbered(i - 1))) {
                    Files.move(numbered(i - 1), numbered(i), StandardCopyOption.REPLACE_EXISTING);
                }
            }
            Files.move(path, numbered(1), StandardCopyOption.REPLACE_EXISTING);
            rotationFails = false;
        } catch (IOException e) {
            if (!rotationFails) {
                rotationFails = true;
                LOG.warn("audit.file: cannot be renamed, so it grows on: {}", e.toString());
            }
            return full;
        }
        return reopen();
    }

    private Path numbered(int number) {
        return path.resolveSibling(path.getFileName() + "." + number);
    }

    private void shut() {
        FileChannel open = channel;
        channel = null;
        if (open != null) {
            try {
                if (isRegular && isUnsynced && settings.sync() != AuditConfig.Sync.OFF) {
                    open.force(false);
                }
                open.close();
            } catch (IOException e) {
                LOG.warn("audit.file: was not closed in order: {}", e.toString());
            }
        }
    }

    @Override
    public void close() {
        shut();
    }
}

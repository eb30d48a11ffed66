package io.railhead.cache.disk;

import static java.lang.foreign.ValueLayout.JAVA_BYTE;

import io.railhead.os.BlockFile;
import io.railhead.os.DirectFile;
import io.railhead.os.Mapping;
import io.railhead.os.OsException;
import java.io.IOException;
import java.lang.foreign.MemorySegment;
import java.nio.ByteBuffer;
import java.nio.channels.FileChannel;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.StandardOpenOption;
import java.nio.file.attribute.PosixFileAttributeView;
import java.nio.file.attribute.PosixFileAttributes;
import java.security.SecureRandom;
import java.util.Arrays;
import org.jspecify.annotations.Nullable;

/**
 * A file or device that an operator looks at, or makes a volume of. It is locked from its opening
 * on, so that no gateway has it meanwhile. Calls wait for the disk.
 */
public final class DiskFormat implements AutoCloseable {
    private final String path;
    private final long wanted;
    private BlockFile file;

    private DiskFormat(BlockFile ownedFile, String path, long wanted) {
        this.file = ownedFile;
        this.path = path;
        this.wanted = wanted;
    }

    /**
     * Opens a file or device. A file is made if there is none, for the owner of its folder. One
     * that is there keeps its length until {@link #format}.
     *
     * @param bytes the size of the volume; 0 for the whole device or existing file
     */
    public static DiskFormat open(String path, long bytes) throws DiskRefusedException {
        if (bytes != 0) {
            requireEnough(path, bytes);
        }
        boolean isNew = Files.notExists(Path.of(path));
        BlockFile file = VolumeFactory.opened(DirectFile::open, path, isNew ? bytes : 0);
        try {
            if (isNew) {
                giveToOwnerOfFolder(Path.of(path));
            }
            if (bytes == 0) {
                requireEnough(path, file.bytes());
            }
            return new DiskFormat(file, path, bytes);
        } catch (DiskRefusedException | RuntimeException | Error e) {
            file.close();
            throw e;
        }
    }

    private static void requireEnough(String path, long bytes) throws DiskRefusedException {
        if (bytes < DiskLayout.leastBytes()) {
            throw new DiskRefusedException(path + ": has " + bytes + " bytes, and a volume needs "
                    + DiskLayout.leastBytes());
        }
    }

    /** Root makes files that the gateway's user could not open. */
    private static void giveToOwnerOfFolder(Path path) throws DiskRefusedException {
        try {
            PosixFileAttributes folder = Files.readAttributes(
                    path.toAbsolutePath().getParent(), PosixFileAttributes.class);
            PosixFileAttributeView file = Files.getFileAttributeView(path,
                    PosixFileAttributeView.class);
            if (!file.readAttributes().owner().equals(folder.owner())) {
                file.setOwner(folder.owner());
                file.setGroup(folder.group());
            }
        } catch (IOException e) {
            throw new DiskRefusedException(path + ": cannot be given to the owner of its folder: "
                    + e.getMessage(), e);
        }
    }

    /** Returns what a file or device holds. It is only read, and may be in use. */
    public static DiskContent look(Path path) throws IOException {
        boolean isDevice = DirectFile.isDevice(path.toString());
        try (FileChannel channel = FileChannel.open(path, StandardOpenOption.READ)) {
            long bytes = channel.size();
            return content(path.toString(), bytes, isDevice,
                    (at, length) -> read(channel, at, length));
        }
    }

    private static byte[] read(FileChannel channel, long at, int length) throws IOException {
        ByteBuffer bytes = ByteBuffer.allocate(length);
        while (bytes.hasRemaining()) {
            if (channel.read(bytes, at + bytes.position()) < 0) {
                throw new IOException("it became shorter");
            }
        }
        return bytes.array();
    }

    /** Reads some bytes of a disk. */
    private interface Reader {
        byte[] read(long at, int length) throws IOException;
    }

    public DiskContent content() throws DiskRefusedException {
        try {
            boolean isDevice = DirectFile.isDevice(path);
            long bytes = isDevice ? file.bytes() : Files.size(Path.of(path));
            return content(path, bytes, isDevice, this::read);
        } catch (IOException | OsException e) {
            throw new DiskRefusedException(path + ": " + e.getMessage(), e);
        }
    }

    private byte[] read(long at, int length) {
        try (Mapping memory = Mapping.anonymous(length)) {
            file.read(memory.segment(), at);
            return memory.segment().toArray(JAVA_BYTE);
        }
    }

    private static DiskContent content(String path, long bytes, boolean isDevice, Reader reader)
            throws IOException {
        if (bytes < DiskLayout.leastBytes()) {
            return new DiskContent(path, bytes, isDevice,
                    bytes == 0 ? "" : "too few bytes for a volume", null);
        }
        long end = bytes - bytes % DiskLayout.UNIT_BYTES;
        byte[] first = reader.read(0, Signatures.BYTES);
        byte[] last = reader.read(end - Signatures.BYTES, Signatures.BYTES);
        Superblock found = superblock(first, last, bytes, reader);
        if (found != null) {
            return new DiskContent(path, bytes, isDevice, "",
                    DiskContent.Volume.of(found));
        }
        return new DiskContent(path, bytes, isDevice, foreign(first, last), null);
    }

    private static @Nullable Superblock superblock(byte[] first, byte[] last, long bytes,
            Reader reader) throws IOException {
        Superblock one = Superblock.decode(block(first, 0));
        Superblock other = Superblock.decode(block(last, last.length - DiskLayout.UNIT_BYTES));
        if (one != null && one.layout().volumeBytes() < bytes) {
            other = Superblock.decode(
                    reader.read(one.layout().secondSuperblockAt(), DiskLayout.UNIT_BYTES));
        }
        if (one != null && other != null && one.volume().equals(other.volume())) {
            return other.epoch() > one.epoch() ? other : one;
        }
        boolean isFree = Signatures.isZero(block(first, 0));
        return one == null && isFree ? other : one;
    }

    private static byte[] block(byte[] bytes, int at) {
        return Arrays.copyOfRange(bytes, at, at + DiskLayout.UNIT_BYTES);
    }

    private static String foreign(byte[] first, byte[] last) {
        if (Superblock.isOurs(block(first, 0))) {
            int format = Superblock.format(block(first, 0));
            return format == Superblock.FORMAT
                    ? "pages of a gateway, with damaged superblocks"
                    : "pages of a gateway in format " + format + "; this program has format "
                            + Superblock.FORMAT;
        }
        return Signatures.isZero(first) && Signatures.isZero(last) ? "" : Signatures.of(first);
    }

    /**
     * Drops all content, and makes an empty volume. A crash meanwhile leaves the old content, or a
     * disk that is blank or has some remains: then it is formatted again.
     */
    public DiskContent format(int pageBytes) throws DiskRefusedException {
        if (wanted != 0) {
            file.close();
            file = VolumeFactory.opened(DirectFile::open, path, wanted);
        }
        try (Mapping memory = Mapping.anonymous(Signatures.BYTES)) {
            DiskLayout layout = DiskLayout.of(file.bytes(), pageBytes);
            MemorySegment zeros = memory.segment();
            file.write(zeros, file.bytes() - Signatures.BYTES);
            file.write(zeros, 0);
            file.sync();
            new VolumeOpening(file, path, new SecureRandom()).open(layout).ownedList().close();
            return content();
        } catch (OsException | IllegalArgumentException e) {
            throw new DiskRefusedException(path + ": " + e.getMessage(), e);
        }
    }

    @Override
    public void close() {
        file.close();
    }
}

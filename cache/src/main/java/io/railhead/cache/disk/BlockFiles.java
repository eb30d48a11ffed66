package io.railhead.cache.disk;

import io.railhead.os.BlockFile;
import io.railhead.os.DirectFile;
import java.io.IOException;
import java.nio.channels.FileChannel;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.StandardOpenOption;

/** Opens files of other parts as the disk tier opens its own. Blocks. */
public final class BlockFiles {
    private BlockFiles() {}

    /**
     * Opens a file or device, or makes a new file, whose space is taken now. On return a power cut
     * does not lose the file's name. The folder must be there.
     *
     * @param bytes the size, which an existing file must have already
     */
    public static BlockFile open(String path, long bytes) throws DiskRefusedException {
        Path file = Path.of(path);
        try {
            if (Files.isRegularFile(file) && Files.size(file) != 0 && Files.size(file) != bytes) {
                throw new DiskRefusedException(path + ": it has " + Files.size(file)
                        + " bytes, and the configuration says " + bytes);
            }
        } catch (IOException e) {
            throw new DiskRefusedException(path + ": " + e, e);
        }
        BlockFile opened = VolumeFactory.opened(DirectFile::open, path, bytes);
        try {
            if (!DirectFile.isDevice(path)) {
                syncFolder(file.toAbsolutePath().resolveSibling(""));
            }
            return opened;
        } catch (IOException e) {
            opened.close();
            throw new DiskRefusedException(path + ": its folder cannot be flushed: " + e, e);
        }
    }

    /** Flushes the names in a folder, also those of an earlier start that was cut off. */
    private static void syncFolder(Path folder) throws IOException {
        try (FileChannel channel = FileChannel.open(folder, StandardOpenOption.READ)) {
            channel.force(true);
        }
    }

    /** Returns the refusal of a file that was opened, for the reason that a cause has. */
    public static DiskRefusedException refused(String path, RuntimeException cause) {
        return new DiskRefusedException(path + ": " + cause.getMessage(), cause);
    }
}

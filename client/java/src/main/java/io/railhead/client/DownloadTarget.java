package io.railhead.client;

import java.io.IOException;
import java.nio.file.FileSystemLoopException;
import java.nio.file.Files;
import java.nio.file.Path;

/**
 * The place of a downloaded object on this machine, with symbolic links followed.
 *
 * @param path the file itself, or the name under which a descriptor is open
 */
record DownloadTarget(Path path, Kind kind) {
    private static final int MOST_LINKS = 40;
    /** Links below it stand for open descriptors, which only opening them reaches. */
    private static final Path PROC = Path.of("/proc");

    enum Kind {
        /** A regular file, which a complete file replaces. */
        FILE,
        /** A device, a FIFO or an open descriptor, which is written in order. */
        STREAM
    }

    static DownloadTarget of(Path file) throws IOException {
        if (Files.isDirectory(file)) {
            throw new IOException(file + " is a directory");
        }
        Path path = file.toAbsolutePath();
        for (int links = 0; links <= MOST_LINKS; links++) {
            Path folder = folder(path);
            path = folder.resolve(path.getFileName());
            if (folder.startsWith(PROC) || isNoFile(path)) {
                return new DownloadTarget(path, Kind.STREAM);
            }
            if (!Files.isSymbolicLink(path)) {
                return new DownloadTarget(path, Kind.FILE);
            }
            path = folder.resolve(Files.readSymbolicLink(path));
        }
        throw new FileSystemLoopException(file.toString());
    }

    private static boolean isNoFile(Path path) {
        return !Files.isSymbolicLink(path) && Files.exists(path) && !Files.isRegularFile(path);
    }

    private static Path folder(Path path) throws IOException {
        Path folder = path.getParent();
        if (folder == null || !Files.isDirectory(folder)) {
            throw new IOException("no such directory: " + folder);
        }
        return folder.toRealPath();
    }
}

package io.railhead.client;

import java.io.IOException;
import java.nio.ByteBuffer;
import java.nio.channels.FileChannel;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.StandardCopyOption;
import java.nio.file.StandardOpenOption;

/**
 * A file that appears only when it is complete: written beside its place under another name,
 * verified, renamed. On any failure the other name is gone and an older file is still there.
 */
final class FileDownload {
    private final ObjectReader reader;
    private final PartTransport transport;

    FileDownload(ObjectReader reader, PartTransport transport) {
        this.reader = reader;
        this.transport = transport;
    }

    ObjectInfo get(ObjectName name, Path file, Progress progress) throws IOException {
        Path target = target(file);
        Path partial = target.resolveSibling("." + target.getFileName() + "."
                + Long.toHexString(System.nanoTime()) + ".partial");
        try {
            ObjectInfo info = write(name, partial, progress);
            verify(info, partial);
            Files.move(partial, target, StandardCopyOption.ATOMIC_MOVE,
                    StandardCopyOption.REPLACE_EXISTING);
            return info;
        } finally {
            Files.deleteIfExists(partial);
        }
    }

    /** What has come stays beside the file where it breaks off, and counts the next time. */
    ObjectInfo resume(ObjectName name, Path file, Progress progress) throws IOException {
        try (PartialFile partial = PartialFile.open(target(file))) {
            ObjectInfo info = reader.resume(name, partial, progress);
            try {
                verify(info, partial.data());
            } catch (PermanentException e) {
                partial.forget();
                throw e;
            }
            partial.finish();
            return info;
        }
    }

    private static Path target(Path file) throws IOException {
        Path target = file.toAbsolutePath();
        if (Files.isDirectory(target)) {
            throw new IOException(file + " is a directory");
        }
        Path folder = target.getParent();
        if (folder == null || !Files.isDirectory(folder)) {
            throw new IOException("no such directory: " + folder);
        }
        return target;
    }

    private ObjectInfo write(ObjectName name, Path partial, Progress progress) throws IOException {
        try (FileChannel channel = FileChannel.open(partial, StandardOpenOption.CREATE_NEW,
                StandardOpenOption.WRITE)) {
            return reader.read(name, (offset, bytes) -> writeFully(channel, offset, bytes),
                    progress);
        }
    }

    private static void writeFully(FileChannel channel, long offset, ByteBuffer bytes)
            throws IOException {
        long position = offset;
        while (bytes.hasRemaining()) {
            position += channel.write(bytes, position);
        }
    }

    private void verify(ObjectInfo info, Path partial) throws IOException {
        if (Files.size(partial) != info.bytes()) {
            throw new PermanentException("wrote " + Files.size(partial) + " of " + info.bytes()
                    + " bytes of " + info.name());
        }
        ObjectHeads.Head head = transport.head(info.name());
        // A newer version's checksum says nothing about the one that was read.
        if (head.info().etag().equals(info.etag()) && head.checksum() != null
                && !head.checksum().matches(partial)) {
            throw new PermanentException(info.name() + " does not have the "
                    + head.checksum().kind() + " that the store names");
        }
    }
}

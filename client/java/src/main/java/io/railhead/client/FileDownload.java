package io.railhead.client;

import java.io.IOException;
import java.nio.ByteBuffer;
import java.nio.channels.FileChannel;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.StandardCopyOption;
import java.nio.file.StandardOpenOption;

/**
 * Downloads a file that appears only when complete: it is written beside its place under another
 * name, verified, and renamed. After a failure, or a signal that ends the process, the other name
 * is deleted and an older file is unchanged. A target that is no regular file is written to in
 * place.
 */
final class FileDownload {
    private final ObjectReader reader;
    private final ObjectReader inOrder;
    private final PartTransport transport;

    /** @param inOrder delivers one part after the other */
    FileDownload(ObjectReader reader, ObjectReader inOrder, PartTransport transport) {
        this.reader = reader;
        this.inOrder = inOrder;
        this.transport = transport;
    }

    ObjectInfo get(ObjectName name, Path file, Progress progress) throws IOException {
        DownloadTarget downloadTarget = DownloadTarget.of(file);
        return switch (downloadTarget.kind()) {
            case FILE -> replace(name, downloadTarget.path(), progress);
            case STREAM -> stream(name, downloadTarget.path(), progress);
        };
    }

    private ObjectInfo stream(ObjectName name, Path target, Progress progress)
            throws IOException {
        try (FileChannel channel = FileChannel.open(target, StandardOpenOption.WRITE)) {
            return inOrder.read(name, (_, bytes) -> {
                while (bytes.hasRemaining()) {
                    channel.write(bytes);
                }
            }, progress);
        }
    }

    private ObjectInfo replace(ObjectName name, Path target, Progress progress)
            throws IOException {
        Path partial = target.resolveSibling("." + target.getFileName() + "."
                + Long.toHexString(System.nanoTime()) + ".partial");
        try (Unfinished<FileChannel> begun = Unfinished.begin(() -> FileChannel.open(partial,
                StandardOpenOption.CREATE_NEW, StandardOpenOption.WRITE),
                _ -> Files.deleteIfExists(partial))) {
            ObjectInfo info = write(name, begun.value(), progress);
            verify(info, partial);
            Files.move(partial, target, StandardCopyOption.ATOMIC_MOVE,
                    StandardCopyOption.REPLACE_EXISTING);
            return info;
        } finally {
            Files.deleteIfExists(partial);
        }
    }

    /**
     * Downloads as get does, but keeps received bytes beside the file after a failure; the next
     * call continues with them. A stream keeps nothing.
     */
    ObjectInfo resume(ObjectName name, Path file, Progress progress) throws IOException {
        DownloadTarget downloadTarget = DownloadTarget.of(file);
        if (downloadTarget.kind() == DownloadTarget.Kind.STREAM) {
            return stream(name, downloadTarget.path(), progress);
        }
        try (PartialFile partial = PartialFile.open(downloadTarget.path())) {
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

    private ObjectInfo write(ObjectName name, FileChannel partial, Progress progress)
            throws IOException {
        try (partial) {
            return reader.read(name, (offset, bytes) -> writeFully(partial, offset, bytes),
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
        // A newer version's checksum does not concern the version that was read.
        if (head.info().etag().equals(info.etag()) && head.checksum() != null
                && !head.checksum().matches(partial)) {
            throw new PermanentException(info.name() + " does not have the "
                    + head.checksum().kind() + " that the store names");
        }
    }
}

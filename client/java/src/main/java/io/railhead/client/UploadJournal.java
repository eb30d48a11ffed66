package io.railhead.client;

import static java.nio.charset.StandardCharsets.UTF_8;

import java.io.Closeable;
import java.io.IOException;
import java.net.URI;
import java.net.URLDecoder;
import java.net.URLEncoder;
import java.nio.file.Path;
import java.time.DateTimeException;
import java.time.Instant;
import java.util.ArrayList;
import java.util.List;
import java.util.zip.CRC32C;
import org.jspecify.annotations.Nullable;

/**
 * A journal beside a file about its multipart upload; the store knows the parts that have arrived.
 * Each destination has its own. One call at a time; its owner's thread.
 */
final class UploadJournal implements Closeable {
    private static final String FORMAT = "railhead upload 1";

    private final ObjectName name;
    private final List<String> head;
    private final Journal journal;

    /** An upload, and the version of its file. */
    record Begun(MultipartUpload upload, FileVersion file) {
        Begun {
            if (Math.ceilDiv(file.bytes(), upload.partBytes()) > MultipartUpload.MOST_PARTS) {
                throw new IllegalArgumentException("too many parts of " + upload.partBytes());
            }
        }
    }

    private UploadJournal(ObjectName name, List<String> head, Journal journal) {
        this.name = name;
        this.head = head;
        this.journal = journal;
    }

    /** Opens the journal of this file and destination, without waiting for another holder. */
    static UploadJournal open(Path file, URI endpoint, ObjectName name) throws IOException {
        List<String> head = List.of(FORMAT, endpoint.toString(),
                URLEncoder.encode(name.toString(), UTF_8));
        CRC32C destination = new CRC32C();
        destination.update(String.join("\n", head).getBytes(UTF_8));
        Path path = Journal.beside(file.toAbsolutePath(),
                String.format(".%08x.upload", destination.getValue()));
        return new UploadJournal(name, head,
                Journal.open(path, file + " is being stored by somebody else now"));
    }

    /** Returns the noted upload; null if there is none or it is unknown. */
    @Nullable
    Begun begun() throws IOException {
        List<String> lines = journal.lines();
        int known = head.size();
        if (lines.size() != known + 4 || !lines.subList(0, known).equals(head)) {
            return null;
        }
        try {
            return new Begun(
                    new MultipartUpload(name, URLDecoder.decode(lines.get(known), UTF_8),
                            Long.parseLong(lines.get(known + 1))),
                    new FileVersion(Long.parseLong(lines.get(known + 2)),
                            Instant.parse(lines.get(known + 3))));
        } catch (IllegalArgumentException | DateTimeException e) {
            return null;
        }
    }

    void begin(Begun begun) throws IOException {
        List<String> lines = new ArrayList<>(head);
        lines.add(URLEncoder.encode(begun.upload().id(), UTF_8));
        lines.add(Long.toString(begun.upload().partBytes()));
        lines.add(Long.toString(begun.file().bytes()));
        lines.add(begun.file().modified().toString());
        journal.clear();
        journal.append(lines);
    }

    /** Returns whether no upload is noted. */
    boolean isEmpty() throws IOException {
        return journal.isEmpty();
    }

    /** Forgets the upload, which is complete or useless. */
    void forget() throws IOException {
        journal.clear();
    }

    @Override
    public void close() throws IOException {
        journal.close();
    }
}

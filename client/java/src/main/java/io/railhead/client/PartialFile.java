package io.railhead.client;

import static java.nio.charset.StandardCharsets.UTF_8;

import java.io.Closeable;
import java.io.IOException;
import java.net.URLEncoder;
import java.nio.ByteBuffer;
import java.nio.channels.FileChannel;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.StandardCopyOption;
import java.nio.file.StandardOpenOption;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.TreeMap;
import java.util.zip.CRC32C;
import org.jspecify.annotations.Nullable;

/**
 * An interrupted download: a file beside its target, and a journal of its complete parts with their
 * checksums. A crash leaves the file itself in an unknown state. One process at a time.
 *
 * <p> Any thread may call {@link #accept}; all other calls are its owner's.
 */
final class PartialFile implements PartSink, Closeable {
    private static final String FORMAT = "railhead parts 1";
    private static final int READ_BYTES = 1 << 20;

    private final Path target;
    private final Path data;
    private final Journal journal;
    private final FileChannel bytes;
    /** The offsets of whole parts, with their CRC32C. Guarded by this object's monitor. */
    private final Map<Long, Long> whole = new TreeMap<>();
    /** Guarded by this object's monitor. */
    private boolean noting;
    /** Guarded by this object's monitor. */
    private boolean finished;

    private PartialFile(Path target, Journal journal) throws IOException {
        this.target = target;
        this.data = Journal.beside(target, ".partial");
        this.journal = journal;
        this.bytes = FileChannel.open(data, StandardOpenOption.CREATE, StandardOpenOption.READ,
                StandardOpenOption.WRITE);
    }

    /** Opens the partial file of a target, without waiting for another holder. */
    static PartialFile open(Path target) throws IOException {
        Journal journal = Journal.open(Journal.beside(target, ".parts"),
                target + " is being read by somebody else now");
        try {
            return new PartialFile(target, journal);
        } catch (IOException e) {
            journal.close();
            throw e;
        }
    }

    /**
     * Returns the version that was begun with this part size; null if there is none or it is
     * unknown. Reads and checks the received parts.
     */
    synchronized @Nullable Part begun(ObjectName name, int partBytes) throws IOException {
        List<String> lines = journal.lines();
        List<String> head = head(name, partBytes);
        if (lines.size() < head.size() + 2 || !lines.subList(0, head.size()).equals(head)) {
            return null;
        }
        try {
            long total = Long.parseLong(lines.get(head.size() + 1));
            for (String line : lines.subList(head.size() + 2, lines.size())) {
                int blank = line.indexOf(' ');
                whole.put(Long.valueOf(line.substring(0, blank)),
                        Long.valueOf(line.substring(blank + 1)));
            }
            for (Map.Entry<Long, Long> part : Map.copyOf(whole).entrySet()) {
                long offset = part.getKey();
                if (sum(offset, (int) Math.min(partBytes, total - offset)) != part.getValue()) {
                    whole.remove(offset);
                }
            }
            noting = true;
            return new Part(0, (int) Math.min(partBytes, total), total, lines.get(head.size()));
        } catch (IllegalArgumentException | IndexOutOfBoundsException e) {
            whole.clear();
            return null;
        }
    }

    /** Returns the checksum of bytes in the file. */
    private long sum(long offset, int length) throws IOException {
        CRC32C crc = new CRC32C();
        ByteBuffer read = ByteBuffer.allocate(READ_BYTES);
        for (long at = offset; at < offset + length; at += read.position()) {
            read.clear().limit((int) Math.min(READ_BYTES, offset + length - at));
            if (bytes.read(read, at) <= 0) {
                break;
            }
            crc.update(read.array(), 0, read.position());
        }
        return crc.getValue();
    }

    private static List<String> head(ObjectName name, int partBytes) {
        return List.of(FORMAT, URLEncoder.encode(name.toString(), UTF_8),
                Integer.toString(partBytes));
    }

    /** Starts to note the parts that are whole. */
    synchronized void begin(ObjectName name, int partBytes, Part first) throws IOException {
        List<String> lines = new ArrayList<>(head(name, partBytes));
        lines.add(first.etag());
        lines.add(Long.toString(first.total()));
        journal.append(lines);
        noting = true;
        for (Map.Entry<Long, Long> part : whole.entrySet()) {
            note(part.getKey(), part.getValue());
        }
    }

    synchronized boolean has(long offset) {
        return whole.containsKey(offset);
    }

    @Override
    public void accept(long offset, ByteBuffer part) throws IOException {
        CRC32C crc = new CRC32C();
        crc.update(part.duplicate());
        long position = offset;
        while (part.hasRemaining()) {
            position += bytes.write(part, position);
        }
        synchronized (this) {
            whole.put(offset, crc.getValue());
            if (noting) {
                note(offset, crc.getValue());
            }
        }
    }

    private void note(long offset, long sum) throws IOException {
        journal.append(List.of(offset + " " + sum));
    }

    /** Discards the received bytes. */
    synchronized void forget() throws IOException {
        noting = false;
        whole.clear();
        journal.clear();
        bytes.truncate(0);
    }

    Path data() {
        return data;
    }

    /** Moves the complete and verified file to its place. */
    synchronized void finish() throws IOException {
        finished = true;
        Files.move(data, target, StandardCopyOption.ATOMIC_MOVE,
                StandardCopyOption.REPLACE_EXISTING);
        journal.clear();
    }

    /** Closes the file, and deletes it if no part has come. */
    @Override
    public synchronized void close() throws IOException {
        try (journal; bytes) {
            if (whole.isEmpty() && !finished) {
                Files.deleteIfExists(data);
                journal.clear();
            }
        }
    }
}

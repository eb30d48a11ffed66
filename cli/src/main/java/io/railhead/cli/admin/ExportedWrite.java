package io.railhead.cli.admin;

import com.fasterxml.jackson.core.JsonProcessingException;
import com.fasterxml.jackson.databind.JsonNode;
import io.railhead.client.Progress;
import java.io.ByteArrayOutputStream;
import java.io.EOFException;
import java.io.IOException;
import java.io.InputStream;
import java.nio.ByteBuffer;
import java.nio.channels.FileChannel;
import java.nio.charset.StandardCharsets;
import java.nio.file.FileAlreadyExistsException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.StandardOpenOption;
import java.nio.file.attribute.PosixFilePermissions;
import java.security.MessageDigest;
import java.security.NoSuchAlgorithmException;
import java.util.HexFormat;
import java.util.Set;

/**
 * The files of one exported write: its bytes, and then its description. Both are flushed, since
 * their reader may discard the write next. One thread.
 */
final class ExportedWrite {
    private static final int PIECE_BYTES = 1 << 20;
    /** A description has up to 10,000 parts. */
    private static final int LONGEST_LINE = 4 << 20;

    private final Path file;
    private final Path description;
    private final Progress progress;
    private final byte[] piece = new byte[PIECE_BYTES];

    /** @param progress is told of each piece */
    ExportedWrite(Path file, Path description, Progress progress) {
        this.file = file;
        this.description = description;
        this.progress = progress;
    }

    /**
     * Writes both files, or none.
     *
     * @throws IOException if the answer is cut, or its bytes have other ETags than it says
     */
    void write(InputStream answer) throws IOException {
        String line = line(answer);
        JsonNode said = parse(line);
        progress.expect(said.path("bytes").asLong());
        try (FileChannel to = create(file)) {
            copy(said, answer, to);
            to.force(true);
            describe(line + "\n");
        } catch (FileAlreadyExistsException e) {
            if (!String.valueOf(e.getFile()).equals(file.toString())) {
                Files.deleteIfExists(file);
            }
            throw e;
        } catch (IOException e) {
            Files.deleteIfExists(file);
            throw e;
        }
        flushFolder();
    }

    /** Leaves a file that somebody else has made meanwhile as it is. */
    private void describe(String line) throws IOException {
        try (FileChannel told = create(description)) {
            put(told, line.getBytes(StandardCharsets.UTF_8));
            told.force(true);
        } catch (FileAlreadyExistsException e) {
            throw e;
        } catch (IOException e) {
            Files.deleteIfExists(description);
            throw e;
        }
    }

    private static String line(InputStream answer) throws IOException {
        ByteArrayOutputStream line = new ByteArrayOutputStream();
        for (int next = answer.read(); next != '\n'; next = answer.read()) {
            if (next < 0 || line.size() == LONGEST_LINE) {
                throw new IOException("the gateway's answer is no export");
            }
            line.write(next);
        }
        return line.toString(StandardCharsets.UTF_8);
    }

    private static JsonNode parse(String line) throws IOException {
        JsonNode said;
        try {
            said = AdminOptions.JSON.readTree(line);
        } catch (JsonProcessingException e) {
            throw new IOException("the gateway's answer is not JSON", e);
        }
        if (!said.path("bytes").isIntegralNumber()) {
            throw new IOException("the gateway's answer is no export");
        }
        return said;
    }

    private static FileChannel create(Path path) throws IOException {
        return FileChannel.open(path,
                Set.of(StandardOpenOption.CREATE_NEW, StandardOpenOption.WRITE),
                PosixFilePermissions.asFileAttribute(
                        PosixFilePermissions.fromString("rw-------")));
    }

    private void copy(JsonNode said, InputStream answer, FileChannel to) throws IOException {
        if (said.path("parts").isEmpty()) {
            copy(said, "the object", answer, to);
        }
        for (JsonNode part : said.path("parts")) {
            copy(part, "part " + part.path("number").asInt(), answer, to);
        }
        if (to.size() != said.path("bytes").asLong() || answer.read() >= 0) {
            throw new IOException("the gateway's answer has other bytes than it says");
        }
    }

    /** Copies what one ETag is of. */
    private void copy(JsonNode said, String name, InputStream answer, FileChannel to)
            throws IOException {
        MessageDigest digest = md5();
        long left = said.path("bytes").asLong();
        while (left > 0) {
            int count = answer.read(piece, 0, (int) Math.min(piece.length, left));
            if (count < 0) {
                throw new EOFException("the gateway broke off");
            }
            digest.update(piece, 0, count);
            put(to, ByteBuffer.wrap(piece, 0, count));
            progress.advance(count);
            left -= count;
        }
        String etag = said.path("etag").asText().replace("\"", "");
        if (!etag.isEmpty() && !etag.equals(HexFormat.of().formatHex(digest.digest()))) {
            throw new IOException(name + " does not have the ETag " + etag + ", which the gateway"
                    + " acknowledged");
        }
    }

    private static MessageDigest md5() {
        try {
            return MessageDigest.getInstance("MD5");
        } catch (NoSuchAlgorithmException e) {
            throw new IllegalStateException("each JDK has MD5", e);
        }
    }

    private static void put(FileChannel to, byte[] bytes) throws IOException {
        put(to, ByteBuffer.wrap(bytes));
    }

    private static void put(FileChannel to, ByteBuffer bytes) throws IOException {
        while (bytes.hasRemaining()) {
            int _ = to.write(bytes);
        }
    }

    private void flushFolder() throws IOException {
        Path folder = file.toAbsolutePath().getParent();
        if (folder != null) {
            try (FileChannel names = FileChannel.open(folder, StandardOpenOption.READ)) {
                names.force(true);
            }
        }
    }
}

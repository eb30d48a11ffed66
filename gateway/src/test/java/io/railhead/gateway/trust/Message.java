package io.railhead.gateway.trust;

import static java.nio.charset.StandardCharsets.ISO_8859_1;

import java.io.EOFException;
import java.io.IOException;
import java.io.InputStream;
import java.io.OutputStream;
import java.util.ArrayList;
import java.util.List;
import org.jspecify.annotations.Nullable;

/**
 * An HTTP/1.1 request or answer with all of its body, whose length must be announced.
 *
 * @param start the request line, or the status line
 */
@SuppressWarnings("ArrayRecordComponent") // Compared with nothing; whoever has it may not write.
public record Message(String start, List<Header> headers, byte[] body) {
    private static final int MAX_LINE = 64 << 10;

    public record Header(String name, String value) {}

    public Message {
        headers = List.copyOf(headers);
    }

    static Message answer(int status, byte[] body) {
        return new Message("HTTP/1.1 " + status + " -", List.of(), body);
    }

    static Message error(int status, String code) {
        return answer(status, ("<Error><Code>" + code + "</Code></Error>").getBytes(ISO_8859_1));
    }

    /** Null where the connection ended before it. A request's sender is told to go on. */
    static @Nullable Message readRequest(InputStream in, OutputStream out) throws IOException {
        Message head = readHead(in);
        if (head == null) {
            return null;
        }
        if ("100-continue".equals(head.header("expect"))) {
            out.write("HTTP/1.1 100 Continue\r\n\r\n".getBytes(ISO_8859_1));
            out.flush();
        }
        return head.withBodyFrom(in);
    }

    /** The answer to a request; interim ones are skipped. */
    static Message readAnswer(InputStream in, String method) throws IOException {
        while (true) {
            Message head = readHead(in);
            if (head == null) {
                throw new EOFException("no answer");
            }
            if (head.status() >= 200) {
                boolean hasBody = !method.equals("HEAD") && head.status() != 204
                        && head.status() != 304;
                return hasBody ? head.withBodyFrom(in) : head;
            }
        }
    }

    private static @Nullable Message readHead(InputStream in) throws IOException {
        String start = readLine(in);
        if (start == null) {
            return null;
        }
        List<Header> headers = new ArrayList<>();
        while (true) {
            String line = readLine(in);
            if (line == null) {
                throw new EOFException("a head that ends in the middle");
            }
            if (line.isEmpty()) {
                return new Message(start, headers, new byte[0]);
            }
            int colon = line.indexOf(':');
            headers.add(new Header(line.substring(0, colon), line.substring(colon + 1).trim()));
        }
    }

    private static @Nullable String readLine(InputStream in) throws IOException {
        StringBuilder line = new StringBuilder();
        while (line.length() < MAX_LINE) {
            int next = in.read();
            if (next < 0) {
                return null;
            }
            if (next == '\n') {
                return line.substring(0, line.length() - 1);
            }
            line.append((char) next);
        }
        throw new IOException("line is too long");
    }

    private Message withBodyFrom(InputStream in) throws IOException {
        byte[] all = in.readNBytes(announced());
        if (all.length < announced()) {
            throw new EOFException("a body that ends in the middle");
        }
        return withBody(all);
    }

    private int announced() throws IOException {
        if (header("transfer-encoding") != null) {
            throw new IOException("a body without its length");
        }
        String length = header("content-length");
        return length == null ? 0 : Integer.parseInt(length);
    }

    public String method() {
        return start.substring(0, start.indexOf(' '));
    }

    Message at(String otherPath) {
        return new Message(start.replace(" " + path(), " " + otherPath), headers, body);
    }

    /** Path and query as they were sent. */
    public String target() {
        return start.split(" ", 3)[1];
    }

    public String path() {
        String target = target();
        int query = target.indexOf('?');
        return query < 0 ? target : target.substring(0, query);
    }

    /** Without its question mark; empty where there is none. */
    public String query() {
        String target = target();
        int query = target.indexOf('?');
        return query < 0 ? "" : target.substring(query + 1);
    }

    /** Where in the object an answer's body begins. */
    int firstByte() {
        String range = header("content-range");
        return range == null
                ? 0
                : Integer.parseInt(range.substring("bytes ".length(), range.indexOf('-')));
    }

    public int status() {
        return Integer.parseInt(start.split(" ", 3)[1]);
    }

    public @Nullable String header(String name) {
        for (Header header : headers) {
            if (header.name.equalsIgnoreCase(name)) {
                return header.value;
            }
        }
        return null;
    }

    /** Who signed; empty where nobody did. */
    public String accessKey() {
        String authorization = header("authorization");
        int from = authorization == null ? -1 : authorization.indexOf("Credential=");
        return authorization == null || from < 0
                ? ""
                : authorization.substring(from + 11, authorization.indexOf('/', from));
    }

    Message without(String name) {
        return new Message(start,
                headers.stream().filter(header -> !header.name.equalsIgnoreCase(name)).toList(),
                body);
    }

    Message with(String name, String value) {
        List<Header> more = new ArrayList<>(without(name).headers);
        more.add(new Header(name, value));
        return new Message(start, more, body);
    }

    Message withBody(byte[] other) {
        return new Message(start, headers, other);
    }

    byte[] headBytes() {
        StringBuilder head = new StringBuilder(start).append("\r\n");
        headers.forEach(
                header -> head.append(header.name)
                        .append(": ")
                        .append(header.value)
                        .append("\r\n"));
        return head.append("\r\n").toString().getBytes(ISO_8859_1);
    }
}

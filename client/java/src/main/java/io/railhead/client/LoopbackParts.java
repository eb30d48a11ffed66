package io.railhead.client;

import java.io.EOFException;
import java.io.IOException;
import java.nio.ByteBuffer;
import java.nio.channels.FileChannel;
import java.security.SecureRandom;
import java.util.HexFormat;

/**
 * Parts by one-sided delivery: the request goes over HTTP with a token that names a window of
 * registered memory, the bytes never do. A part counts as delivered only if the status, the reply
 * header and the byte count say so and the body is empty; an answer with a body and no reply is a
 * decline, which is used and counted.
 */
final class LoopbackParts implements PartTransport {
    private static final String REPLY = "x-amz-rdma-reply";
    /** S3's least size for a part that is not the last. */
    private static final int LEAST_UPLOAD_WINDOW = 5 << 20;

    private final S3Http http;
    private final HttpParts fallback;
    private final LoopbackSessions sessions;
    private final Declines declines;
    private final SecureRandom random = new SecureRandom();

    LoopbackParts(S3Http http, HttpParts fallback, LoopbackSessions sessions, Declines declines) {
        this.http = http;
        this.fallback = fallback;
        this.sessions = sessions;
        this.declines = declines;
    }

    @Override
    public Part fetch(PartRequest request, PartSink sink) throws IOException {
        if (request.bytes() > sessions.current().windowBytes()) {
            declines.count("window");
            return fallback.fetch(request, sink);
        }
        Delivered delivered = Attempts.idempotent(() -> attempt(request));
        try {
            Part part = delivered.part();
            sink.accept(part.offset(), delivered.window().bytes(part.bytes()));
            return part;
        } finally {
            settle(delivered.window(), true);
        }
    }

    /** A part and the window that it lies in, which whoever has this gives back. */
    private record Delivered(Part part, LoopbackSession.Window window) {}

    private Delivered attempt(PartRequest request) throws IOException {
        LoopbackSession.Window window = sessions.lend();
        boolean answered = false;
        boolean delivered = false;
        try {
            Call call = tokened(request.call(), window.token(request.bytes()));
            try (Answer answer = http.send(http.sign(call))) {
                // Whatever it says, the gateway has fenced before it answered.
                answered = true;
                Part part = deliver(answer, request, window);
                delivered = true;
                return new Delivered(part, window);
            }
        } finally {
            if (!delivered) {
                settle(window, answered);
            }
        }
    }

    private Part deliver(Answer answer, PartRequest request, LoopbackSession.Window window)
            throws IOException {
        if (answer.status() / 100 != 2) {
            throw answer.refusal();
        }
        if (answer.findHeader(REPLY).isEmpty()) {
            declines.count(reason(answer));
            return HttpParts.readBody(answer, request, window.bytes(request.bytes()));
        }
        Part part = Part.of(answer, request);
        String reply = answer.requireHeader(REPLY);
        String moved = answer.requireHeader("x-amz-rdma-bytes-transferred");
        if (!reply.equals(Integer.toString(answer.status()))
                || !moved.equals(Integer.toString(part.bytes())) || answer.body().read() >= 0) {
            throw new PermanentException("HTTP " + answer.status() + " with " + REPLY + " " + reply
                    + " and " + moved + " bytes moved is not a delivery of " + part.bytes());
        }
        return part;
    }

    @Override
    public String store(StoreRequest request) throws IOException {
        if (request.bytes() == 0 || request.bytes() > sessions.current().windowBytes()) {
            return fallback.store(request);
        }
        LoopbackSession.Window window = sessions.lend();
        boolean answered = false;
        String etag;
        try {
            ByteBuffer bytes = window.bytes((int) request.bytes());
            try {
                fill(bytes, request.file(), request.offset());
            } catch (IOException e) {
                // Nothing was sent: the window is as good as before.
                answered = true;
                throw e;
            }
            Checksum crc = Checksum.crc32(bytes.flip());
            Call call = tokened(request.call(), window.token(bytes.remaining()))
                    .header(crc.kind().header(), crc.value())
                    .body(Call.Body.EMPTY);
            try (Answer answer = http.send(http.sign(call))) {
                answered = true;
                etag = stored(answer);
            }
        } finally {
            settle(window, answered);
        }
        return etag.isEmpty() ? fallback.store(request) : etag;
    }

    /** The ETag, or nothing where the gateway declined. */
    private String stored(Answer answer) throws IOException {
        if (answer.status() == 501) {
            declines.count(reason(answer));
            return "";
        }
        if (answer.status() != 200) {
            throw answer.refusal();
        }
        if (!answer.findHeader(REPLY).orElse("").equals("200")) {
            // A store that ignores the token has stored nothing in the object's place.
            throw new PermanentException("the endpoint did not read the object: it answered"
                    + " without " + REPLY + " 200 and may have stored an empty one");
        }
        return answer.requireHeader("ETag");
    }

    private static String reason(Answer answer) {
        return answer.findHeader("x-railhead-rdma-declined").orElse("not served");
    }

    /** Signed afresh each time: equal signatures would look like a replay. */
    private Call tokened(Call call, String token) {
        byte[] id = new byte[16];
        random.nextBytes(id);
        return call.unsignedPayload()
                .header("x-amz-rdma-token", token)
                .header("x-railhead-request-id", HexFormat.of().formatHex(id));
    }

    private static void fill(ByteBuffer into, FileChannel file, long offset) throws IOException {
        long position = offset;
        while (into.hasRemaining()) {
            int n = file.read(into, position);
            if (n < 0) {
                throw new EOFException("the file became shorter while it was sent");
            }
            position += n;
        }
    }

    private static void settle(LoopbackSession.Window window, boolean answered) {
        if (answered) {
            window.session().giveBack(window);
        } else {
            window.session().giveUp(window);
        }
    }

    @Override
    public long storeLimit() throws IOException {
        int window = sessions.current().windowBytes();
        return window < LEAST_UPLOAD_WINDOW ? fallback.storeLimit() : window;
    }

    @Override
    public void close() {
        sessions.close();
        fallback.close();
    }
}

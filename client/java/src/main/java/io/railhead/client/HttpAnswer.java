package io.railhead.client;

import io.railhead.protocol.channel.Answer;
import java.io.EOFException;
import java.io.IOException;
import java.io.InputStream;
import java.nio.ByteBuffer;
import java.util.Optional;
import software.amazon.awssdk.http.Abortable;
import software.amazon.awssdk.http.HttpExecuteResponse;

/** A store's response whose body is not read yet. One thread; closing returns the connection. */
final class HttpAnswer implements AutoCloseable {
    private static final int ERROR_DOCUMENT_LIMIT = 64 << 10;

    private final HttpExecuteResponse response;

    HttpAnswer(HttpExecuteResponse response) {
        this.response = response;
    }

    int status() {
        return response.httpResponse().statusCode();
    }

    Optional<String> findHeader(String name) {
        return response.httpResponse().firstMatchingHeader(name);
    }

    String requireHeader(String name) throws IOException {
        return findHeader(name)
                .orElseThrow(() -> new PermanentException("the answer has no " + name + " header"));
    }

    InputStream body() {
        return response.responseBody()
                .<InputStream>map(body -> body)
                .orElseGet(InputStream::nullInputStream);
    }

    /** Reads the body into {@code into}, which the body must fill exactly. */
    void readFully(ByteBuffer into) throws IOException {
        InputStream in = body();
        byte[] piece = into.hasArray() ? into.array() : new byte[64 << 10];
        while (into.hasRemaining()) {
            int start = into.hasArray() ? into.arrayOffset() + into.position() : 0;
            int want = into.hasArray()
                    ? into.remaining()
                    : Math.min(piece.length, into.remaining());
            int n = in.read(piece, start, want);
            if (n < 0) {
                throw new EOFException("the body ended " + into.remaining() + " bytes early");
            }
            if (into.hasArray()) {
                into.position(into.position() + n);
            } else {
                into.put(piece, 0, n);
            }
        }
        if (in.read() >= 0) {
            throw new PermanentException("the body is longer than the range asked for");
        }
    }

    byte[] readDocument(int limit) throws IOException {
        byte[] document = body().readNBytes(limit + 1);
        if (document.length > limit) {
            throw new IOException("the answer's document is larger than " + limit + " bytes");
        }
        return document;
    }

    /** Returns the exception for a refusal, from its document or from the status alone. */
    S3Exception refusal() throws IOException {
        return S3Documents.refusal(status(), readDocument(ERROR_DOCUMENT_LIMIT),
                findHeader(Answer.REQUEST_ID).or(() -> findHeader("x-amz-request-id")).orElse(""));
    }

    @Override
    public void close() throws IOException {
        body().close();
    }

    /** Closes the connection, if the rest of the body is not worth reading. */
    void abort() {
        response.responseBody().ifPresent(Abortable::abort);
    }
}

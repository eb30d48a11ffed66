package io.railhead.client;

import java.io.IOException;
import java.nio.ByteBuffer;
import java.util.concurrent.ConcurrentLinkedQueue;
import software.amazon.awssdk.http.SdkHttpMethod;

/** Parts in HTTP bodies: each is read whole into a buffer of the heap before anyone sees it. */
final class HttpParts implements PartTransport {
    private final S3Http http;
    private final int partBytes;
    private final ConcurrentLinkedQueue<ByteBuffer> idle = new ConcurrentLinkedQueue<>();

    HttpParts(S3Http http, int partBytes) {
        this.http = http;
        this.partBytes = partBytes;
    }

    @Override
    public Part fetch(PartRequest request, PartSink sink) throws IOException {
        ByteBuffer buffer = borrow();
        try {
            Part part = Attempts.idempotent(() -> read(request, buffer));
            sink.accept(part.offset(), buffer);
            return part;
        } finally {
            idle.add(buffer);
        }
    }

    private Part read(PartRequest request, ByteBuffer buffer) throws IOException {
        Answer answer = http.require(request.call());
        boolean complete = false;
        try {
            Part part = readBody(answer, request, buffer);
            complete = true;
            return part;
        } finally {
            if (!complete) {
                answer.abort();
            }
            answer.close();
        }
    }

    /** Fills the buffer with the answer's body and leaves it ready to be read. */
    static Part readBody(Answer answer, PartRequest request, ByteBuffer buffer)
            throws IOException {
        Part part = Part.of(answer, request);
        if (Part.contentLength(answer) != part.bytes()) {
            throw new PermanentException("the body's length is not its range's");
        }
        answer.readFully(buffer.clear().limit(part.bytes()));
        buffer.flip();
        return part;
    }

    private ByteBuffer borrow() {
        ByteBuffer buffer = idle.poll();
        return buffer != null ? buffer : ByteBuffer.allocate(partBytes);
    }

    @Override
    public String store(StoreRequest request) throws IOException {
        Call.Body body = new Call.Body(request.bytes(),
                () -> new FileRegion(request.file(), request.offset(), request.bytes()));
        Call call = request.call().body(body);
        // A part may be sent again under its number; an object's PUT is left to the user.
        if (request.upload() == null) {
            return put(call);
        }
        return Attempts.idempotent(() -> put(call));
    }

    private String put(Call call) throws IOException {
        assert call.method() == SdkHttpMethod.PUT;
        try (Answer answer = http.require(call)) {
            return answer.requireHeader("ETag");
        }
    }

    @Override
    public long storeLimit() {
        return ObjectWriter.SINGLE_PUT_BYTES;
    }

    @Override
    public void close() {
        idle.clear();
    }
}

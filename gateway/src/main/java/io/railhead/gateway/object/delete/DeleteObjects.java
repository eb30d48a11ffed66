package io.railhead.gateway.object.delete;

import io.railhead.backend.Payload;
import io.railhead.cache.ObjectCache;
import io.railhead.cache.ObjectId;
import io.railhead.cache.WriteOutcome;
import io.railhead.cache.Writes;
import io.railhead.gateway.authorization.AccessControl;
import io.railhead.gateway.http.HttpExchange;
import io.railhead.gateway.http.Operation;
import io.railhead.gateway.object.write.ObjectWrite;
import io.railhead.gateway.relay.Relay;
import io.railhead.gateway.request.S3Request;
import io.railhead.gateway.s3.S3Error;
import io.railhead.gateway.s3.S3Refusal;
import io.railhead.gateway.s3.body.BodyReader;
import io.vertx.core.buffer.Buffer;
import io.vertx.core.internal.buffer.BufferInternal;
import java.nio.ByteBuffer;
import java.util.List;
import java.util.Map;
import java.util.concurrent.CompletableFuture;
import java.util.stream.Collectors;

/**
 * DeleteObjects, the one control request whose body must be parsed, because the body names the
 * objects. The body is read whole, within S3's own bound. Keys that the policy forbids are refused
 * one by one; the store is asked for the rest.
 */
public final class DeleteObjects implements Operation {
    /** Room for a thousand escaped keys of 1,024 bytes, with their version ids. */
    private static final int MAX_BODY_BYTES = 4 << 20;

    private final Relay relay;
    private final ObjectCache cache;
    private final AccessControl access;

    public DeleteObjects(Relay relay, ObjectCache cache, AccessControl access) {
        this.access = access;
        this.relay = relay;
        this.cache = cache;
    }

    @Override
    public void handle(HttpExchange httpExchange, S3Request request) {
        BodyReader reader = BodyReader.open(request.authentication(), request.headers());
        if (reader.decodedLength() < 0) {
            throw new S3Refusal(S3Error.MISSING_CONTENT_LENGTH);
        }
        if (reader.decodedLength() > MAX_BODY_BYTES) {
            throw new S3Refusal(S3Error.MAX_MESSAGE_LENGTH_EXCEEDED, "Your request was too big.");
        }
        Buffer body = Buffer.buffer();
        Buffer raw = request.isPassedThrough() ? Buffer.buffer() : body;
        httpExchange.onBody(piece -> {
            if (request.isPassedThrough() && !httpExchange.isAnswered()) {
                raw.appendBuffer(piece);
                requireBound(httpExchange, raw);
            }
            accept(httpExchange, reader, piece, body);
        }, () -> complete(httpExchange, request, reader, body, raw),
                () -> httpExchange.fail(new S3Refusal(S3Error.INCOMPLETE_BODY,
                        "You did not provide the number of bytes specified by the Content-Length HTTP header.")));
        if ("100-continue".equalsIgnoreCase(httpExchange.request().getHeader("expect"))) {
            httpExchange.request().response().writeContinue();
        }
        httpExchange.request().resume();
    }

    /** Bounds the framed body too: a chunked framing can be much longer than its bytes. */
    private static void requireBound(HttpExchange httpExchange, Buffer raw) {
        if (raw.length() > 2 * MAX_BODY_BYTES) {
            httpExchange.fail(new S3Refusal(S3Error.MAX_MESSAGE_LENGTH_EXCEEDED));
        }
    }

    private static void accept(HttpExchange httpExchange, BodyReader reader, Buffer piece,
            Buffer body) {
        if (httpExchange.isAnswered()) {
            // The request was refused, so the rest of its body is discarded.
            return;
        }
        reader.accept(((BufferInternal) piece).getByteBuf().nioBuffer(),
                decoded -> append(body, decoded));
    }

    private static void append(Buffer body, ByteBuffer decoded) {
        byte[] bytes = new byte[decoded.remaining()];
        decoded.get(bytes);
        body.appendBytes(bytes);
    }

    /**
     * @param raw the body as it came, which the client's own signature covers; else {@code body}
     */
    private void complete(HttpExchange httpExchange, S3Request request, BodyReader reader,
            Buffer body,
            Buffer raw) {
        if (httpExchange.isAnswered() || httpExchange.isOver()) {
            return;
        }
        reader.end(decoded -> append(body, decoded));
        byte[] document = body.getBytes();
        // Parsing and judging a thousand keys takes longer than an event loop may block.
        httpExchange.attemptElsewhere(() -> {
            DeletionList list = DeletionList.parse(document);
            Map<Boolean, List<DeletionList.Entry>> parts = list.entries()
                    .stream()
                    .collect(Collectors.partitioningBy(
                            entry -> access.allowsDeletion(request, entry.deletion())));
            httpExchange.executor()
                    .execute(() -> httpExchange
                            .goOn(() -> delete(httpExchange, request, list, parts, raw)));
        });
    }

    private void delete(HttpExchange httpExchange, S3Request request, DeletionList list,
            Map<Boolean, List<DeletionList.Entry>> parts, Buffer raw) {
        List<DeletionList.Entry> asked = parts.getOrDefault(true, List.of());
        List<DeletionList.Entry> denied = parts.getOrDefault(false, List.of());
        if (!denied.isEmpty() && request.isPassedThrough()) {
            throw new S3Refusal(S3Error.ACCESS_DENIED,
                    "The gateway's policy does not allow all of these deletions, and it cannot"
                            + " change what the client has signed.");
        }
        List<Writes.Write> writes = asked.stream()
                .map(entry -> ObjectWrite.begin(cache, request, id(request, entry)))
                .toList();
        Relay.OutcomeTaker onOutcome = outcome -> {
            writes.forEach(write -> write.end(ObjectWrite.outcomeOf(outcome)));
            return CompletableFuture.allOf(writes.stream()
                    .map(write -> write.heard().toCompletableFuture())
                    .toArray(CompletableFuture[]::new));
        };
        try {
            if (denied.isEmpty()) {
                relay.forward(httpExchange, request,
                        new Payload.Bytes(ByteBuffer.wrap(raw.getBytes())),
                        onOutcome);
            } else {
                new PartialDeletion(httpExchange, request, list, asked, denied).start(onOutcome);
            }
        } catch (RuntimeException | Error e) {
            writes.forEach(write -> write.end(WriteOutcome.REFUSED));
            throw e;
        }
    }

    private static ObjectId id(S3Request request, DeletionList.Entry entry) {
        return new ObjectId(request.route().backend().name(), request.route().namespace(),
                String.valueOf(request.address().bucket()), entry.key(), entry.versionId());
    }
}

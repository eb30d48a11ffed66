package io.railhead.gateway.operation;

import io.railhead.backend.Payload;
import io.railhead.cache.ObjectCache;
import io.railhead.cache.ObjectId;
import io.railhead.gateway.auth.BodyReader;
import io.railhead.gateway.authorization.AccessControl;
import io.railhead.gateway.http.Exchange;
import io.railhead.gateway.request.S3Request;
import io.railhead.gateway.s3.S3Error;
import io.railhead.gateway.s3.S3Exception;
import io.vertx.core.buffer.Buffer;
import io.vertx.core.internal.buffer.BufferInternal;
import java.io.ByteArrayInputStream;
import java.nio.ByteBuffer;
import java.util.ArrayList;
import java.util.List;
import javax.xml.stream.XMLInputFactory;
import javax.xml.stream.XMLStreamConstants;
import javax.xml.stream.XMLStreamException;
import javax.xml.stream.XMLStreamReader;

/**
 * DeleteObjects: the one control request whose body must be understood, because it names the
 * objects that it changes. Its body is read whole, within S3's own bound.
 */
final class DeleteObjects implements Operation {
    /** A thousand keys of 1,024 bytes, escaped, with their version ids. */
    private static final int MAX_BODY_BYTES = 4 << 20;
    private static final XMLInputFactory XML = factory();

    private final Relay relay;
    private final ObjectCache cache;
    private final AccessControl access;

    DeleteObjects(Relay relay, ObjectCache cache, AccessControl access) {
        this.access = access;
        this.relay = relay;
        this.cache = cache;
    }

    private static XMLInputFactory factory() {
        XMLInputFactory factory = XMLInputFactory.newFactory();
        factory.setProperty(XMLInputFactory.SUPPORT_DTD, false);
        factory.setProperty(XMLInputFactory.IS_SUPPORTING_EXTERNAL_ENTITIES, false);
        return factory;
    }

    @Override
    public void handle(Exchange exchange, S3Request request) {
        BodyReader reader = BodyReader.open(request.authentication(), request.headers());
        if (reader.decodedLength() < 0) {
            throw new S3Exception(S3Error.MISSING_CONTENT_LENGTH);
        }
        if (reader.decodedLength() > MAX_BODY_BYTES) {
            throw new S3Exception(S3Error.MAX_MESSAGE_LENGTH_EXCEEDED, "Your request was too big.");
        }
        Buffer body = Buffer.buffer();
        Buffer raw = request.isPassedThrough() ? Buffer.buffer() : body;
        exchange.request()
                .exceptionHandler(cause -> exchange.fail(new S3Exception(S3Error.INCOMPLETE_BODY,
                        "You did not provide the number of bytes specified by the Content-Length HTTP header.")));
        exchange.request().handler(piece -> {
            if (request.isPassedThrough()) {
                raw.appendBuffer(piece);
            }
            accept(exchange, reader, piece, body);
        });
        exchange.request().endHandler(ignored -> complete(exchange, request, reader, body, raw));
        if ("100-continue".equalsIgnoreCase(exchange.request().getHeader("expect"))) {
            exchange.request().response().writeContinue();
        }
        exchange.request().resume();
    }

    private static void accept(Exchange exchange, BodyReader reader, Buffer piece, Buffer body) {
        try {
            reader.accept(((BufferInternal) piece).getByteBuf().nioBuffer(),
                    decoded -> append(body, decoded));
        } catch (S3Exception e) {
            exchange.fail(e);
        }
    }

    private static void append(Buffer body, ByteBuffer decoded) {
        byte[] bytes = new byte[decoded.remaining()];
        decoded.get(bytes);
        body.appendBytes(bytes);
    }

    /** @param raw as it came where the client's own signature covers that; else {@code body} */
    private void complete(Exchange exchange, S3Request request, BodyReader reader, Buffer body,
            Buffer raw) {
        if (exchange.isAnswered() || exchange.isOver()) {
            return;
        }
        try {
            reader.end(decoded -> append(body, decoded));
            List<AccessControl.Deletion> deletions = deletions(body.getBytes());
            access.requireDeletions(request, deletions);
            List<ObjectCache.Write> writes = deletions.stream()
                    .map(deletion -> cache.beginWrite(id(request, deletion)))
                    .toList();
            relay.forward(exchange, request, new Payload.Bytes(ByteBuffer.wrap(raw.getBytes())),
                    outcome -> writes.forEach(write -> write.end(ObjectWrite.outcomeOf(outcome))));
        } catch (S3Exception e) {
            exchange.fail(e);
        }
    }

    private static ObjectId id(S3Request request, AccessControl.Deletion named) {
        return new ObjectId(request.route().backend().name(), request.route().namespace(),
                String.valueOf(request.address().bucket()), named.key(),
                named.versionId());
    }

    private static List<AccessControl.Deletion> deletions(byte[] document) {
        List<AccessControl.Deletion> deletions = new ArrayList<>();
        try {
            XMLStreamReader reader = XML.createXMLStreamReader(new ByteArrayInputStream(document));
            while (reader.hasNext()) {
                if (reader.next() == XMLStreamConstants.START_ELEMENT
                        && reader.getLocalName().equals("Object")) {
                    deletions.add(deletion(reader));
                }
            }
            return deletions;
        } catch (XMLStreamException e) {
            throw new S3Exception(S3Error.MALFORMED_XML,
                    "The XML you provided was not well-formed or did not validate against our published schema");
        }
    }

    /** Which of two keys a store would delete nobody knows, so only one is let through. */
    private static AccessControl.Deletion deletion(XMLStreamReader reader)
            throws XMLStreamException {
        String key = null;
        String versionId = null;
        while (reader.next() != XMLStreamConstants.END_ELEMENT) {
            if (reader.isStartElement()) {
                String name = reader.getLocalName();
                String text = reader.getElementText();
                if (name.equals("Key")) {
                    if (key != null) {
                        throw new XMLStreamException("two keys");
                    }
                    key = text;
                }
                versionId = name.equals("VersionId") ? text : versionId;
            }
        }
        if (key == null) {
            throw new XMLStreamException("no key");
        }
        return new AccessControl.Deletion(key, versionId);
    }
}
